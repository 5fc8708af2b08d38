//===- micro_batches.cc ----------------------------------------------------------===//

#include "passes/analysis/micro_batches.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/analysis/sharding_map.h"

namespace mlir::coll {

namespace {

bool isPartialOver(ShardingAttr sharding, StringAttr axis) {
  return sharding && llvm::is_contained(sharding.getPartialAxes(), axis);
}

int64_t findSplitDim(ShardingAttr sharding, StringAttr axis) {
  if (sharding)
    for (auto [number, dim] : llvm::enumerate(sharding.getDims()))
      if (llvm::is_contained(dim.getAxes(), axis))
        return number;
  return -1;
}

/// The values that an operand of `op` becomes inside of it, or behind it where `op` ends a region.
SmallVector<Value> getContinuations(Operation *op, unsigned operand) {
  Operation *parent = op->getParentOp();
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    if (isa<scf::ConditionOp>(op))
      return operand == 0 ? SmallVector<Value>()
                          : SmallVector<Value>{parent->getResult(operand - 1),
                                               parent->getRegion(1).getArgument(operand - 1)};
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return {loop.getResult(operand), loop.getRegionIterArg(operand)};
    if (isa<scf::WhileOp>(parent))
      return {parent->getRegion(0).getArgument(operand)};
    return operand < parent->getNumResults() && isa<scf::IfOp>(parent)
               ? SmallVector<Value>{parent->getResult(operand)}
               : SmallVector<Value>();
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return operand < 3 ? SmallVector<Value>()
                       : SmallVector<Value>{loop.getResult(operand - 3),
                                            loop.getRegionIterArg(operand - 3)};
  if (isa<scf::WhileOp>(op))
    return {op->getRegion(0).getArgument(operand)};
  return {};
}

} // namespace

bool MicroBatches::isPerMicroBatch(Value value) const {
  ShardingAttr sharding = getRecordedSharding(value);
  return isPartialOver(sharding, axis_) || findSplitDim(sharding, axis_) >= 0;
}

MicroKind MicroBatches::getKind(Value value) const {
  ShardingAttr sharding = getRecordedSharding(value);
  if (findSplitDim(sharding, axis_) >= 0)
    return MicroKind::Rows;
  if (isPartialOver(sharding, axis_))
    return MicroKind::Partial;
  return whole_.contains(value) ? MicroKind::Whole : MicroKind::Same;
}

int64_t MicroBatches::getRowDim(Value value) const {
  return findSplitDim(getRecordedSharding(value), axis_);
}

bool MicroBatches::mark(Value value) { return whole_.insert(value).second; }

/// Marks what depends on the whole batch because of `op`; whether that is more than before.
bool MicroBatches::changes(Operation *op) {
  bool changed = false;
  if (auto reshard = dyn_cast<ReshardOp>(op))
    if (isPerMicroBatch(reshard.getInput()) && !isPerMicroBatch(reshard.getResult()))
      changed |= mark(reshard.getResult());
  auto isWhole = [&](Value value) { return whole_.contains(value); };
  bool readsWhole = llvm::any_of(op->getOperands(), isWhole);
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op) || op->hasTrait<OpTrait::IsTerminator>()) {
    for (OpOperand &operand : op->getOpOperands())
      if (isWhole(operand.get()))
        for (Value next : getContinuations(op, operand.getOperandNumber()))
          changed |= mark(next);
    return changed;
  }
  if (op->getNumRegions() > 0)
    readsWhole |= llvm::any_of(getCapturedTensors(op), isWhole);
  if (readsWhole)
    for (Value result : op->getResults())
      changed |= mark(result);
  return changed;
}

LogicalResult MicroBatches::check(Operation *op) const {
  auto isMixed = [&](Value result) { return whole_.contains(result) && isPerMicroBatch(result); };
  if (isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op) || !llvm::any_of(op->getResults(), isMixed))
    return success();
  InFlightDiagnostic error =
      op->emitError() << "is computed for each micro-batch from a value of the whole batch, which "
                         "is known behind the last one; do without micro-batches, or compute it "
                         "from each row alone";
  for (Value operand : op->getOperands())
    if (whole_.contains(operand) && !isPerMicroBatch(operand) && operand.getDefiningOp())
      error.attachNote(operand.getLoc()) << "this value is of the whole batch";
  return error;
}

FailureOr<MicroBatches> MicroBatches::create(FunctionOpInterface function, StringAttr axis) {
  MicroBatches batches(axis);
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function)
      ops.push_back(op);
    bool nests = op == function || isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op);
    return nests ? WalkResult::advance() : WalkResult::skip();
  });
  bool changed = true;
  while (changed) {
    changed = false;
    for (Operation *op : ops)
      changed |= batches.changes(op);
  }
  for (Operation *op : ops)
    if (failed(batches.check(op)))
      return failure();
  return batches;
}

} // namespace mlir::coll
