//===- uniform_values.cc - values that are equal on all ranks --------------------===//

#include "passes/analysis/uniform_values.h"
#include "dialect/dialect.h"
#include "passes/analysis/rank_groups.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::coll;

UniformValues::UniformValues(func::FuncOp function, GroupTable &groups) : groups_(groups) {
  for (BlockArgument argument : function.getArguments()) {
    auto sharding = function.getArgAttrOfType<ShardingAttr>(argument.getArgNumber(), kShardingAttr);
    if (!sharding || !sharding.isReplicated())
      mark(argument);
  }
  // Upward to a fixpoint: values only ever become varying.
  bool changed = true;
  while (changed) {
    changed = false;
    function.walk([&](Operation *op) { changed |= visit(op); });
  }
}

bool UniformValues::markAll(ValueRange values) {
  bool changed = false;
  for (Value value : values)
    changed |= mark(value);
  return changed;
}

bool UniformValues::isVaryingSource(Operation *op) {
  if (isa<RankOp, AxisIndexOp>(op))
    return true;
  if (auto wait = dyn_cast<WaitOp>(op)) {
    auto start = wait.getRequest().getDefiningOp<StartOp>();
    return !start || isVaryingSource(start.getCommunication());
  }
  auto collective = dyn_cast<CollectiveOpInterface>(op);
  if (!collective)
    return false;
  if (!isa<AllReduceOp, AllGatherOp, BroadcastOp>(op))
    return true;
  return !groups_.isWorld(groups_.getGroup(op, collective.getCommGroup()));
}

/// Whether `op` or an operation in it reads a varying value or makes one.
bool UniformValues::readsVarying(Operation *op) {
  WalkResult result = op->walk([&](Operation *nested) {
    // What a callee computes is not followed.
    if (isa<func::CallOp>(nested) ||
        !llvm::all_of(nested->getOperands(), [&](Value operand) { return isUniform(operand); }))
      return WalkResult::interrupt();
    bool isSource = isVaryingSource(nested) || isa<GroupOp>(nested);
    return isSource ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool UniformValues::visitControl(Operation *op, bool &handled) {
  handled = true;
  auto carry = [&](ValueRange from, ValueRange to) {
    bool changed = false;
    for (auto [source, target] : llvm::zip(from, to))
      if (!isUniform(source))
        changed |= mark(target);
    return changed;
  };
  bool changed = false;
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    Value bounds[] = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    if (!llvm::all_of(bounds, [&](Value bound) { return isUniform(bound); })) {
      changed |= mark(loop.getInductionVar());
      changed |= markAll(loop.getResults());
    }
    changed |= carry(loop.getInitArgs(), loop.getRegionIterArgs());
    changed |= carry(loop.getYieldedValues(), loop.getRegionIterArgs());
    return changed | carry(loop.getRegionIterArgs(), loop.getResults());
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    scf::ConditionOp condition = loop.getConditionOp();
    changed |= carry(loop.getInits(), loop.getBeforeArguments());
    changed |= carry(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
    changed |= carry(condition.getArgs(), loop.getAfterArguments());
    changed |= carry(condition.getArgs(), loop.getResults());
    return isUniform(condition.getCondition()) ? changed : changed | markAll(loop.getResults());
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (!isUniform(branch.getCondition()))
      changed |= markAll(branch.getResults());
    if (branch.getNumResults() == 0)
      return changed;
    changed |= carry(branch.thenYield().getOperands(), branch.getResults());
    return changed | carry(branch.elseYield().getOperands(), branch.getResults());
  }
  handled = false;
  return false;
}

bool UniformValues::visit(Operation *op) {
  bool handled = false;
  bool changed = visitControl(op, handled);
  if (handled || op->getNumResults() == 0)
    return changed;
  if (auto group = dyn_cast<GroupOp>(op))
    return mark(group.getPosition());
  if (isa<AllReduceOp, AllGatherOp, BroadcastOp, WaitOp>(op))
    return isVaryingSource(op) ? markAll(op->getResults()) : false;
  // What is read from memory is not followed.
  return !isMemoryEffectFree(op) || readsVarying(op) ? markAll(op->getResults()) : false;
}
