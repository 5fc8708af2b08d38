//===- step_parts.cc -------------------------------------------------------------===//

#include "passes/transform/stages/step_parts.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::coll;

/// State with more elements is not replicated, even where it could be.
static constexpr int64_t kMaxReplicatedElements = 4096;

/// Whether terms can be combined one by one, on elements of this type.
static bool canAddUp(ReductionKind kind, Type element) {
  bool isNumber = element.isIntOrFloat() && element.getIntOrFloatBitWidth() > 1;
  return isNumber &&
         (kind == ReductionKind::Sum || kind == ReductionKind::Max || kind == ReductionKind::Min);
}

AllReduceOp mlir::coll::getAccumulation(Operation *op) {
  auto reduce = dyn_cast<AllReduceOp>(op);
  bool isSum = reduce && hasAxis(reduce.getGroupAttr(), kTimeAxis) &&
               canAddUp(reduce.getReduction(), getElementTypeOrSelf(reduce.getType()));
  return isSum ? reduce : AllReduceOp();
}

bool StepParts::isState(unsigned argument) const {
  auto role = func::FuncOp(step_).getArgAttrOfType<StringAttr>(argument, kRoleAttr);
  return role && role.getValue() == kRoleState;
}

Value StepParts::getReturned(unsigned result) const {
  return func::FuncOp(step_).getBody().front().getTerminator()->getOperand(result);
}

LogicalResult StepParts::analyze() {
  for (unsigned i = 0; i < step_.getNumArguments(); ++i)
    if (isState(i))
      states_.push_back(i);
  if (failed(findVarying()))
    return failure();
  findFree();
  return findForward();
}

/// Only sums outside of loops may reduce over time.
LogicalResult StepParts::findVarying() {
  FailureOr<MicroBatches> batches =
      MicroBatches::create(step_, [](Operation *op) -> bool { return getAccumulation(op); });
  if (failed(batches))
    return failure();
  batches_ = std::move(*batches);
  if (form_ == StepForm::Whole)
    return success();
  for (unsigned k = 0; k < step_.getNumResults(); ++k)
    if (isVarying(getReturned(k)))
      return mlir::emitError(getReturned(k).getLoc(), "result ")
             << k << " has a row for each row of the batch, which a pipeline does not return; "
             << "return its sum or mean, or leave it out";
  return success();
}

/// Marks what is free while the state in `replicated_` is; whether the updates of that state are.
bool StepParts::computeFree() {
  free_.clear();
  freeOps_.clear();
  for (BlockArgument argument : step_.getArguments())
    if (!isState(argument.getArgNumber()) || isReplicatedState(argument))
      free_.insert(argument);
  for (Operation &op : step_.getBody().front().without_terminator()) {
    bool isFree = isMemoryEffectFree(&op) && llvm::all_of(getReadValues(&op), [&](Value value) {
                    return free_.contains(value);
                  });
    if (!isFree)
      continue;
    freeOps_.insert(&op);
    free_.insert(op.result_begin(), op.result_end());
  }
  bool holds = true;
  for (auto [k, index] : llvm::enumerate(states_)) {
    Value state = step_.getArgument(index);
    if (k < step_.getNumResults() && replicated_.contains(state) &&
        (!isFree(getReturned(k)) || isVarying(getReturned(k)))) {
      replicated_.erase(state);
      holds = false;
    }
  }
  return holds;
}

void StepParts::findFree() {
  for (unsigned index : states_) {
    auto type = dyn_cast<RankedTensorType>(step_.getArgument(index).getType());
    if (type && type.getNumElements() <= kMaxReplicatedElements)
      replicated_.insert(step_.getArgument(index));
  }
  while (!computeFree())
    ;
}

std::optional<unsigned> StepParts::findLoss() const {
  func::FuncOp step = step_;
  std::optional<unsigned> first;
  for (unsigned k = states_.size(); k < step.getNumResults(); ++k) {
    auto type = dyn_cast<RankedTensorType>(step.getResultTypes()[k]);
    if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()) ||
        !(form_ == StepForm::Whole ? isVarying(getReturned(k)) : isLate(getReturned(k))))
      continue;
    auto name = step.getResultAttrOfType<StringAttr>(k, kNameAttr);
    if (name && name.getValue() == "loss")
      return k;
    first = first.value_or(k);
  }
  return first;
}

LogicalResult StepParts::findForward() {
  std::optional<unsigned> loss = findLoss();
  if (!loss)
    return step_.emitError("returns no loss (a scalar that is a sum over the batch), which says "
                           "what the forward pass is; let the step return it");
  SmallVector<Value> open = {getReturned(*loss)};
  DenseSet<Operation *> seen;
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    // A sum of the loss ends what is late; what is late before it belongs to the backward pass.
    if (!op || !seen.insert(op).second)
      continue;
    llvm::append_range(open, getReadValues(op));
  }
  for (Operation &op : step_.getBody().front())
    if (seen.contains(&op) && isVarying(&op) && !isFree(&op))
      forward_.insert(&op);
  if (forward_.empty())
    return step_.emitError("has a loss that does not depend on the batch and the state, so that "
                           "there is nothing to cut");
  return success();
}
