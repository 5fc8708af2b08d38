//===- insert_stage_meshes.cc - rows change their mesh between stages (L1) --------===//
//
// The step's mesh has the axes that all stages' meshes are joined from. With stage 0 on dp=4 and
// stage 1 on dp=2,tp=2, the batch of stage 0 is split over dp and tp, that of stage 1 over dp:
//
//   %h = f0(%x)               =>    %s = coll.reshard %x to [dp+mb+tp, -]    pinned
//   %l = f1(%h, %y)                 %h = f0(%s)
//                                   %p = coll.reshard %h to [dp+mb, -]
//                                   %l = f1(%p, %y)
//
// Gradients go the other way. A micro-batch has the same rows on all stages: the axes that only
// some stages split it over are minor to that of time, and arguments have the rows of all others.
// The cut is marked, so that coll-split-stages makes the same one.
//
//===----------------------------------------------------------------------------===//

#include "dialect/notes.h"
#include "dialect/pin.h"
#include "dialect/sharding.h"
#include "passes/analysis/sharding_rule.h"
#include "passes/passes.h"
#include "passes/transform/find_step.h"
#include "passes/transform/stages/read_schedule.h"
#include "passes/transform/stages/stage_mesh.h"
#include "passes/transform/stages/stage_placement.h"
#include "passes/transform/stages/stage_scopes.h"

namespace mlir::coll {

#define GEN_PASS_DEF_INSERTSTAGEMESHESPASS
#include "passes/passes.h.inc"

namespace {

using Axes = SmallVector<StringAttr>;

/// The dimension of each value that holds the rows of the batch, by the operations' rules.
class Rows {
public:
  explicit Rows(func::FuncOp step) {
    for (BlockArgument argument : step.getArguments())
      if (std::optional<unsigned> dim = getTimeDim(step, argument.getArgNumber()))
        dims_[argument] = *dim;
    for (Operation &op : step.getBody().front().without_terminator())
      follow(&op);
  }

  std::optional<unsigned> find(Value value) const {
    auto found = dims_.find(value);
    return found == dims_.end() ? std::nullopt : std::optional<unsigned>(found->second);
  }

private:
  void follow(Operation *op) {
    if (llvm::none_of(op->getOperands(), [&](Value v) { return dims_.contains(v); }))
      return;
    ShardingRule rule = getShardingRule(op);
    for (auto [operand, dims] : llvm::zip(op->getOperands(), rule.operands)) {
      std::optional<unsigned> rows = find(operand);
      if (!rows || *rows >= dims.size() || dims[*rows].factor < 0)
        continue;
      for (auto [result, resultDims] : llvm::zip(op->getResults(), rule.results))
        for (auto [dim, walked] : llvm::enumerate(resultDims))
          if (walked.factor == dims[*rows].factor)
            dims_.try_emplace(result, dim);
    }
  }

  DenseMap<Value, unsigned> dims_;
};

/// Puts the reshards into a step whose stages are known.
class MeshChanges {
public:
  MeshChanges(func::FuncOp step, MeshOp mesh, const StageMeshes &meshes, const StepParts &parts,
              const StagePlacement &placement, const ::coll::plan::Schedule &order)
      : step_(step), mesh_(mesh), meshes_(meshes), parts_(parts), placement_(placement),
        order_(order), rows_(step) {}

  LogicalResult run();

private:
  int stageOf(Operation *op) const { return order_.rankOfChunk[placement_.get(op).chunk]; }
  bool isPlaced(Operation *op) const { return parts_.isVarying(op) && !parts_.isFree(op); }
  void splitArgument(BlockArgument argument);
  Axes getBatchAxes(int stage) const;
  void findCommonAxes();
  LogicalResult checkRows();
  DimShardingAttr getRows(ArrayRef<StringAttr> axes, int64_t extent);
  void changeUses(Value value, ArrayRef<StringAttr> home);
  Value createPin(Value value, int stage, DimShardingAttr rows);

  func::FuncOp step_;
  MeshOp mesh_;
  const StageMeshes &meshes_;
  const StepParts &parts_;
  const StagePlacement &placement_;
  const ::coll::plan::Schedule &order_;
  Rows rows_;
  DimShardingAttr batchRows_; // of a batch argument, before
  Axes common_;               // that split the batch on all stages
  int64_t batch_ = 0;
};

/// The axes that split the batch of a stage, without time.
Axes MeshChanges::getBatchAxes(int stage) const {
  Axes axes;
  for (StringAttr axis : batchRows_.getAxes())
    if (axis != kTimeAxis)
      llvm::append_range(axes, meshes_.expand(stage, axis));
  return axes;
}

void MeshChanges::findCommonAxes() {
  common_ = getBatchAxes(0);
  for (int stage = 1; stage < order_.numRanks(); ++stage) {
    Axes own = getBatchAxes(stage);
    auto end = std::mismatch(common_.begin(), common_.end(), own.begin(), own.end()).first;
    common_.erase(end, common_.end());
  }
}

/// How a dimension with `extent` elements that holds the rows of the batch is split over `axes`.
DimShardingAttr MeshChanges::getRows(ArrayRef<StringAttr> axes, int64_t extent) {
  const auto time = StringAttr::get(step_.getContext(), kTimeAxis);
  int64_t replicas = 1;
  for (StringAttr axis : axes)
    replicas *= *mesh_.getAxisSize(axis);
  Axes all(axes);
  // One micro-batch is the first block of two, the second of which is empty.
  const bool isWhole = batchRows_.getAxes().front() == kTimeAxis;
  all.insert(isWhole ? all.begin() : all.begin() + common_.size(), time);
  int64_t unit = isWhole ? llvm::divideCeil(batch_, replicas) : 1;
  return DimShardingAttr::get(step_.getContext(), all, unit * (extent / batch_));
}

/// The parts of a stage's replicas have to fill those of all stages.
LogicalResult MeshChanges::checkRows() {
  const DimShardingAttr whole = getRows(common_, batch_);
  auto rowsOf = [&](DimShardingAttr split) {
    return llvm::alignTo(llvm::divideCeil(batch_, getNumShards(mesh_, split)), split.getUnit());
  };
  for (int stage = 0; stage < order_.numRanks(); ++stage) {
    const DimShardingAttr own = getRows(getBatchAxes(stage), batch_);
    const int64_t parts = getNumShards(mesh_, own) / getNumShards(mesh_, whole);
    if (int64_t(rowsOf(own)) * parts != int64_t(rowsOf(whole)))
      return step_.emitError("has micro-batches of ")
             << rowsOf(whole) << " rows, which the mesh of stage " << stage << " splits into "
             << parts << " unequal parts; choose a mesh or a number of micro-batches with which "
             << "they are equal";
  }
  return success();
}

/// An argument has the rows that all stages agree on.
void MeshChanges::splitArgument(BlockArgument argument) {
  unsigned index = argument.getArgNumber(), dim = *getTimeDim(step_, index);
  auto sharding = step_.getArgAttrOfType<ShardingAttr>(index, kShardingAttr);
  SmallVector<DimShardingAttr> dims(sharding.getDims());
  dims[dim] = getRows(common_, batch_);
  step_.setArgAttr(
      index, kShardingAttr,
      ShardingAttr::get(step_.getContext(), sharding.getMesh(), dims, {}, ReductionKind::Sum));
  changeUses(argument, common_);
}

/// The value with its rows as the stage splits them; its other dimensions stay as they are.
Value MeshChanges::createPin(Value value, int stage, DimShardingAttr rows) {
  OpBuilder builder(step_.getContext());
  builder.setInsertionPointAfterValue(value);
  auto type = cast<RankedTensorType>(value.getType());
  const unsigned dim = *rows_.find(value);
  SmallVector<DimShardingAttr> dims(type.getRank(),
                                    DimShardingAttr::get(step_.getContext(), {}, 1));
  dims[dim] = rows;
  SmallVector<int64_t> open;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (i != dim)
      open.push_back(i);
  auto sharding =
      ShardingAttr::get(step_.getContext(), FlatSymbolRefAttr::get(mesh_.getSymNameAttr()), dims,
                        {}, ReductionKind::Sum);
  auto pin = ReshardOp::create(builder, value.getLoc(), value, sharding, sharding);
  pin->setAttr(kPinAttr,
               builder.getDictionaryAttr(
                   {builder.getNamedAttr(kPinOpenDims, builder.getDenseI64ArrayAttr(open)),
                    builder.getNamedAttr(kPinReplicated, builder.getArrayAttr({}))}));
  pin->setAttr(kWhyAttr, builder.getStringAttr("stage " + Twine(stage) + " has a mesh of its own"));
  return pin.getResult();
}

/// Operations on a stage that splits rows in another way read them from a reshard.
void MeshChanges::changeUses(Value value, ArrayRef<StringAttr> home) {
  std::optional<unsigned> dim = rows_.find(value);
  if (!dim)
    return;
  int64_t extent = cast<RankedTensorType>(value.getType()).getDimSize(*dim);
  if (extent % batch_ != 0)
    return;
  const DimShardingAttr own = getRows(home, extent);
  llvm::MapVector<Attribute, std::pair<int, SmallVector<OpOperand *>>> others;
  for (OpOperand &use : value.getUses()) {
    Operation *user = step_.getBody().front().findAncestorOpInBlock(*use.getOwner());
    if (!isPlaced(user))
      continue;
    const int stage = stageOf(user);
    DimShardingAttr wanted = getRows(getBatchAxes(stage), extent);
    if (wanted == own)
      continue;
    auto &[first, uses] = others[wanted];
    first = uses.empty() ? stage : std::min(first, stage);
    uses.push_back(&use);
  }
  for (auto &[wanted, users] : others) {
    Value pinned = createPin(value, users.first, cast<DimShardingAttr>(wanted));
    int chunk = order_.numChunks;
    bool isForward = true;
    for (OpOperand *use : users.second) {
      Operation *user = step_.getBody().front().findAncestorOpInBlock(*use->getOwner());
      isForward &= parts_.isForward(user);
      chunk = std::min(chunk, placement_.get(user).chunk);
      use->set(pinned);
    }
    if (isForward || isa<BlockArgument>(value) || parts_.isForward(value.getDefiningOp()))
      markStage(pinned.getDefiningOp(), chunk);
  }
}

LogicalResult MeshChanges::run() {
  SmallVector<BlockArgument> arguments;
  for (BlockArgument argument : step_.getArguments()) {
    unsigned index = argument.getArgNumber();
    std::optional<unsigned> dim = getTimeDim(step_, index);
    if (!dim)
      continue;
    arguments.push_back(argument);
    batch_ = cast<RankedTensorType>(argument.getType()).getDimSize(*dim);
    batchRows_ = step_.getArgAttrOfType<ShardingAttr>(index, kShardingAttr).getDims()[*dim];
  }
  findCommonAxes();
  if (failed(checkRows()))
    return failure();
  SmallVector<Operation *> ops;
  for (Operation &op : step_.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : ops)
    if (parts_.isForward(op))
      markStage(op, placement_.get(op).chunk);
  for (BlockArgument argument : arguments)
    splitArgument(argument);
  for (Operation *op : ops)
    for (Value result : op->getResults()) {
      if (isPlaced(op))
        changeUses(result, getBatchAxes(stageOf(op)));
      else if (parts_.isFree(op)) // made of arguments
        changeUses(result, common_);
    }
  return success();
}

class InsertStageMeshesPass : public impl::InsertStageMeshesPassBase<InsertStageMeshesPass> {
public:
  using InsertStageMeshesPassBase::InsertStageMeshesPassBase;

  void runOnOperation() override {
    if (!meshes.empty() && failed(run()))
      signalPassFailure();
  }

private:
  LogicalResult run() {
    func::FuncOp step = findStepOfOneBlock(getOperation());
    if (!step)
      return failure();
    MeshOp mesh;
    for (auto candidate : getOperation().getOps<MeshOp>())
      if (candidate.getAxisSize(kTimeAxis))
        mesh = candidate;
    if (!mesh)
      return step.emitError("has no batch split over micro-batches (coll-insert-micro-batches)");
    FailureOr<::coll::plan::Schedule> order = readSchedule(step, schedule, stages, microBatches);
    StepParts parts(step, StepForm::Whole);
    if (failed(order) || failed(parts.analyze()))
      return failure();
    SmallVector<std::string> texts(meshes.begin(), meshes.end());
    FailureOr<StageMeshes> parsed = StageMeshes::parse(step, mesh, order->numRanks(), texts);
    SmallVector<std::string> patterns(stagePatterns.begin(), stagePatterns.end());
    FailureOr<ChunkOf> cut = cutForward(parts, patterns, *order, makeStageModel());
    if (failed(parsed) || failed(cut))
      return failure();
    StagePlacement placement(parts, *cut, order->numChunks);
    return MeshChanges(step, mesh, *parsed, parts, placement, *order).run();
  }
};

} // namespace
} // namespace mlir::coll
