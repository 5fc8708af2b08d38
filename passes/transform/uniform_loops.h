//===- uniform_loops.h - while loops that carry one set of values -----*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_UNIFORM_LOOPS_H
#define COLL_PASSES_TRANSFORM_UNIFORM_LOOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::coll {

/// Rewrites every scf.while inside `root` so that it forwards its carried values unchanged to its
/// body and its results (see isUniformLoop). Values that the condition's region computes are
/// computed again where they are used. Loops whose condition has side effects stay as they are.
void makeLoopsUniform(Operation *root);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_UNIFORM_LOOPS_H
