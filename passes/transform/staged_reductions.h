//===- staged_reductions.h - reductions in two steps ------------------*- C++ -*-===//

#ifndef COLL_PASSES_TRANSFORM_STAGED_REDUCTIONS_H
#define COLL_PASSES_TRANSFORM_STAGED_REDUCTIONS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::coll {

/// The only reduction loop of an operation that selects among its elements, as argmax with its
/// index does, and that can be done in parts; nullopt for all others.
std::optional<unsigned> findSelectingLoop(linalg::GenericOp op);

/// Replaces `op` by a reduction of each of `parts` equal parts of `loop`, and one of their results:
///
///   r = argmax(x [8, 12]) over 12     x' = x as [8, 3, 4]; p [8, 3] = argmax(x') over 4;
///                                     r = argmax(p) over 3
void stageReduction(linalg::GenericOp op, unsigned loop, int64_t parts);

} // namespace mlir::coll

#endif // COLL_PASSES_TRANSFORM_STAGED_REDUCTIONS_H
