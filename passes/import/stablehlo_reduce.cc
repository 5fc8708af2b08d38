//===- stablehlo_reduce.cc - reductions and contractions -------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_contract.h"
#include "passes/import/stablehlo_handlers.h"
#include "passes/import/stablehlo_reduction.h"
#include "llvm/ADT/STLExtras.h"

namespace mlir::coll::stablehlo {

namespace {

/// e with op(e, x) = x for every x; null if the operation has none.
TypedAttr identityOf(StringRef name, ElementKind kind, Type element) {
  Builder b(element.getContext());
  if (kind == ElementKind::Float) {
    const llvm::fltSemantics &semantics = cast<FloatType>(element).getFloatSemantics();
    if (name == "stablehlo.add")
      return b.getFloatAttr(element, 0.0);
    if (name == "stablehlo.multiply")
      return b.getFloatAttr(element, 1.0);
    // Formats without infinities start from their largest finite value.
    bool hasInf = llvm::APFloat::semanticsHasInf(semantics);
    bool isMaximum = name == "stablehlo.maximum";
    if (isMaximum || name == "stablehlo.minimum")
      return b.getFloatAttr(element, hasInf ? llvm::APFloat::getInf(semantics, isMaximum)
                                            : llvm::APFloat::getLargest(semantics, isMaximum));
    return {};
  }
  unsigned width = element.getIntOrFloatBitWidth();
  bool isSigned = kind == ElementKind::Signed;
  // On i1, sum and maximum are "or", product and minimum are "and".
  if (name == "stablehlo.add" || name == "stablehlo.or" || name == "stablehlo.xor")
    return b.getIntegerAttr(element, APInt::getZero(width));
  if (name == "stablehlo.and")
    return b.getIntegerAttr(element, APInt::getAllOnes(width));
  if (name == "stablehlo.multiply")
    return b.getIntegerAttr(element, APInt(width, 1));
  if (name == "stablehlo.maximum")
    return b.getIntegerAttr(element,
                            isSigned ? APInt::getSignedMinValue(width) : APInt::getZero(width));
  if (name == "stablehlo.minimum")
    return b.getIntegerAttr(element,
                            isSigned ? APInt::getSignedMaxValue(width) : APInt::getAllOnes(width));
  return {};
}

/// The operation that a region on (accumulator, element) consists of, or null.
Operation *singleOperation(Region &region) {
  if (!llvm::hasSingleElement(region) || region.getNumArguments() != 2)
    return nullptr;
  Block &block = region.front();
  if (block.getOperations().size() != 2)
    return nullptr;
  Operation &op = block.front(), &end = block.back();
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 || op.getNumRegions() != 0 ||
      end.getNumOperands() != 1 || end.getOperand(0) != op.getResult(0))
    return nullptr;
  Value x = block.getArgument(0), y = block.getArgument(1);
  bool inOrder = op.getOperand(0) == x && op.getOperand(1) == y;
  bool swapped = op.getOperand(0) == y && op.getOperand(1) == x;
  bool keepsType = x.getType() == y.getType() && x.getType() == op.getResult(0).getType();
  return (inOrder || swapped) && keepsType ? &op : nullptr;
}

} // namespace

FailureOr<Reduction> Reduction::get(Source &src) {
  Reduction reduction;
  unsigned numInputs = src.op->getNumOperands() / 2;
  if (numInputs == 0 || src.op->getNumOperands() % 2 != 0 || src.op->getNumResults() != numInputs)
    return src.error("needs inputs, as many initial values, and as many results");
  for (unsigned i = 0; i < numInputs; ++i) {
    RankedTensorType input = src.operandTensor(i), init = src.operandTensor(numInputs + i);
    if (init.getRank() != 0)
      return src.error("needs initial values of rank 0");
    if (init.getElementType() != input.getElementType() ||
        src.tensor(i).getElementType() != input.getElementType())
      return src.error("needs inputs, initial values and results of one element type");
    if (input.getShape() != src.operandTensor(0).getShape())
      return src.error("needs inputs of one shape");
  }
  reduction.numInputs_ = numInputs;
  Operation *single = numInputs == 1 ? singleOperation(src.op->getRegion(0)) : nullptr;
  if (!single || single->getResult(0).getType() != src.op->getOperand(1).getType())
    return reduction;
  StringRef name = single->getName().getStringRef();
  reduction.identity_ = identityOf(name, src.kind(), src.tensor().getElementType());
  if (reduction.identity_)
    reduction.rule_ = findElementwise(name);
  return reduction;
}

SmallVector<Value> Reduction::starts(Source &src) const {
  if (rule_)
    return {splat(src.b, src.tensor(), identity_)};
  SmallVector<Value> starts;
  for (unsigned i = 0; i < numInputs_; ++i)
    starts.push_back(broadcast(src.b, src.operand(numInputs_ + i), {}, src.tensor(i)));
  return starts;
}

Value Reduction::padding(Source &src, unsigned i) const {
  if (!rule_)
    return src.operand(numInputs_ + i);
  return splat(src.b, src.operandTensor(numInputs_ + i), identity_);
}

FailureOr<SmallVector<Value>> Reduction::combine(Source &src, ValueRange accumulators,
                                                 ValueRange elements) const {
  SmallVector<Value> args(accumulators);
  llvm::append_range(args, elements);
  FailureOr<SmallVector<Value>> results =
      src.importer.importScalarRegion(src.op, src.op->getRegion(0), args);
  if (failed(results))
    return failure();
  bool agrees = results->size() == accumulators.size() &&
                llvm::equal(ValueRange(*results).getTypes(), accumulators.getTypes());
  if (!agrees)
    return src.error("needs a region that returns the initial values' types");
  return results;
}

SmallVector<Value> Reduction::finish(Source &src, ValueRange reduced) const {
  // -0.0 compares equal to 0.0 and is an identity of the sum as well.
  auto isIdentity = [&](TypedAttr init) {
    auto number = dyn_cast_or_null<FloatAttr>(init);
    auto identity = dyn_cast<FloatAttr>(identity_);
    return init == identity_ ||
           (number && identity && number.getValue().isZero() && identity.getValue().isZero());
  };
  if (!rule_ || isIdentity(splatElement(src.operand(1))))
    return SmallVector<Value>(reduced);
  Value init = broadcast(src.b, src.operand(1), {}, src.tensor());
  return {rule_->build(src.b, src.kind(), {init, reduced.front()})};
}

LogicalResult importReduce(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  FailureOr<Reduction> reduction = Reduction::get(src);
  FailureOr<SmallVector<int64_t>> dims = getIntList(src.op, "dimensions");
  if (failed(reduction) || failed(dims))
    return failure();
  RankedTensorType input = src.operandTensor(0);
  int64_t rank = input.getRank();
  if (!areDistinctDims(*dims, rank))
    return src.error("needs distinct dimensions within the inputs' rank");
  SmallVector<unsigned> kept;
  SmallVector<int64_t> shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(*dims, dim)) {
      kept.push_back(dim);
      shape.push_back(input.getDimSize(dim));
    }
  for (unsigned i = 0; i < reduction->numInputs(); ++i)
    if (src.tensor(i).getShape() != ArrayRef<int64_t>(shape))
      return src.error("needs results of the inputs' shape without the reduced dimensions");

  unsigned n = reduction->numInputs();
  if (input.getNumElements() == 0) {
    SmallVector<Value> initial;
    for (unsigned i = 0; i < n; ++i)
      initial.push_back(broadcast(b, src.operand(n + i), {}, src.tensor(i)));
    return src.finish(initial);
  }
  // Loops: the inputs' dimensions.
  AffineMap all = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps(n, all);
  maps.append(n, all.getSubMap(kept));
  SmallVector<Value> inputs = src.operands();
  inputs.truncate(n);
  auto body = [&](ValueRange args) {
    return reduction->combine(src, args.drop_front(n), args.take_front(n));
  };
  FailureOr<linalg::GenericOp> generic =
      buildGeneric(b, inputs, reduction->starts(src), maps, body);
  if (failed(generic))
    return failure();
  return src.finish(reduction->finish(src, generic->getResults()));
}

Type accumulatorType(Type element) {
  bool isHalf = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  return isHalf ? Type(Float32Type::get(element.getContext())) : element;
}

namespace {

Value widen(ImplicitLocOpBuilder &b, ElementKind kind, Value x, Type type) {
  if (x.getType() == type)
    return x;
  if (kind == ElementKind::Float)
    return arith::ExtFOp::create(b, type, x);
  if (kind == ElementKind::Signed)
    return arith::ExtSIOp::create(b, type, x);
  return arith::ExtUIOp::create(b, type, x);
}

} // namespace

LogicalResult checkContraction(Source &src) {
  for (unsigned i : {0u, 1u}) {
    bool isFloat = src.operandKind(i) == ElementKind::Float;
    unsigned width = src.operandTensor(i).getElementTypeBitWidth();
    Type result = accumulatorType(src.tensor().getElementType());
    Type element = src.operandTensor(i).getElementType();
    if (isFloat != isa<FloatType>(result) ||
        (element != result && width >= result.getIntOrFloatBitWidth()))
      return src.error("needs a result whose elements hold the operands' elements");
  }
  return success();
}

FailureOr<Value> buildContraction(Source &src, Value lhs, Value rhs, ArrayRef<int64_t> shape,
                                  ArrayRef<AffineMap> maps) {
  ImplicitLocOpBuilder &b = src.b;
  Type element = src.tensor().getElementType();
  Type accumulator = accumulatorType(element);
  RankedTensorType type = RankedTensorType::get(shape, accumulator);
  for (Value operand : {lhs, rhs}) // sums over nothing
    if (cast<RankedTensorType>(operand.getType()).getNumElements() == 0)
      return splatZero(b, type.clone(element));
  auto body = [&](ValueRange args) -> FailureOr<SmallVector<Value>> {
    ElementKind kind = src.kind();
    Value x = widen(b, src.operandKind(0), args[0], accumulator);
    Value y = widen(b, src.operandKind(1), args[1], accumulator);
    Value product = findElementwise("stablehlo.multiply")->build(b, kind, {x, y});
    return SmallVector<Value>{findElementwise("stablehlo.add")->build(b, kind, {args[2], product})};
  };
  FailureOr<linalg::GenericOp> generic =
      buildGeneric(b, {lhs, rhs}, splatZero(b, type), maps, body);
  FailureOr<StringRef> precision = getPrecision(src.op);
  if (failed(generic) || failed(precision))
    return failure();
  if (!precision->empty() && src.operandTensor(0).getElementType().isF32())
    (*generic)->setAttr(kPrecisionAttr, b.getStringAttr(*precision));
  Value result = generic->getResult(0);
  if (element != accumulator)
    result = arith::TruncFOp::create(b, type.clone(element), result);
  return result;
}

LogicalResult importDotGeneral(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  FailureOr<Fields> fields = getFields(src.op, "dot_dimension_numbers", "dot");
  if (failed(fields) || failed(checkContraction(src)))
    return failure();
  RankedTensorType types[] = {src.operandTensor(0), src.operandTensor(1)};
  ArrayRef<int64_t> batch[] = {fields->list("lhs_batching_dimensions"),
                               fields->list("rhs_batching_dimensions")};
  ArrayRef<int64_t> contracted[] = {fields->list("lhs_contracting_dimensions"),
                                    fields->list("rhs_contracting_dimensions")};
  if (batch[0].size() != batch[1].size() || contracted[0].size() != contracted[1].size())
    return src.error("needs as many batching and contracting dimensions on both sides");
  for (int side : {0, 1}) {
    SmallVector<int64_t> dims(batch[side]);
    llvm::append_range(dims, contracted[side]);
    if (!areDistinctDims(dims, types[side].getRank()))
      return src.error("needs distinct dimension numbers within the operands' ranks");
  }
  for (auto &pair : {batch, contracted})
    for (auto [left, right] : llvm::zip_equal(pair[0], pair[1]))
      if (types[0].getDimSize(left) != types[1].getDimSize(right))
        return src.error("needs equal sizes in paired dimensions");

  // Loops: batch, free dimensions of the left, of the right, contracted.
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs[] = {SmallVector<AffineExpr>(types[0].getRank()),
                                     SmallVector<AffineExpr>(types[1].getRank())};
  unsigned loop = 0;
  for (auto [left, right] : llvm::zip_equal(batch[0], batch[1])) {
    exprs[0][left] = exprs[1][right] = b.getAffineDimExpr(loop++);
    shape.push_back(types[0].getDimSize(left));
  }
  for (int side : {0, 1})
    for (int64_t dim = 0; dim < types[side].getRank(); ++dim) {
      if (llvm::is_contained(batch[side], dim) || llvm::is_contained(contracted[side], dim))
        continue;
      exprs[side][dim] = b.getAffineDimExpr(loop++);
      shape.push_back(types[side].getDimSize(dim));
    }
  unsigned numParallel = loop;
  for (auto [left, right] : llvm::zip_equal(contracted[0], contracted[1]))
    exprs[0][left] = exprs[1][right] = b.getAffineDimExpr(loop++);
  if (src.tensor().getShape() != ArrayRef<int64_t>(shape))
    return src.error("needs the result's shape to be batch, left and right dimensions");
  AffineMap maps[] = {
      AffineMap::get(loop, 0, exprs[0], b.getContext()),
      AffineMap::get(loop, 0, exprs[1], b.getContext()),
      AffineMap::getMultiDimIdentityMap(loop, b.getContext()).getSliceMap(0, numParallel)};
  FailureOr<Value> result = buildContraction(src, src.operand(0), src.operand(1), shape, maps);
  if (failed(result))
    return failure();
  return src.finish(*result);
}

} // namespace mlir::coll::stablehlo
