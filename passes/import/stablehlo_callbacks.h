//===- stablehlo_callbacks.h - calls from a step to Python --------------*- C++ -*-===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_CALLBACKS_H
#define COLL_PASSES_IMPORT_STABLEHLO_CALLBACKS_H

#include "mlir/IR/Operation.h"

namespace mlir::coll::stablehlo {

/// Whether the operation calls a Python function: jax.debug.print, jax.debug.callback,
/// pure_callback.
bool isPythonCallback(Operation *op);

/// A callback without results: the step computes the same without it.
bool isDroppableCallback(Operation *op);

/// The branch of an error check as eqx.error_if writes it: a stablehlo.case of two branches, of
/// which one only returns values from outside and the other one calls Python. The step computes
/// the first branch wherever no error occurs. Null for every other operation.
Region *findBranchWithoutError(Operation *op);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_CALLBACKS_H
