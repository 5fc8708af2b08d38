//===- layout.cc - where rows of attention are in memory --------------------------===//

#include "passes/export/attention/layout.h"

#include "dialect/attention.h"
#include "dialect/shape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::coll;

/// A nest that only copies its input.
static linalg::GenericOp asCopy(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInputs() != 1 || generic.getNumDpsInits() != 1 ||
      generic.getNumParallelLoops() != generic.getNumLoops())
    return {};
  Block *body = generic.getBody();
  bool copies =
      llvm::hasSingleElement(*body) && body->getTerminator()->getOperand(0) == body->getArgument(0);
  return copies ? generic : linalg::GenericOp();
}

/// The dimension of a group of a reshape that is not of extent 1; the first if all
/// are; -1 if there are several.
static int64_t findOnly(ArrayRef<int64_t> group, ArrayRef<int64_t> shape) {
  int64_t only = -1;
  for (int64_t dim : group) {
    if (shape[dim] == 1)
      continue;
    if (only >= 0)
      return -1;
    only = dim;
  }
  return only >= 0 ? only : group.empty() ? -1 : group.front();
}

static std::optional<SmallVector<int64_t>> getReshapedDims(ArrayRef<ReassociationIndices> groups,
                                                           ArrayRef<int64_t> wide, bool isExpand) {
  SmallVector<int64_t> dims(isExpand ? wide.size() : groups.size(), -1);
  for (auto [narrowDim, group] : llvm::enumerate(groups)) {
    int64_t only = findOnly(group, wide);
    if (only < 0)
      return std::nullopt;
    if (isExpand)
      dims[only] = narrowDim;
    else
      dims[narrowDim] = only;
  }
  return dims;
}

std::optional<SmallVector<int64_t>> mlir::coll::getSpreadDims(Operation *op) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return getReshapedDims(expand.getReassociationIndices(), shapeOf(expand.getResult()), true);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return getReshapedDims(collapse.getReassociationIndices(), shapeOf(collapse.getSrc()), false);
  linalg::GenericOp copy = asCopy(op);
  if (!copy)
    return std::nullopt;
  AffineMap from = copy.getMatchingIndexingMap(copy.getDpsInputOperand(0));
  AffineMap to = copy.getMatchingIndexingMap(copy.getDpsInitOperand(0));
  if (!to.isPermutation() || !from.isProjectedPermutation(/*allowZeroInResults=*/true))
    return std::nullopt;
  SmallVector<int64_t> byLoop(copy.getNumLoops(), -1), dims;
  for (auto [dim, expr] : llvm::enumerate(from.getResults()))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      byLoop[loop.getPosition()] = dim;
  for (AffineExpr expr : to.getResults())
    dims.push_back(byLoop[cast<AffineDimExpr>(expr).getPosition()]);
  return dims;
}

SmallVector<int64_t> Rows::getBatchStrides() const {
  SmallVector<int64_t> batch(ArrayRef<int64_t>(strides).drop_back(2));
  if (!isGrouped || batch.size() < 3)
    return batch;
  int64_t group = batch.pop_back_val();
  if (extents[batch.size()] != 1)
    batch.back() = group;
  return batch;
}

/// Whether the heads of all groups are at equal distances, so that one stride suffices.
static bool areHeadsEven(const Rows &rows) {
  const size_t group = rows.extents.size() - 3;
  return !rows.isGrouped || group < 2 || rows.extents[group] == 1 || rows.extents[group - 1] == 1 ||
         rows.strides[group - 1] == rows.extents[group] * rows.strides[group];
}

bool Rows::isUsable() const {
  Type element = getElementTypeOrSelf(base);
  int64_t unit = kAttentionAlignment * 8 / element.getIntOrFloatBitWidth();
  return strides.back() == 1 && first % unit == 0 && areHeadsEven(*this) &&
         llvm::all_of(ArrayRef(strides).drop_back(),
                      [&](int64_t stride) { return stride % unit == 0; });
}

Rows mlir::coll::getRows(Value value, ArrayRef<int64_t> dims, bool isGrouped) {
  Rows rows;
  rows.base = value;
  rows.isGrouped = isGrouped;
  SmallVector<int64_t> strides = computeStrides(shapeOf(value));
  for (int64_t dim : dims) {
    rows.extents.push_back(shapeOf(value)[dim]);
    rows.strides.push_back(rows.extents.back() == 1 ? 0 : strides[dim]);
  }
  return rows;
}

namespace {
/// An axis moves `factor` positions along `dim` of a tensor.
struct Step {
  int64_t dim, factor;
};

/// Rows in the dimensions of their base.
struct Located {
  SmallVector<Step> steps;    // by axis
  SmallVector<int64_t> first; // by dimension
};
} // namespace

/// nullopt if an axis runs over more than one dimension.
static std::optional<Located> locate(const Rows &rows) {
  ArrayRef<int64_t> shape = shapeOf(rows.base);
  SmallVector<int64_t> strides = computeStrides(shape);
  Located located;
  int64_t rest = rows.first;
  for (int64_t stride : strides) {
    located.first.push_back(stride ? rest / stride : 0);
    rest -= located.first.back() * stride;
  }
  SmallVector<int64_t> last = located.first;
  for (auto [extent, stride] : llvm::zip_equal(rows.extents, rows.strides)) {
    Step step = {0, 0};
    for (int64_t dim = 0; stride && dim < int64_t(shape.size()); ++dim)
      if (shape[dim] > 1 && stride % strides[dim] == 0 && stride / strides[dim] < shape[dim]) {
        step = {dim, stride / strides[dim]};
        break;
      }
    if (stride && !step.factor)
      return std::nullopt;
    if (stride)
      last[step.dim] += step.factor * (extent - 1);
    located.steps.push_back(step);
  }
  for (auto [position, extent] : llvm::zip_equal(last, shape))
    if (position >= extent)
      return std::nullopt;
  return located;
}

/// The same rows in another tensor, whose stride along each dimension of the old one is given.
static Rows moveTo(const Rows &rows, const Located &located, Value base, int64_t first,
                   ArrayRef<int64_t> strides) {
  Rows moved = rows;
  moved.base = base;
  moved.first = first;
  for (auto [position, stride] : llvm::zip_equal(located.first, strides))
    moved.first += position * stride;
  for (auto [step, stride] : llvm::zip_equal(located.steps, moved.strides))
    stride = step.factor * strides[step.dim];
  return moved;
}

/// The rows of a slice, as rows of the tensor that it is a slice of.
static std::optional<Rows> lookThroughSlice(const Rows &rows, tensor::ExtractSliceOp slice) {
  std::optional<Located> located = locate(rows);
  ArrayRef<int64_t> offsets = slice.getStaticOffsets();
  if (!located || llvm::is_contained(offsets, ShapedType::kDynamic) || !slice.hasUnitStride() ||
      slice.getType().getRank() != slice.getSourceType().getRank())
    return std::nullopt;
  SmallVector<int64_t> strides = computeStrides(slice.getSourceType().getShape());
  int64_t first = 0;
  for (auto [offset, stride] : llvm::zip_equal(offsets, strides))
    first += offset * stride;
  return moveTo(rows, *located, slice.getSource(), first, strides);
}

/// Rows of a transposed copy in its input.
static std::optional<Rows> lookThroughCopy(const Rows &rows, linalg::GenericOp copy) {
  std::optional<SmallVector<int64_t>> dims = getSpreadDims(copy);
  std::optional<Located> located = locate(rows);
  Value input = copy.getDpsInputs()[0];
  if (!dims || !located || !isa<RankedTensorType>(input.getType()))
    return std::nullopt;
  SmallVector<int64_t> from = computeStrides(shapeOf(input)), strides;
  for (auto [dim, extent] : llvm::zip_equal(*dims, shapeOf(rows.base))) {
    if (dim < 0 && extent != 1)
      return std::nullopt; // a broadcast
    strides.push_back(dim < 0 ? 0 : from[dim]);
  }
  return moveTo(rows, *located, input, /*first=*/0, strides);
}

static Rows lookThrough(Rows rows, std::optional<Rows> &usable) {
  for (;;) {
    if (rows.isUsable())
      usable = rows;
    Operation *op = rows.base.getDefiningOp();
    std::optional<Rows> next;
    if (!op)
      return rows;
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      next = rows; // the order of the elements stays
      next->base = op->getOperand(0);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      next = lookThroughSlice(rows, slice);
    } else if (linalg::GenericOp copy = asCopy(op)) {
      next = lookThroughCopy(rows, copy);
    }
    if (!next)
      return rows;
    rows = *next;
  }
}

RowSource::RowSource(Value value, ArrayRef<int64_t> valueDims, bool isGrouped)
    : own(getRows(value, valueDims, isGrouped)), dims(valueDims) {
  origin = lookThrough(own, usable);
}

Value mlir::coll::copyTransposed(OpBuilder &builder, Location loc, Value value,
                                 ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs(type.getRank(), builder.getAffineConstantExpr(0));
  for (auto [axis, dim] : llvm::enumerate(dims)) {
    shape.push_back(type.getDimSize(dim));
    exprs[dim] = builder.getAffineDimExpr(axis);
  }
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  SmallVector<AffineMap> maps{AffineMap::get(dims.size(), 0, exprs, builder.getContext()),
                              builder.getMultiDimIdentityMap(dims.size())};
  SmallVector<utils::IteratorType> iterators(dims.size(), utils::IteratorType::parallel);
  return linalg::GenericOp::create(builder, loc, TypeRange{empty.getType()}, ValueRange{value},
                                   ValueRange{empty}, maps, iterators,
                                   [](OpBuilder &b, Location loc, ValueRange args) {
                                     linalg::YieldOp::create(b, loc, args[0]);
                                   })
      .getResult(0);
}

Rows RowSource::getReadable(OpBuilder &builder, Location loc) const {
  if (usable)
    return *usable;
  return getRows(copyTransposed(builder, loc, own.base, dims),
                 llvm::to_vector(llvm::seq<int64_t>(0, dims.size())), own.isGrouped);
}

/// Rows of a value in a transposed copy of it.
static std::optional<Rows> writeThroughCopy(const Rows &rows, linalg::GenericOp copy) {
  std::optional<SmallVector<int64_t>> dims = getSpreadDims(copy);
  std::optional<Located> located = locate(rows);
  Value result = copy.getResult(0);
  if (!dims || !located)
    return std::nullopt;
  SmallVector<int64_t> to = computeStrides(shapeOf(result));
  SmallVector<int64_t> strides(shapeOf(rows.base).size(), 0);
  for (auto [dim, stride, extent] : llvm::zip_equal(*dims, to, shapeOf(result))) {
    if (dim < 0 && extent != 1)
      return std::nullopt;
    if (dim >= 0)
      strides[dim] = stride;
  }
  return moveTo(rows, *located, result, /*first=*/0, strides);
}

std::optional<Rows> mlir::coll::writeThrough(Rows rows, Type element) {
  std::optional<Rows> found;
  for (;;) {
    if (getElementTypeOrSelf(rows.base) == element)
      found = rows;
    if (!rows.base.hasOneUse())
      return found;
    Operation *user = *rows.base.user_begin();
    std::optional<Rows> next;
    if (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) ||
        (isa<arith::TruncFOp>(user) && getElementTypeOrSelf(user->getResult(0)) == element)) {
      next = rows;
      next->base = user->getResult(0);
    } else if (linalg::GenericOp copy = asCopy(user); copy && copy.getDpsInputs()[0] == rows.base) {
      next = writeThroughCopy(rows, copy);
    }
    if (!next)
      return found;
    rows = *next;
  }
}
