//===- root_terms.h - scalars that an optimizer computes from gradients ---*- C++ -*-===//
//
// A term combines all elements of what is computed element by element from the gradients and
// states of one root update: the sum of squares in a global norm, the norms of LAMB, whether all
// elements are finite. Roots can compute terms of what they hold, and combine them afterwards.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_ANALYSIS_ROOT_TERMS_H
#define COLL_PASSES_ANALYSIS_ROOT_TERMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "passes/analysis/elementwise_slice.h"

namespace mlir::coll {

/// Whether `op` combines all elements of tensors of one shape into a scalar tensor, in a way that
/// may be done in parts.
bool isTerm(linalg::GenericOp op);

/// The elementwise part of a term of `own`: from its inputs back to `own`. Nullopt if it also reads
/// other tensors.
std::optional<ElementwiseSlice> getTermSlice(linalg::GenericOp op, ValueRange own);

/// An operation that needs `value` other than element by element for `isUpdate` uses and terms of
/// `own`; null if there is none.
Operation *findEscape(Value value, ValueRange own, llvm::function_ref<bool(OpOperand &)> isUpdate);

/// The terms of `own` that are computed from `value`.
SmallVector<linalg::GenericOp> findTerms(Value value, ValueRange own);

} // namespace mlir::coll

#endif // COLL_PASSES_ANALYSIS_ROOT_TERMS_H
