//===- in_flight.cc - buffers that belong to the runtime ------------------------===//

#include "passes/analysis/proof/in_flight.h"
#include "dialect/dialect.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::coll;

/// Whether the result of `op` may share the buffer of its first operand.
static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(op);
}

/// `value` and everything that may share its buffer.
static SmallVector<Value> getAliases(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isView(op))
      break;
    value = op->getOperand(0);
  }
  SmallVector<Value> aliases = {value};
  for (size_t i = 0; i < aliases.size(); ++i)
    for (OpOperand &use : aliases[i].getUses())
      if (isView(use.getOwner()) && use.getOperandNumber() == 0)
        aliases.push_back(use.getOwner()->getResult(0));
  return aliases;
}

/// Whether `op`, or what holds it in the block, lies between `start` and its wait.
static bool isInBetween(StartOp start, Operation *op) {
  Operation *wait = *start.getRequest().user_begin();
  Operation *ancestor = start->getBlock()->findAncestorOpInBlock(*op);
  return ancestor && start->isBeforeInBlock(ancestor) && ancestor->isBeforeInBlock(wait);
}

static LogicalResult report(Operation *user, StartOp start, StringRef what) {
  InFlightDiagnostic diag = user->emitOpError() << what << " while it is in flight";
  diag.attachNote(start.getLoc()) << "in flight from here";
  diag.attachNote((*start.getRequest().user_begin())->getLoc()) << "until here";
  return diag;
}

static LogicalResult checkDestination(StartOp start, Value destination) {
  for (Value alias : getAliases(destination))
    for (OpOperand &use : alias.getUses()) {
      Operation *user = use.getOwner();
      if (user == start && alias != destination)
        return start.emitOpError("has a source that overlaps the destination, but is not equal");
      // A wait only repeats what its start names.
      if (!isView(user) && !isa<WaitOp>(user) && isInBetween(start, user))
        return report(user, start, "uses the destination of a coll.start");
    }
  return success();
}

static LogicalResult checkSource(StartOp start, Value source) {
  for (Value alias : getAliases(source))
    for (OpOperand &use : alias.getUses()) {
      auto other = dyn_cast<StartOp>(use.getOwner());
      if (other && isInBetween(start, other) && llvm::is_contained(other.getDestinations(), alias))
        return report(other, start, "overwrites the source of a coll.start");
    }
  return success();
}

LogicalResult coll::checkBuffersInFlight(func::FuncOp function) {
  bool failed = false;
  function.walk([&](StartOp start) {
    for (Value destination : start.getDestinations())
      failed |= mlir::failed(checkDestination(start, destination));
    for (Value source : start.getSources())
      failed |= mlir::failed(checkSource(start, source));
  });
  return failure(failed);
}
