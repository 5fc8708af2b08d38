//===- fuse_kernels_windows.cc - inputs cut to the elements that are read --------===//

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/export/kernels/fuse_kernels.h"

using namespace mlir;
using namespace mlir::coll;

/// The largest value of `expr` over loops of these ranges; nullopt if it is more than sums and
/// multiples.
static std::optional<int64_t> getLargest(AffineExpr expr, ArrayRef<int64_t> ranges) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return ranges[dim.getPosition()] - 1;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  if (binary.getKind() == AffineExprKind::Add) {
    std::optional<int64_t> left = getLargest(binary.getLHS(), ranges);
    std::optional<int64_t> right = getLargest(binary.getRHS(), ranges);
    return left && right ? std::optional(*left + *right) : std::nullopt;
  }
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() != AffineExprKind::Mul || !factor)
    return std::nullopt;
  // Loops start at 0, so a negative multiple of an expression that is never negative is at most 0.
  std::optional<int64_t> largest = getLargest(binary.getLHS(), ranges);
  bool isLoop = isa<AffineDimExpr>(binary.getLHS());
  if (factor.getValue() < 0)
    return isLoop ? std::optional<int64_t>(0) : std::nullopt;
  return largest ? std::optional(*largest * factor.getValue()) : std::nullopt;
}

/// The extents of `operand` that the loops reach.
static SmallVector<int64_t> getReached(AffineMap map, ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> ranges) {
  SmallVector<int64_t> reached(shape);
  for (auto [extent, expr] : llvm::zip_equal(reached, map.getResults()))
    if (std::optional<int64_t> largest = getLargest(expr, ranges))
      extent = std::clamp<int64_t>(*largest + 1, 0, extent);
  return reached;
}

void mlir::coll::trimWindows(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!op.hasPureTensorSemantics() || llvm::any_of(ranges, [](int64_t n) { return n < 1; }))
    return;
  rewriter.setInsertionPoint(op);
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(input->get().getType());
    if (!type)
      continue;
    SmallVector<int64_t> reached =
        getReached(op.getMatchingIndexingMap(input), type.getShape(), ranges);
    if (type.getShape() == ArrayRef(reached))
      continue;
    SmallVector<OpFoldResult> sizes, offsets(type.getRank(), rewriter.getIndexAttr(0));
    SmallVector<OpFoldResult> strides(type.getRank(), rewriter.getIndexAttr(1));
    for (int64_t extent : reached)
      sizes.push_back(rewriter.getIndexAttr(extent));
    Value cut = tensor::ExtractSliceOp::create(rewriter, op.getLoc(), input->get(), offsets, sizes,
                                               strides);
    rewriter.modifyOpInPlace(op, [&] { input->set(cut); });
  }
}
