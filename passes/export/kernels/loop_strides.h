//===- loop_strides.h - how an index expression moves with the loops ---*- C++ -*-===//

#ifndef COLL_PASSES_EXPORT_KERNELS_LOOP_STRIDES_H
#define COLL_PASSES_EXPORT_KERNELS_LOOP_STRIDES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/Support/LLVM.h"

namespace mlir::coll {

/// `byDim[d] * d` for every dimension d, plus `offset`.
struct LinearIndex {
  SmallVector<int64_t> byDim;
  int64_t offset = 0;
};

/// Adds `scale * expr` to `index`. Fails if `expr` is not a sum of multiples of dimensions and a
/// constant.
LogicalResult addLinear(AffineExpr expr, int64_t scale, LinearIndex &index);

/// Position in a row-major tensor of `shape` that `exprs` index. Fails like addLinear.
FailureOr<LinearIndex> linearize(ArrayRef<AffineExpr> exprs, ArrayRef<int64_t> shape,
                                 unsigned numDims);

} // namespace mlir::coll

#endif // COLL_PASSES_EXPORT_KERNELS_LOOP_STRIDES_H
