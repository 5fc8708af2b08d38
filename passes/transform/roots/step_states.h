//===- step_states.h - the state of a step and what updates it --------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_ROOTS_STEP_STATES_H
#define COLL_PASSES_TRANSFORM_ROOTS_STEP_STATES_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// A state argument and the operand of the terminator that updates it.
struct StepState {
  BlockArgument argument;
  OpOperand *update;
};

inline SmallVector<BlockArgument> getStateArguments(func::FuncOp step) {
  return llvm::filter_to_vector(step.getArguments(), [&](BlockArgument argument) {
    auto role = step.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kRoleAttr);
    return role && role.getValue() == kRoleState;
  });
}

/// The states of `step` that have an update, in order.
inline SmallVector<StepState> getStates(func::FuncOp step) {
  SmallVector<StepState> states;
  Operation *terminator = step.getBody().front().getTerminator();
  for (BlockArgument argument : getStateArguments(step))
    if (states.size() < terminator->getNumOperands())
      states.push_back({argument, &terminator->getOpOperand(states.size())});
  return states;
}

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_ROOTS_STEP_STATES_H
