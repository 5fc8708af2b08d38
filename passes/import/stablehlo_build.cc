//===- stablehlo_build.cc - building blocks of imported IR -----------------------===//

#include "passes/import/stablehlo_build.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

Type elementOf(Type like) { return getElementTypeOrSelf(like); }

Type withElement(Type like, Type element) {
  if (auto tensor = dyn_cast<RankedTensorType>(like))
    return tensor.clone(element);
  return element;
}

Value splat(ImplicitLocOpBuilder &b, Type like, TypedAttr element) {
  auto tensor = dyn_cast<RankedTensorType>(like);
  if (!tensor)
    return arith::ConstantOp::create(b, element);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(tensor, Attribute(element)));
}

Value splatFloat(ImplicitLocOpBuilder &b, Type like, double value) {
  return splat(b, like, b.getFloatAttr(elementOf(like), value));
}

Value splatInt(ImplicitLocOpBuilder &b, Type like, const APInt &value) {
  return splat(b, like, b.getIntegerAttr(elementOf(like), value));
}

Value splatInt(ImplicitLocOpBuilder &b, Type like, int64_t value) {
  unsigned width = elementOf(like).getIntOrFloatBitWidth();
  return splatInt(b, like, APInt(64, value, /*isSigned=*/true).sextOrTrunc(width));
}

Value splatZero(ImplicitLocOpBuilder &b, Type like) {
  return splat(b, like, b.getZeroAttr(elementOf(like)));
}

TypedAttr splatElement(Value value) {
  Attribute attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return {};
  if (auto elements = dyn_cast<DenseElementsAttr>(attr))
    return elements.isSplat() ? cast<TypedAttr>(elements.getSplatValue<Attribute>()) : TypedAttr();
  return dyn_cast<TypedAttr>(attr);
}

std::optional<APInt> splatInteger(Value value) {
  if (auto element = dyn_cast_or_null<IntegerAttr>(splatElement(value)))
    return element.getValue();
  return std::nullopt;
}

FailureOr<linalg::GenericOp> buildGeneric(ImplicitLocOpBuilder &b, ValueRange ins, ValueRange outs,
                                          ArrayRef<AffineMap> maps, Body body) {
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop = 0; loop < maps.back().getNumDims(); ++loop)
    iterators.push_back(maps.back().isFunctionOfDim(loop) ? utils::IteratorType::parallel
                                                          : utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(b, outs.getTypes(), ins, outs, maps, iterators);
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types;
  for (Value value : llvm::concat<Value>(SmallVector<Value>(ins), SmallVector<Value>(outs)))
    types.push_back(elementOf(value.getType()));
  Block *block = b.createBlock(&generic.getRegion(), {}, types,
                               SmallVector<Location>(types.size(), b.getLoc()));
  FailureOr<SmallVector<Value>> results = body(block->getArguments());
  if (failed(results))
    return failure();
  linalg::YieldOp::create(b, *results);
  return generic;
}

Value buildCopy(ImplicitLocOpBuilder &b, Value input, AffineMap map, RankedTensorType result) {
  Value empty = tensor::EmptyOp::create(b, result.getShape(), result.getElementType());
  AffineMap identity = b.getMultiDimIdentityMap(result.getRank());
  auto body = [](ValueRange args) -> FailureOr<SmallVector<Value>> {
    return SmallVector<Value>{args.front()};
  };
  return buildGeneric(b, input, empty, {map, identity}, body)->getResult(0);
}

Value broadcast(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> dims,
                RankedTensorType result) {
  auto type = cast<RankedTensorType>(input.getType());
  if (TypedAttr element = splatElement(input))
    return splat(b, result, element);
  if (type == result && llvm::is_sorted(dims))
    return input;
  SmallVector<AffineExpr> exprs;
  for (auto [size, dim] : llvm::zip_equal(type.getShape(), dims)) {
    bool spread = size == 1 && result.getDimSize(dim) != 1;
    exprs.push_back(spread ? b.getAffineConstantExpr(0) : b.getAffineDimExpr(dim));
  }
  return buildCopy(b, input, AffineMap::get(result.getRank(), 0, exprs, b.getContext()), result);
}

Value reverse(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> dims) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<AffineExpr> exprs;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    AffineExpr expr = b.getAffineDimExpr(dim);
    if (llvm::is_contained(dims, dim) && type.getDimSize(dim) != 1)
      expr = b.getAffineConstantExpr(type.getDimSize(dim) - 1) - expr;
    exprs.push_back(expr);
  }
  AffineMap map = AffineMap::get(type.getRank(), 0, exprs, b.getContext());
  return map.isIdentity() ? input : buildCopy(b, input, map, type);
}

SmallVector<OpFoldResult> indexAttrs(Builder &b, ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values,
                             [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); });
}

namespace {

/// Cuts both shapes, which have the same non-zero number of elements, into the
/// longest sequence of runs with equal products; trailing ones join the last run.
void matchRuns(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
               SmallVector<ReassociationIndices> &fromRuns,
               SmallVector<ReassociationIndices> &toRuns) {
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    int64_t left = from[i], right = to[j];
    ReassociationIndices leftRun{static_cast<int64_t>(i++)}, rightRun{static_cast<int64_t>(j++)};
    while (left != right) {
      if (left < right) {
        left *= from[i];
        leftRun.push_back(i++);
      } else {
        right *= to[j];
        rightRun.push_back(j++);
      }
    }
    fromRuns.push_back(leftRun);
    toRuns.push_back(rightRun);
  }
  if (fromRuns.empty())
    return;
  for (; i < from.size(); ++i)
    fromRuns.back().push_back(i);
  for (; j < to.size(); ++j)
    toRuns.back().push_back(j);
}

} // namespace

Value reshape(ImplicitLocOpBuilder &b, Value input, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(input.getType());
  RankedTensorType result = type.clone(shape);
  if (type == result)
    return input;
  if (auto constant = input.getDefiningOp<arith::ConstantOp>())
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      return arith::ConstantOp::create(b, elements.reshape(result));
  if (result.getNumElements() == 0)
    return tensor::EmptyOp::create(b, shape, type.getElementType());
  SmallVector<ReassociationIndices> from, to;
  matchRuns(type.getShape(), shape, from, to);
  // One of the shapes is rank 0: the runs are empty and the other is all ones.
  SmallVector<int64_t> middle;
  for (const ReassociationIndices &run : from) {
    int64_t size = 1;
    for (int64_t dim : run)
      size *= type.getDimSize(dim);
    middle.push_back(size);
  }
  if (static_cast<int64_t>(middle.size()) != type.getRank())
    input = tensor::CollapseShapeOp::create(b, type.clone(middle), input, from);
  if (middle.size() != shape.size())
    input = tensor::ExpandShapeOp::create(b, result, input, to);
  return input;
}

Value extractScalar(ImplicitLocOpBuilder &b, Value tensor) {
  if (TypedAttr element = splatElement(tensor))
    return arith::ConstantOp::create(b, element);
  return tensor::ExtractOp::create(b, tensor, ValueRange());
}

SmallVector<int64_t> paddedShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> low,
                                 ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  SmallVector<int64_t> sizes;
  for (auto [size, before, after, between] : llvm::zip_equal(shape, low, high, interior))
    sizes.push_back(size + std::max<int64_t>(size - 1, 0) * between + before + after);
  return sizes;
}

namespace {

Value spreadOut(ImplicitLocOpBuilder &b, Value input, Value scalar, ArrayRef<int64_t> interior) {
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> zeros(type.getRank(), 0);
  RankedTensorType spread = type.clone(paddedShape(type.getShape(), zeros, zeros, interior));
  if (spread == type)
    return input;
  Value filled;
  if (TypedAttr element = splatElement(scalar)) {
    filled = splat(b, spread, element);
  } else {
    Value empty = tensor::EmptyOp::create(b, spread.getShape(), spread.getElementType());
    filled = linalg::FillOp::create(b, scalar, empty).getResult(0);
  }
  SmallVector<int64_t> strides = llvm::map_to_vector(interior, [](int64_t n) { return n + 1; });
  return tensor::InsertSliceOp::create(b, input, filled, indexAttrs(b, zeros),
                                       indexAttrs(b, type.getShape()), indexAttrs(b, strides));
}

} // namespace

Value pad(ImplicitLocOpBuilder &b, Value input, Value value, ArrayRef<int64_t> low,
          ArrayRef<int64_t> high, ArrayRef<int64_t> interior) {
  auto type = cast<RankedTensorType>(input.getType());
  RankedTensorType result = type.clone(paddedShape(type.getShape(), low, high, interior));
  if (type.getNumElements() == 0)
    return broadcast(b, value, {}, result);
  Value scalar = extractScalar(b, value);
  input = spreadOut(b, input, scalar, interior);
  type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> offsets, sizes, before, after;
  bool nothingLeft = false;
  for (auto [size, first, last] : llvm::zip_equal(type.getShape(), low, high)) {
    offsets.push_back(std::max<int64_t>(-first, 0));
    sizes.push_back(size + std::min<int64_t>(first, 0) + std::min<int64_t>(last, 0));
    before.push_back(std::max<int64_t>(first, 0));
    after.push_back(std::max<int64_t>(last, 0));
    nothingLeft |= sizes.back() <= 0;
  }
  // The size is negative if one edge cuts off more than there is and the other adds it back.
  if (nothingLeft)
    return broadcast(b, value, {}, result);
  if (ArrayRef<int64_t>(sizes) != type.getShape()) {
    SmallVector<int64_t> ones(sizes.size(), 1);
    input = tensor::ExtractSliceOp::create(b, input, indexAttrs(b, offsets), indexAttrs(b, sizes),
                                           indexAttrs(b, ones));
  }
  if (input.getType() == result)
    return input;
  return tensor::PadOp::create(b, result, input, indexAttrs(b, before), indexAttrs(b, after),
                               scalar);
}

} // namespace mlir::coll::stablehlo
