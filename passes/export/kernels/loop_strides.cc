//===- loop_strides.cc - how an index expression moves with the loops ------------===//

#include "passes/export/kernels/loop_strides.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace mlir::coll {

LogicalResult addLinear(AffineExpr expr, int64_t scale, LinearIndex &index) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    index.byDim[dim.getPosition()] += scale;
    return success();
  }
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    index.offset += scale * constant.getValue();
    return success();
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return failure();
  if (expr.getKind() == AffineExprKind::Add)
    return success(succeeded(addLinear(binary.getLHS(), scale, index)) &&
                   succeeded(addLinear(binary.getRHS(), scale, index)));
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (expr.getKind() != AffineExprKind::Mul || !factor)
    return failure();
  return addLinear(binary.getLHS(), scale * factor.getValue(), index);
}

FailureOr<LinearIndex> linearize(ArrayRef<AffineExpr> exprs, ArrayRef<int64_t> shape,
                                 unsigned numDims) {
  LinearIndex index{SmallVector<int64_t>(numDims, 0)};
  for (auto [expr, rowStride] : llvm::zip_equal(exprs, computeStrides(shape)))
    if (failed(addLinear(expr, rowStride, index)))
      return failure();
  return index;
}

} // namespace mlir::coll
