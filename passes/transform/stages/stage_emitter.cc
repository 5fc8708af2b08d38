//===- stage_emitter.cc ----------------------------------------------------------===//

#include "passes/transform/stages/stage_emitter.h"

#include "dialect/sharding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/transform/micro/combine.h"

using namespace mlir;
using namespace mlir::coll;
using ::coll::plan::ScheduleEntry;
using ::coll::plan::StageWork;

std::optional<TimeSplit> mlir::coll::getTimeSplit(func::FuncOp step, unsigned argument) {
  std::optional<unsigned> dim = getTimeDim(step, argument);
  if (!dim)
    return std::nullopt;
  return TimeSplit{*dim,
                   cast<RankedTensorType>(step.getArgumentTypes()[argument]).getDimSize(*dim)};
}

StageEmitter::StageEmitter(const StagedStep &staged, int rank, func::FuncOp function)
    : staged_(staged), parts_(staged.parts), rank_(rank), step_(staged.parts.getStep()),
      function_(function), builder_(OpBuilder::atBlockEnd(&function.getBody().front())),
      batches_(staged.schedule.numMicroBatches), kept_(step_.getNumArguments()) {
  // The tags of values that are sent once per step follow those of the micro-batches.
  nextTag_ = int64_t(staged.transfers.size()) * staged.schedule.numMicroBatches;
  sortOps();
}

void StageEmitter::sortOps() {
  for (Operation &op : step_.getBody().front().without_terminator()) {
    if (parts_.isFree(&op))
      continue;
    Placement placement = staged_.placement.get(&op);
    if (!isMine(placement.chunk))
      continue;
    if (parts_.isVarying(&op))
      phases_[{placement.chunk, placement.phase}].ops.push_back(&op);
    else if (AllReduceOp sum = getAccumulation(&op))
      phases_[{placement.chunk, staged_.placement.getSumPhase(sum)}].sums.push_back(sum);
  }
  for (const StageTransfer &transfer : staged_.transfers) {
    if (transfer.toRank == rank_)
      phases_[{transfer.receiver.chunk, transfer.receiver.phase}].received.push_back(&transfer);
    if (transfer.fromRank == rank_)
      phases_[{transfer.producer.chunk, transfer.producer.phase}].sent.push_back(&transfer);
  }
}

SmallVector<StageEmitter::Result> StageEmitter::emit() {
  emitOnce();
  emitEntries();
  emitUpdates();
  return collectResults();
}

Value StageEmitter::getBatchArgument(BlockArgument argument, int batch) {
  unsigned index = argument.getArgNumber();
  kept_[index] = true;
  Value whole = function_.getArgument(index);
  std::optional<TimeSplit> split = getTimeSplit(step_, index);
  if (!split || whole.getType() == argument.getType())
    return whole;
  auto type = cast<RankedTensorType>(argument.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder_.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder_.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes;
  for (int64_t extent : type.getShape())
    sizes.push_back(builder_.getIndexAttr(extent));
  offsets[split->dim] = builder_.getIndexAttr(batch * split->rows);
  return tensor::ExtractSliceOp::create(builder_, argument.getLoc(), type, whole, offsets, sizes,
                                        strides);
}

/// The value in this program. Free values are computed where they are first needed.
Value StageEmitter::get(Value value, int batch) {
  DenseMap<Value, Value> &known = parts_.isVarying(value) ? batches_[batch] : once_;
  if (Value found = known.lookup(value))
    return found;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return known[value] = getBatchArgument(argument, batch);
  assert(parts_.isFree(value) && "neither made here nor received");
  clone(value.getDefiningOp(), batch);
  return known.lookup(value);
}

static bool readsTime(AxisIndexOp index) {
  return llvm::is_contained(index.getAxes().getAsValueRange<StringAttr>(), StringRef(kTimeAxis));
}

/// The coordinate in time is the number of the micro-batch.
Value StageEmitter::emitAxisIndex(OpBuilder &builder, AxisIndexOp index, int batch) {
  Location loc = index.getLoc();
  Value result = arith::ConstantIndexOp::create(builder, loc, 0);
  for (Attribute axis : index.getAxes()) {
    StringRef name = cast<StringAttr>(axis).getValue();
    MeshOp mesh = staged_.mesh;
    Value size = arith::ConstantIndexOp::create(builder, loc, *mesh.getAxisSize(name));
    Value coordinate;
    if (name == kTimeAxis)
      coordinate = arith::ConstantIndexOp::create(builder, loc, batch);
    else
      coordinate =
          AxisIndexOp::create(builder, loc, index.getMeshAttr(), builder.getArrayAttr({axis}));
    Value major = arith::MulIOp::create(builder, loc, result, size);
    result = arith::AddIOp::create(builder, loc, major, coordinate);
  }
  return result;
}

const StageEmitter::OpFacts &StageEmitter::getFacts(Operation *op) {
  auto [facts, isNew] = facts_.try_emplace(op);
  if (isNew) {
    facts->second.reads = getReadValues(op);
    OpFacts &known = facts->second;
    op->walk([&](AxisIndexOp index) { known.holdsTime |= readsTime(index); });
  }
  return facts->second;
}

void StageEmitter::clone(Operation *op, int batch) {
  DenseMap<Value, Value> &known = parts_.isVarying(op) ? batches_[batch] : once_;
  if (auto index = dyn_cast<AxisIndexOp>(op); index && readsTime(index)) {
    known[index.getResult()] = emitAxisIndex(builder_, index, batch);
    return;
  }
  IRMapping mapping;
  const SmallVector<Value> reads = getFacts(op).reads; // what is free may be cloned for it
  for (Value value : reads)
    mapping.map(value, get(value, batch));
  Operation *copy = builder_.clone(*op, mapping);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
    known[from] = to;
  if (!getFacts(op).holdsTime)
    return;
  copy->walk([&](AxisIndexOp index) {
    if (!readsTime(index))
      return;
    OpBuilder builder(index);
    index.getResult().replaceAllUsesWith(emitAxisIndex(builder, index, batch));
    index.erase();
  });
}

//===----------------------------------------------------------------------===//
// Sending and receiving
//===----------------------------------------------------------------------===//

/// The tensor that is sent for a value; a scalar is sent as a tensor.
static Value toTensor(OpBuilder &builder, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return value;
  return tensor::FromElementsOp::create(
      builder, value.getLoc(), RankedTensorType::get({}, value.getType()), ValueRange{value});
}

StartOp StageEmitter::startSend(Value source, int toRank, int64_t tag, StringRef why) {
  Value value = toTensor(builder_, source);
  Location loc = value.getLoc();
  Value peer = arith::ConstantIndexOp::create(builder_, loc, toRank);
  auto start = StartOp::create(builder_, loc, FutureType::get(builder_.getContext(), {}),
                               ValueRange{value, peer});
  OpBuilder::InsertionGuard guard(builder_);
  Block *body =
      builder_.createBlock(&start.getBody(), {}, {value.getType(), peer.getType()}, {loc, loc});
  auto send = SendOp::create(builder_, loc, body->getArgument(0), body->getArgument(1), tag,
                             staged_.stages);
  send->setAttr(kWhyAttr, builder_.getStringAttr(why));
  YieldOp::create(builder_, loc);
  return start;
}

Value StageEmitter::emitReceive(Value like, int fromRank, int64_t tag, StringRef why) {
  Location loc = like.getLoc();
  Value peer = arith::ConstantIndexOp::create(builder_, loc, fromRank);
  auto type = dyn_cast<RankedTensorType>(like.getType());
  auto receive =
      RecvOp::create(builder_, loc, type ? type : RankedTensorType::get({}, like.getType()), peer,
                     tag, staged_.stages);
  receive->setAttr(kWhyAttr, builder_.getStringAttr(why));
  if (type)
    return receive.getResult();
  return tensor::ExtractOp::create(builder_, loc, receive.getResult(), ValueRange{});
}

/// Waits for the oldest sends until `leave` entries' sends are in flight.
void StageEmitter::waitFor(size_t leave, std::deque<SmallVector<StartOp>> &sent) {
  for (; sent.size() > leave; sent.pop_front())
    for (StartOp start : sent.front())
      AwaitOp::create(builder_, start.getLoc(), start.getFuture());
}

static std::string describe(const StageTransfer &transfer) {
  bool isForward = transfer.producer.phase == Phase::Forward;
  return (isForward ? "activations of stage " : "gradients of stage ") +
         std::to_string(transfer.producer.chunk) + " for stage " +
         std::to_string(transfer.receiver.chunk);
}

void StageEmitter::receive(int chunk, Phase phase, int batch) {
  for (const StageTransfer *transfer : phases_[{chunk, phase}].received)
    batches_[batch][transfer->value] = emitReceive(transfer->value, transfer->fromRank,
                                                   transfer->tag + batch, describe(*transfer));
}

void StageEmitter::send(int chunk, Phase phase, int batch) {
  using Key = std::tuple<int, int, Phase>;
  std::map<Key, SmallVector<const StageTransfer *>> bounded;
  for (const StageTransfer *transfer : phases_[{chunk, phase}].sent) {
    if (transfer->isBounded())
      bounded[{transfer->toRank, chunk, phase}].push_back(transfer);
    else
      sentAside_.push_back({startSend(batches_[batch].lookup(transfer->value), transfer->toRank,
                                      transfer->tag + batch, describe(*transfer))});
  }
  for (auto &[key, transfers] : bounded) {
    std::deque<SmallVector<StartOp>> &sent = sent_[key];
    waitFor(staged_.maxInFlight - 1, sent);
    SmallVector<StartOp> &starts = sent.emplace_back();
    for (const StageTransfer *transfer : transfers)
      starts.push_back(startSend(batches_[batch].lookup(transfer->value), transfer->toRank,
                                 transfer->tag + batch, describe(*transfer)));
  }
}

void StageEmitter::move(Value value, int toRank) {
  int fromRank = staged_.schedule.rankOfChunk[staged_.placement.getChunk(value)];
  if (parts_.isFree(value) || fromRank == toRank || !moved_.insert({value, toRank}).second)
    return;
  int64_t tag = nextTag_++;
  std::string why = "a value of stage " + std::to_string(fromRank) + " for stage " +
                    std::to_string(toRank) + ", once a step";
  if (fromRank == rank_) {
    Value peer = arith::ConstantIndexOp::create(builder_, value.getLoc(), toRank);
    Value sent = toTensor(builder_, get(value, 0));
    auto send = SendOp::create(builder_, value.getLoc(), sent, peer, tag, staged_.stages);
    send->setAttr(kWhyAttr, builder_.getStringAttr(why));
  } else if (toRank == rank_) {
    once_[value] = emitReceive(value, fromRank, tag, why);
  }
}

void StageEmitter::moveOperands(Operation *op) {
  auto moves = staged_.moves.find(op);
  if (moves == staged_.moves.end())
    return;
  int rank = staged_.schedule.rankOfChunk[staged_.placement.get(op).chunk];
  for (Value value : moves->second)
    move(value, rank);
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

void StageEmitter::emitOnce() {
  for (Operation &op : step_.getBody().front().without_terminator()) {
    if (parts_.isFree(&op))
      continue;
    Placement placement = staged_.placement.get(&op);
    if (placement.phase == Phase::Update)
      continue;
    moveOperands(&op);
    if (placement.phase == Phase::Once && isMine(placement.chunk))
      clone(&op, 0);
  }
}

void StageEmitter::emitPhase(int chunk, Phase phase, int batch) {
  receive(chunk, phase, batch);
  for (Operation *op : phases_[{chunk, phase}].ops)
    clone(op, batch);
  addTerms(chunk, phase, batch);
  send(chunk, phase, batch);
}

void StageEmitter::emitEntries() {
  for (const ScheduleEntry &entry : staged_.schedule.ranks[rank_]) {
    if (entry.work == StageWork::Forward)
      emitPhase(entry.chunk, Phase::Forward, entry.microBatch);
    if (entry.work == StageWork::Backward || entry.work == StageWork::InputGradient)
      emitPhase(entry.chunk, Phase::InputGradient, entry.microBatch);
    if (entry.work == StageWork::Backward || entry.work == StageWork::WeightGradient)
      emitPhase(entry.chunk, Phase::WeightGradient, entry.microBatch);
  }
  for (auto &[key, sent] : sent_)
    waitFor(0, sent);
  waitFor(0, sentAside_);
}

/// The type in which a sum's terms are added up.
static Type getSumElement(AllReduceOp sum) {
  return sum.getAccumulation().value_or(getElementTypeOrSelf(sum.getType()));
}

void StageEmitter::addTerms(int chunk, Phase phase, int batch) {
  for (AllReduceOp sum : phases_[{chunk, phase}].sums) {
    Location loc = sum.getLoc();
    Value term = createConversion(builder_, loc, get(sum.getInput(), batch), getSumElement(sum));
    Value &total = sums_[sum];
    total = total ? createCombination(builder_, loc, sum.getReduction(), total, term) : term;
  }
}

/// Adds up over the ranks as well, where the sum goes over axes other than time.
void StageEmitter::finishSum(AllReduceOp sum) {
  Value total = sums_.lookup(sum);
  GroupAttr group = sum.getGroupAttr();
  SmallVector<StringAttr> axes = llvm::to_vector(
      llvm::make_filter_range(group.getAxes(), [](StringAttr axis) { return axis != kTimeAxis; }));
  if (!axes.empty()) {
    auto others = GroupAttr::get(group.getContext(), group.getMesh(), axes, {});
    auto reduce = AllReduceOp::create(builder_, sum.getLoc(), total.getType(), sum.getReduction(),
                                      total, others, sum.getOrder(), TypeAttr());
    if (Attribute why = sum->getAttr(kWhyAttr))
      reduce->setAttr(kWhyAttr, why);
    total = reduce.getResult();
  }
  once_[sum.getResult()] =
      createConversion(builder_, sum.getLoc(), total, getElementTypeOrSelf(sum.getType()));
}

void StageEmitter::emitUpdates() {
  for (Operation &op : step_.getBody().front().without_terminator()) {
    if (parts_.isFree(&op) || parts_.isVarying(&op))
      continue;
    Placement placement = staged_.placement.get(&op);
    if (placement.phase != Phase::Update)
      continue;
    AllReduceOp sum = getAccumulation(&op);
    if (!sum)
      moveOperands(&op);
    if (!isMine(placement.chunk))
      continue;
    if (sum)
      finishSum(sum);
    else
      clone(&op, 0);
  }
}

SmallVector<StageEmitter::Result> StageEmitter::collectResults() {
  SmallVector<Result> results;
  ArrayRef<unsigned> states = parts_.getStateArguments();
  auto rankOf = [&](Value value) {
    return parts_.isFree(value) ? 0
                                : staged_.schedule.rankOfChunk[staged_.placement.getChunk(value)];
  };
  for (unsigned k = 0; k < step_.getNumResults(); ++k) {
    Value returned = parts_.getReturned(k);
    Value owner = k < states.size() ? Value(step_.getArgument(states[k])) : returned;
    if (parts_.isReplicatedState(owner) && k < states.size())
      continue; // below
    int rank = rankOf(owner);
    move(returned, rank);
    if (rank != rank_)
      continue;
    if (k < states.size())
      kept_[states[k]] = true;
    results.push_back({k, get(returned, 0)});
  }
  // Replicated state is kept where it is read, or on the first stage; its update may read more.
  for (bool grows = true; grows;) {
    grows = false;
    for (auto [k, index] : llvm::enumerate(states)) {
      bool isReturned = llvm::any_of(results, [k = k](Result r) { return r.number == k; });
      if (!parts_.isReplicatedState(step_.getArgument(index)) || isReturned ||
          !(kept_[index] || rank_ == 0))
        continue;
      kept_[index] = true;
      results.push_back({unsigned(k), get(parts_.getReturned(k), 0)});
      grows = true;
    }
  }
  llvm::sort(results, [](Result a, Result b) { return a.number < b.number; });
  return results;
}
