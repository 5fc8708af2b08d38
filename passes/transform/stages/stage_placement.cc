//===- stage_placement.cc --------------------------------------------------------===//

#include "passes/transform/stages/stage_placement.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::coll;

StagePlacement::StagePlacement(const StepParts &parts, const ChunkOf &forward, int numChunks)
    : parts_(parts), numChunks_(numChunks), block_(parts.getStep().getBody().front()) {
  placeForward(forward);
  findWanted();
  findTargets();
  placeBackward();
  splitBackward();
  placeUpdate();
  placeRest();
}

/// Neither free nor different between micro-batches.
bool StagePlacement::isUniform(Operation *op) const {
  return !parts_.isFree(op) && !parts_.isVarying(op) && op != block_.getTerminator();
}

/// The users of a value, as operations of the step's block.
static SmallVector<Operation *> getUsers(Value value, Block &block) {
  SmallVector<Operation *> users;
  for (Operation *user : value.getUsers())
    users.push_back(block.findAncestorOpInBlock(*user));
  return users;
}

std::optional<int> StagePlacement::findChunk(Value value) const {
  if (Operation *op = value.getDefiningOp()) {
    auto found = placements_.find(op);
    return found == placements_.end() ? std::nullopt : std::optional<int>(found->second.chunk);
  }
  auto found = homes_.find(value);
  return found == homes_.end() ? std::nullopt : std::optional<int>(found->second);
}

int StagePlacement::getChunk(Value value) const { return findChunk(value).value_or(0); }

/// Parameters, and values computed from them alone, are kept where the forward pass reads them
/// first.
void StagePlacement::placeForward(const ChunkOf &forward) {
  for (auto [op, chunk] : forward)
    placements_[op] = {Phase::Forward, chunk};
  auto firstUse = [&](Value value) {
    std::optional<int> first;
    for (Operation *user : getUsers(value, block_)) {
      auto found = placements_.find(user);
      if (found != placements_.end())
        first = std::min(first.value_or(numChunks_), found->second.chunk);
    }
    return first;
  };
  for (Operation &op : llvm::reverse(block_)) {
    if (!isUniform(&op) || getAccumulation(&op))
      continue;
    for (Value result : op.getResults())
      if (std::optional<int> chunk = firstUse(result))
        placements_[&op] = {Phase::Once, *chunk};
  }
  for (unsigned index : parts_.getStateArguments())
    if (std::optional<int> chunk = firstUse(block_.getArgument(index)))
      homes_[block_.getArgument(index)] = *chunk;
}

/// The chunks that have the value anyway: those that make or keep it, and those whose forward pass
/// reads it. All chunks if nothing is known.
StagePlacement::Chunks StagePlacement::getChunksWith(Value value) const {
  Chunks chunks(numChunks_);
  if (std::optional<int> chunk = findChunk(value))
    chunks.set(*chunk);
  for (Operation *user : getUsers(value, block_))
    if (parts_.isForward(user))
      chunks.set(placements_.lookup(user).chunk);
  Operation *op = value.getDefiningOp();
  if (chunks.none() && op && isUniform(op))
    for (Value read : getReadValues(op))
      if (!parts_.isFree(read))
        chunks |= getChunksWith(read);
  if (chunks.none())
    chunks.set();
  return chunks;
}

/// The chunk for which alone an operation uses a value. A whole step has no sums that tell where
/// gradients end; its new state does.
std::optional<int> StagePlacement::getTarget(OpOperand &use) const {
  Operation *user = block_.findAncestorOpInBlock(*use.getOwner());
  ArrayRef<unsigned> states = parts_.getStateArguments();
  if (user == block_.getTerminator() && parts_.getForm() == StepForm::Whole &&
      use.getOperandNumber() < states.size()) {
    auto home = homes_.find(block_.getArgument(states[use.getOperandNumber()]));
    return home == homes_.end() ? std::nullopt : std::optional<int>(home->second);
  }
  auto found = targets_.find(user);
  return found == targets_.end() ? std::nullopt : std::optional<int>(found->second);
}

/// The gradient of a parameter belongs to the parameter's chunk, and so do operations that only it
/// needs.
void StagePlacement::findTargets() {
  for (Operation &op : llvm::reverse(block_)) {
    if (AllReduceOp sum = getAccumulation(&op)) {
      Chunks wanted = getWanted(sum.getResult());
      if (wanted.count() == 1)
        targets_[&op] = wanted.find_first();
      continue;
    }
    if (!parts_.isVarying(&op) || parts_.isFree(&op) || parts_.isForward(&op))
      continue;
    std::optional<int> target;
    bool isOne = true;
    for (OpOperand &use : op.getUses()) {
      std::optional<int> wanted = getTarget(use);
      if (!wanted) { // of a whole step, that may be a norm over all gradients
        isOne &= parts_.getForm() == StepForm::Whole;
        continue;
      }
      isOne &= !target || *target == *wanted;
      target = wanted;
    }
    if (isOne && target && getChunksFor(&op).test(*target))
      targets_[&op] = *target;
  }
}

/// Chunks that have everything that the operation reads, gradients aside.
StagePlacement::Chunks StagePlacement::getChunksFor(Operation *op) const {
  Chunks chunks(numChunks_, true);
  for (Value value : getReadValues(op)) {
    Operation *producer = value.getDefiningOp();
    const bool isGradient = producer && parts_.isVarying(producer) && !parts_.isForward(producer);
    if (!parts_.isFree(value) && !isGradient)
      chunks &= getChunksWith(value);
  }
  return chunks;
}

/// Gradients flow to earlier chunks only. A gradient of parameters is made where they are, if that
/// chunk has the activations. Any other operation stays as late as what it reads of the forward
/// pass allows: a gradient of activations with its weights.
int StagePlacement::chooseBackwardChunk(Operation *op) {
  int latest = numChunks_ - 1;
  for (Value value : getReadValues(op)) {
    Operation *producer = value.getDefiningOp();
    if (!parts_.isFree(value) && producer && parts_.isVarying(producer) &&
        !parts_.isForward(producer))
      latest = std::min(latest, getChunk(value));
  }
  const Chunks all = getChunksFor(op);
  auto target = targets_.find(op);
  if (target != targets_.end() && target->second <= latest && all.test(target->second))
    return target->second;
  for (int chunk = latest; chunk >= 0; --chunk)
    if (all.test(chunk))
      return chunk;
  return latest;
}

void StagePlacement::placeBackward() {
  for (Operation &op : block_) {
    if (!parts_.isVarying(&op) || parts_.isFree(&op) || parts_.isForward(&op))
      continue;
    int chunk = chooseBackwardChunk(&op);
    placements_[&op] = {Phase::WeightGradient, chunk};
    SmallVector<Value> open = getReadValues(&op);
    while (!open.empty()) { // what it reads and nothing has placed yet comes here
      Value value = open.pop_back_val();
      if (parts_.isFree(value) || parts_.isVarying(value) || findChunk(value))
        continue;
      Operation *producer = value.getDefiningOp();
      if (!producer) {
        homes_[value] = chunk;
        continue;
      }
      placements_[producer] = {Phase::Once, chunk};
      llvm::append_range(open, getReadValues(producer));
    }
  }
}

/// Values that other chunks wait for are input gradients, and so are the values that they depend
/// on.
void StagePlacement::splitBackward() {
  for (Operation &op : llvm::reverse(block_)) {
    auto found = placements_.find(&op);
    if (found == placements_.end() || found->second.phase != Phase::WeightGradient)
      continue;
    for (Value result : op.getResults())
      for (Operation *user : getUsers(result, block_)) {
        auto use = placements_.find(user);
        if (use != placements_.end() && parts_.isVarying(user) &&
            (use->second.chunk != found->second.chunk || use->second.phase == Phase::InputGradient))
          found->second.phase = Phase::InputGradient;
      }
  }
}

static int64_t getNumElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? tensor.getNumElements() : 1;
}

/// Whether `op` makes tensors of the elements of `value` one by one, or moves these: rows of a
/// bucket are gathered from roots, and cut into parameters. A norm does neither.
static bool keepsElements(Operation *op, Value value) {
  if (isa<AllGatherOp, ReduceScatterOp, tensor::ConcatOp, tensor::ExtractSliceOp,
          tensor::InsertSliceOp, tensor::PadOp>(op))
    return true;
  return llvm::any_of(op->getResultTypes(), [&](Type type) {
    return getNumElements(type) == getNumElements(value.getType());
  });
}

/// Homes of the state that is made of the elements of the value.
StagePlacement::Chunks StagePlacement::getWanted(Value value) const {
  Chunks wanted(numChunks_);
  for (OpOperand &use : value.getUses()) {
    Operation *user = block_.findAncestorOpInBlock(*use.getOwner());
    if (user == block_.getTerminator()) {
      ArrayRef<unsigned> states = parts_.getStateArguments();
      if (use.getOperandNumber() >= states.size())
        continue;
      auto home = homes_.find(block_.getArgument(states[use.getOperandNumber()]));
      if (home != homes_.end())
        wanted.set(home->second);
    } else if (auto found = wanted_.find(user); found != wanted_.end()) {
      if (keepsElements(user, value))
        wanted |= found->second;
    }
  }
  return wanted;
}

/// An update runs where the state is that it makes. If it serves state of several chunks, as a norm
/// does, it runs where the largest value is that it reads.
int StagePlacement::chooseUpdateChunk(Operation *op) const {
  const Chunks &wanted = wanted_.find(op)->second;
  if (wanted.count() == 1)
    return wanted.find_first();
  double largest = -1;
  int chosen = 0;
  for (Value value : getReadValues(op)) {
    std::optional<int> chunk = findChunk(value);
    if (parts_.isFree(value) || !chunk || getValueBytes(value.getType()) <= largest)
      continue;
    largest = getValueBytes(value.getType());
    chosen = *chunk;
  }
  return chosen;
}

void StagePlacement::findWanted() {
  wanted_.clear();
  for (Operation &op : llvm::reverse(block_)) {
    if (!isUniform(&op) || placements_.contains(&op) || getAccumulation(&op))
      continue;
    Chunks wanted(numChunks_);
    for (Value result : op.getResults())
      wanted |= getWanted(result);
    wanted_[&op] = std::move(wanted);
  }
}

void StagePlacement::placeUpdate() {
  findWanted(); // the backward pass has placed more state
  for (Operation &op : block_) {
    if (AllReduceOp sum = getAccumulation(&op))
      placements_[&op] = {Phase::Update, findChunk(sum.getInput()).value_or(numChunks_ - 1)};
    else if (wanted_.contains(&op))
      placements_[&op] = {Phase::Update, chooseUpdateChunk(&op)};
  }
}

/// State that only updates read is kept where these updates are.
void StagePlacement::placeRest() {
  for (unsigned index : parts_.getStateArguments()) {
    Value state = block_.getArgument(index);
    if (homes_.contains(state) || parts_.isReplicatedState(state))
      continue;
    int home = 0;
    for (Operation *user : getUsers(state, block_))
      if (auto found = placements_.find(user); found != placements_.end()) {
        home = found->second.chunk;
        break;
      }
    homes_[state] = home;
  }
}

Phase StagePlacement::getSumPhase(AllReduceOp sum) const {
  Operation *term = sum.getInput().getDefiningOp();
  auto found = term ? placements_.find(term) : placements_.end();
  if (found == placements_.end() || !parts_.isVarying(term))
    return Phase::Forward;
  return found->second.phase;
}
