//===- optimizer.cc - the state of an optimizer ----------------------------------===//

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/transform/strategy/strategies.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::coll {

namespace {

/// Whether every element of the results depends on the elements of the operands at its place, or
/// on scalars.
bool isElementwise(Operation *op) {
  if (OpTrait::hasElementwiseMappableTraits(op))
    return true;
  auto generic = dyn_cast<linalg::LinalgOp>(op);
  return generic && generic.getNumLoops() == generic.getNumParallelLoops();
}

/// Values that `result` depends on, through operations that `passes`.
void collect(Value result, llvm::function_ref<bool(Operation *)> passes,
             llvm::SetVector<Value> &values) {
  SmallVector<Value> open = {result};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!values.insert(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op || !passes(op))
      continue;
    llvm::append_range(open, op->getOperands());
    op->walk([&](Operation *inner) {
      if (inner != op)
        llvm::append_range(open, inner->getOperands());
    });
  }
}

} // namespace

SmallVector<int64_t> findOptimizerState(const StepSharding &sharding) {
  func::FuncOp step = sharding.getStep();
  SmallVector<int64_t> parameters(sharding.size(), -1);
  SmallVector<unsigned> states;
  for (unsigned index = 0; index < sharding.size(); ++index)
    if (sharding.isState(index))
      states.push_back(index);
  Operation *terminator = step.getBody().front().getTerminator();
  llvm::SetVector<Value> outputs;
  for (Value result : terminator->getOperands().drop_front(
           std::min<size_t>(states.size(), terminator->getNumOperands())))
    collect(result, [](Operation *) { return true; }, outputs);
  for (auto [index, result] : llvm::zip(states, terminator->getOperands())) {
    BlockArgument parameter = step.getArgument(index);
    if (!outputs.contains(parameter))
      continue;
    llvm::SetVector<Value> update;
    auto passes = [type = result.getType()](Operation *op) {
      return isElementwise(op) && llvm::is_contained(op->getResultTypes(), type);
    };
    collect(result, passes, update);
    for (unsigned other : states) {
      Value argument = step.getArgument(other);
      if (argument != parameter && argument.getType() == parameter.getType() &&
          update.contains(argument) && !outputs.contains(argument))
        parameters[other] = index;
    }
  }
  return parameters;
}

void splitOptimizerState(StepSharding &sharding, StringAttr axis) {
  for (auto [index, parameter] : llvm::enumerate(findOptimizerState(sharding))) {
    if (parameter < 0)
      continue;
    for (auto [dim, axes] : llvm::enumerate(sharding.getDims(parameter)))
      if (llvm::is_contained(axes, axis))
        sharding.split(index, dim, axis);
  }
}

} // namespace mlir::coll
