//===- lower_contractions_strides.cc - loops and strides of a contraction --------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "passes/export/kernels/loop_strides.h"
#include "passes/export/lower_contractions.h"

namespace mlir::coll {
namespace {

ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The dimension of the row-major `shape` in which a step of `stride` elements moves.
int64_t findDim(int64_t stride, ArrayRef<int64_t> shape, ArrayRef<int64_t> rowStrides) {
  for (auto [dim, rowStride] : llvm::enumerate(rowStrides))
    if (shape[dim] > 1 && rowStride <= stride && stride % rowStride == 0)
      return dim;
  return -1;
}

} // namespace

FailureOr<Contraction> readContraction(linalg::GenericOp op) {
  Contraction contraction;
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (int64_t extent : extents) {
    if (ShapedType::isDynamic(extent) || extent == 0)
      return failure();
    contraction.loops.push_back({extent, {0, 0, 0}});
  }
  for (auto [position, operand] : llvm::enumerate(op->getOpOperands())) {
    Value value = operand.get();
    contraction.base[position] = value;
    FailureOr<LinearIndex> index = linearize(op.getMatchingIndexingMap(&operand).getResults(),
                                             getShape(value), extents.size());
    if (failed(index) || index->offset != 0 ||
        llvm::any_of(index->byDim, [](int64_t stride) { return stride < 0; }))
      return failure();
    for (auto [loop, stride] : llvm::zip_equal(contraction.loops, index->byDim))
      loop.strides[position] = stride;
  }
  llvm::erase_if(contraction.loops, [](const Loop &loop) { return loop.extent == 1; });
  return contraction;
}

FailureOr<SmallVector<Coordinate>> alignLoops(Contraction &contraction, Operand operand,
                                              ArrayRef<int64_t> shape) {
  SmallVector<int64_t> rowStrides = computeStrides(shape);
  SmallVector<int64_t> reach(shape.size(), 0);
  SmallVector<Coordinate> coordinates;
  for (unsigned i = 0; i < contraction.loops.size(); ++i) {
    Loop &loop = contraction.loops[i];
    int64_t stride = loop.strides[operand];
    if (stride == 0) {
      coordinates.push_back({-1, 0});
      continue;
    }
    int64_t dim = findDim(stride, shape, rowStrides);
    if (dim < 0)
      return failure();
    int64_t factor = stride / rowStrides[dim];
    if (factor == 1 && loop.extent > shape[dim]) {
      if (loop.extent % shape[dim] != 0)
        return failure();
      Loop outer{loop.extent / shape[dim], loop.strides};
      for (int64_t &outerStride : outer.strides)
        outerStride *= shape[dim];
      loop.extent = shape[dim];
      contraction.loops.insert(contraction.loops.begin() + i + 1, outer);
    }
    reach[dim] += factor * (contraction.loops[i].extent - 1);
    coordinates.push_back({dim, factor});
  }
  // A carry from one dimension into the next would make the split wrong.
  for (auto [dimReach, size] : llvm::zip_equal(reach, shape))
    if (dimReach >= size)
      return failure();
  return coordinates;
}

Value getTransposedInput(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return {};
  Block *body = generic.getBody();
  if (!llvm::hasSingleElement(*body) ||
      body->getTerminator()->getOperand(0) != body->getArgument(0))
    return {};
  AffineMap inputMap = generic.getMatchingIndexingMap(generic.getDpsInputOperand(0));
  AffineMap resultMap = generic.getMatchingIndexingMap(generic.getDpsInitOperand(0));
  if (!resultMap.isPermutation() || !inputMap.isProjectedPermutation(/*allowZeroInResults=*/true))
    return {};
  return generic.getDpsInputOperand(0)->get();
}

SmallVector<int64_t> getInputStridesByResultDim(linalg::GenericOp op) {
  AffineMap inputMap = op.getMatchingIndexingMap(op.getDpsInputOperand(0));
  AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> rowStrides = computeStrides(getShape(op.getDpsInputOperand(0)->get()));
  SmallVector<int64_t> byLoop(op.getNumLoops(), 0);
  for (auto [expr, rowStride] : llvm::zip_equal(inputMap.getResults(), rowStrides))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      byLoop[dim.getPosition()] = rowStride;
  SmallVector<int64_t> byResultDim;
  for (AffineExpr expr : resultMap.getResults())
    byResultDim.push_back(byLoop[cast<AffineDimExpr>(expr).getPosition()]);
  return byResultDim;
}

void lookThroughCopies(Contraction &contraction, Operand operand) {
  while (Operation *op = contraction.base[operand].getDefiningOp()) {
    // A reshape keeps the row-major order, so strides stay.
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      contraction.base[operand] = op->getOperand(0);
      continue;
    }
    Value input = getTransposedInput(op);
    if (!input)
      return;
    Contraction changed = contraction;
    FailureOr<SmallVector<Coordinate>> coordinates =
        alignLoops(changed, operand, getShape(contraction.base[operand]));
    if (failed(coordinates))
      return;
    SmallVector<int64_t> strides = getInputStridesByResultDim(cast<linalg::GenericOp>(op));
    for (auto [loop, at] : llvm::zip_equal(changed.loops, *coordinates))
      loop.strides[operand] = at.dim < 0 ? 0 : at.factor * strides[at.dim];
    changed.base[operand] = input;
    contraction = changed;
  }
}

} // namespace mlir::coll
