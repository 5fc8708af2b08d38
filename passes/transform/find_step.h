//===- find_step.h - the function that a pass works on -----------------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_FIND_STEP_H
#define COLL_PASSES_TRANSFORM_FIND_STEP_H

#include "dialect/dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::coll {

/// The function @step, which has a body. If there is none, null and an error that ends with
/// `purpose`: "has no function @step to distribute".
inline func::FuncOp findStep(ModuleOp module, StringRef purpose) {
  auto step = module.lookupSymbol<func::FuncOp>(kStepFunction);
  if (step && !step.isExternal())
    return step;
  module.emitError("has no function @step ") << purpose;
  return nullptr;
}

/// The same, but its body must be one block.
inline func::FuncOp findStepOfOneBlock(ModuleOp module) {
  func::FuncOp step = findStep(module, "of one block");
  if (!step || step.getBody().hasOneBlock())
    return step;
  step.emitError("has more than one block");
  return nullptr;
}

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_FIND_STEP_H
