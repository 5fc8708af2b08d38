//===- stablehlo_convert.cc - elementwise operations of mixed types --------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "passes/import/stablehlo_attrs.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_elementwise.h"
#include "passes/import/stablehlo_handlers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <cmath>
#include <limits>

namespace mlir::coll::stablehlo {

LogicalResult importElementwise(Source &src) {
  SmallVector<Value> operands = src.operands();
  for (auto [index, operand] : llvm::enumerate(operands))
    if (operand.getType() != src.type() || src.operandKind(index) != src.kind())
      return src.error("needs operands of the result's type");
  Value result = findElementwise(src.name())->build(src.b, src.kind(), operands);
  if (!result)
    return src.error("is not defined on these elements");
  return src.finish(result);
}

LogicalResult importConstant(Source &src) {
  RankedTensorType type = src.tensor();
  Attribute value = src.op->getAttr("value");
  auto elements = dyn_cast_or_null<DenseElementsAttr>(value);
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    bool isSplat = false;
    if (!blob || !DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isSplat))
      return src.error("has a resource without valid data");
    elements = DenseElementsAttr::getFromRawBuffer(type, blob->getData());
  } else if (!elements || elements.getType() != src.op->getResult(0).getType()) {
    return src.error("needs dense elements of the result's type as its value");
  }
  if (elements.getElementType() != type.getElementType())
    elements = elements.bitcast(type.getElementType());
  if (!src.importer.inScalarBody())
    return src.finish(Value(arith::ConstantOp::create(src.b, elements)));
  return src.finish(Value(
      arith::ConstantOp::create(src.b, cast<TypedAttr>(*elements.getValues<Attribute>().begin()))));
}

namespace {

std::optional<arith::CmpFPredicate> floatPredicate(StringRef direction) {
  return llvm::StringSwitch<std::optional<arith::CmpFPredicate>>(direction)
      .Case("EQ", arith::CmpFPredicate::OEQ)
      .Case("NE", arith::CmpFPredicate::UNE)
      .Case("LT", arith::CmpFPredicate::OLT)
      .Case("LE", arith::CmpFPredicate::OLE)
      .Case("GT", arith::CmpFPredicate::OGT)
      .Case("GE", arith::CmpFPredicate::OGE)
      .Default(std::nullopt);
}

std::optional<arith::CmpIPredicate> intPredicate(StringRef direction, bool isSigned) {
  using P = arith::CmpIPredicate;
  return llvm::StringSwitch<std::optional<P>>(direction)
      .Case("EQ", P::eq)
      .Case("NE", P::ne)
      .Case("LT", isSigned ? P::slt : P::ult)
      .Case("LE", isSigned ? P::sle : P::ule)
      .Case("GT", isSigned ? P::sgt : P::ugt)
      .Case("GE", isSigned ? P::sge : P::uge)
      .Default(std::nullopt);
}

} // namespace

Value totalOrderKey(ImplicitLocOpBuilder &b, Value x) {
  unsigned width = elementOf(x.getType()).getIntOrFloatBitWidth();
  Type type = withElement(x.getType(), b.getIntegerType(width));
  Value bits = arith::BitcastOp::create(b, type, x);
  Value sign = arith::ShRSIOp::create(b, bits, splatInt(b, type, width - 1));
  Value flips = arith::ShRUIOp::create(b, sign, splatInt(b, type, 1));
  return arith::XOrIOp::create(b, bits, flips);
}

LogicalResult importCompare(Source &src) {
  FailureOr<StringRef> direction =
      getKeyword(src.op, "comparison_direction", "comparison_direction");
  FailureOr<StringRef> order = getKeyword(src.op, "compare_type", "comparison_type");
  if (failed(direction) || failed(order))
    return failure();
  Value x = src.operand(0), y = src.operand(1);
  if (x.getType() != y.getType() || src.operandKind(0) != src.operandKind(1))
    return src.error("needs operands of one type");
  if (withElement(x.getType(), src.b.getI1Type()) != src.type())
    return src.error("needs an i1 result of the operands' shape");
  ElementKind kind = src.operandKind(0);
  if (kind == ElementKind::Float && *order == "TOTALORDER") {
    x = totalOrderKey(src.b, x);
    y = totalOrderKey(src.b, y);
    kind = ElementKind::Signed;
  }
  if (kind == ElementKind::Float) {
    if (auto predicate = floatPredicate(*direction))
      return src.finish(Value(arith::CmpFOp::create(src.b, *predicate, x, y)));
  } else if (auto predicate = intPredicate(*direction, kind == ElementKind::Signed)) {
    return src.finish(Value(arith::CmpIOp::create(src.b, *predicate, x, y)));
  }
  return src.error("has unknown comparison_direction '" + *direction + "'");
}

namespace {

/// `value` itself, or broadcast from rank 0 to the shape of `like`.
Value spreadLike(Source &src, Value value, Type like) {
  auto tensor = dyn_cast<RankedTensorType>(like);
  auto own = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor || !own || own.getRank() != 0)
    return value;
  return broadcast(src.b, value, {}, tensor.clone(own.getElementType()));
}

} // namespace

LogicalResult importSelect(Source &src) {
  Value condition = spreadLike(src, src.operand(0), src.type());
  if (condition.getType() != withElement(src.type(), src.b.getI1Type()))
    return src.error("needs an i1 predicate of rank 0 or of the result's shape");
  if (src.operand(1).getType() != src.type() || src.operand(2).getType() != src.type())
    return src.error("needs both choices of the result's type");
  return src.finish(
      Value(arith::SelectOp::create(src.b, condition, src.operand(1), src.operand(2))));
}

LogicalResult importClamp(Source &src) {
  Value low = spreadLike(src, src.operand(0), src.type());
  Value high = spreadLike(src, src.operand(2), src.type());
  Value value = src.operand(1);
  for (Value operand : {low, value, high})
    if (operand.getType() != src.type())
      return src.error("needs operands of the result's type, or bounds of rank 0");
  Value raised = findElementwise("stablehlo.maximum")->build(src.b, src.kind(), {value, low});
  return src.finish(findElementwise("stablehlo.minimum")->build(src.b, src.kind(), {raised, high}));
}

namespace {

Value isNonZero(ImplicitLocOpBuilder &b, ElementKind kind, Value x) {
  Value zero = splatZero(b, x.getType());
  if (kind == ElementKind::Float)
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, x, zero);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, x, zero);
}

Value convertFloat(ImplicitLocOpBuilder &b, Value x, Type type) {
  unsigned from = elementOf(x.getType()).getIntOrFloatBitWidth();
  unsigned to = elementOf(type).getIntOrFloatBitWidth();
  if (x.getType() == type)
    return x;
  Type wide = withElement(type, b.getF32Type());
  // f64 to a narrow float rounds twice, as XLA does.
  if (from == 64 && to < 32 && !elementOf(type).isF16())
    return arith::TruncFOp::create(b, type, arith::TruncFOp::create(b, wide, x));
  if (from < to)
    return arith::ExtFOp::create(b, type, x);
  if (from > to)
    return arith::TruncFOp::create(b, type, x);
  // Neither of two formats of one width contains the other.
  return arith::TruncFOp::create(b, type, arith::ExtFOp::create(b, wide, x));
}

Value convertInt(ImplicitLocOpBuilder &b, ElementKind kind, Value x, Type type) {
  unsigned from = elementOf(x.getType()).getIntOrFloatBitWidth();
  unsigned to = elementOf(type).getIntOrFloatBitWidth();
  if (from == to)
    return x;
  if (from > to)
    return arith::TruncIOp::create(b, type, x);
  if (kind == ElementKind::Signed)
    return arith::ExtSIOp::create(b, type, x);
  return arith::ExtUIOp::create(b, type, x);
}

/// Rounds towards zero. Values that do not fit become the nearest integer that does, and NaN
/// becomes 0. The conversion itself only sees values in range.
Value convertFloatToInt(ImplicitLocOpBuilder &b, Value x, Type type, bool isSigned) {
  unsigned width = elementOf(type).getIntOrFloatBitWidth();
  if (elementOf(x.getType()).getIntOrFloatBitWidth() < 32)
    x = convertFloat(b, x, withElement(type, b.getF32Type()));
  Type floatType = x.getType();
  double limit = std::ldexp(1.0, isSigned ? width - 1 : width);
  Value low = splatFloat(b, floatType, isSigned ? -limit : 0.0);
  Value high = splatFloat(b, floatType, limit);
  Value reachesLow = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x, low);
  Value belowHigh = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, high);
  Value inRange = arith::AndIOp::create(b, reachesLow, belowHigh);
  Value safe = arith::SelectOp::create(b, inRange, x, splatZero(b, floatType));
  Value result = isSigned ? Value(arith::FPToSIOp::create(b, type, safe))
                          : Value(arith::FPToUIOp::create(b, type, safe));
  Value tooHigh = arith::CmpFOp::create(b, arith::CmpFPredicate::OGE, x, high);
  APInt max = isSigned ? APInt::getSignedMaxValue(width) : APInt::getMaxValue(width);
  result = arith::SelectOp::create(b, tooHigh, splatInt(b, type, max), result);
  if (!isSigned)
    return result;
  Value tooLow = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, low);
  APInt min = APInt::getSignedMinValue(width);
  return arith::SelectOp::create(b, tooLow, splatInt(b, type, min), result);
}

Value convertElements(ImplicitLocOpBuilder &b, ElementKind from, ElementKind to, Value x,
                      Type type) {
  if (to == ElementKind::Bool)
    return from == ElementKind::Bool ? x : isNonZero(b, from, x);
  if (from == ElementKind::Float)
    return to == ElementKind::Float ? convertFloat(b, x, type)
                                    : convertFloatToInt(b, x, type, to == ElementKind::Signed);
  if (to != ElementKind::Float)
    return convertInt(b, from, x, type);
  if (from == ElementKind::Signed)
    return arith::SIToFPOp::create(b, type, x);
  return arith::UIToFPOp::create(b, type, x);
}

} // namespace

LogicalResult importConvert(Source &src) {
  Value x = src.operand(0);
  if (withElement(x.getType(), elementOf(src.type())) != src.type())
    return src.error("needs a result of the operand's shape");
  return src.finish(convertElements(src.b, src.operandKind(0), src.kind(), x, src.type()));
}

namespace {

/// Splits each wide integer into `result`'s last dimension, low bits first.
Value splitBits(ImplicitLocOpBuilder &b, Value wide, RankedTensorType result) {
  Type part = result.getElementType();
  unsigned width = part.getIntOrFloatBitWidth();
  int64_t rank = result.getRank();
  AffineMap all = b.getMultiDimIdentityMap(rank);
  Value empty = tensor::EmptyOp::create(b, result.getShape(), part);
  auto body = [&](ValueRange args) -> FailureOr<SmallVector<Value>> {
    Type whole = args[0].getType();
    Value index = linalg::IndexOp::create(b, rank - 1);
    Value position = arith::IndexCastOp::create(b, whole, index);
    Value shift = arith::MulIOp::create(b, position, splatInt(b, whole, width));
    Value shifted = arith::ShRUIOp::create(b, args[0], shift);
    return SmallVector<Value>{arith::TruncIOp::create(b, part, shifted)};
  };
  return buildGeneric(b, wide, empty, {all.dropResult(rank - 1), all}, body)->getResult(0);
}

/// Joins the last dimension of `parts` into wide integers, low bits first.
Value joinBits(ImplicitLocOpBuilder &b, Value parts, RankedTensorType result) {
  auto type = cast<RankedTensorType>(parts.getType());
  int64_t rank = result.getRank();
  SmallVector<int64_t> offsets(rank + 1, 0), ones(rank + 1, 1), sizes(type.getShape());
  sizes.back() = 1;
  Value joined;
  for (int64_t part = 0; part < type.getShape().back(); ++part) {
    offsets.back() = part;
    Value slice = tensor::ExtractSliceOp::create(b, result.clone(type.getElementType()), parts,
                                                 indexAttrs(b, offsets), indexAttrs(b, sizes),
                                                 indexAttrs(b, ones));
    Value wide = arith::ExtUIOp::create(b, result, slice);
    if (part > 0)
      wide =
          arith::ShLIOp::create(b, wide, splatInt(b, result, part * type.getElementTypeBitWidth()));
    joined = joined ? Value(arith::OrIOp::create(b, joined, wide)) : wide;
  }
  return joined;
}

} // namespace

LogicalResult importBitcastConvert(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  if (src.operandKind(0) == ElementKind::Bool || src.kind() == ElementKind::Bool)
    return src.error("is not defined on i1");
  Value x = src.operand(0);
  unsigned from = elementOf(x.getType()).getIntOrFloatBitWidth();
  unsigned to = elementOf(src.type()).getIntOrFloatBitWidth();
  auto asInt = [&](Value value) -> Value {
    unsigned width = elementOf(value.getType()).getIntOrFloatBitWidth();
    Type type = withElement(value.getType(), b.getIntegerType(width));
    return type == value.getType() ? value : Value(arith::BitcastOp::create(b, type, value));
  };
  auto asResult = [&](Value value) -> Value {
    return value.getType() == src.type() ? value
                                         : Value(arith::BitcastOp::create(b, src.type(), value));
  };
  if (from == to) {
    if (withElement(x.getType(), elementOf(src.type())) != src.type())
      return src.error("needs a result of the operand's shape");
    return src.finish(asResult(x));
  }
  if (src.importer.inScalarBody())
    return src.error("must keep the width inside a scalar body");
  // One of the types has one more dimension, which holds the parts of the other.
  RankedTensorType many = from < to ? src.operandTensor(0) : src.tensor();
  RankedTensorType few = from < to ? src.tensor() : src.operandTensor(0);
  int64_t parts = std::max(from, to) / std::min(from, to);
  if (many.getRank() != few.getRank() + 1 || many.getShape().back() != parts ||
      many.getShape().drop_back() != few.getShape())
    return src.error("needs a last dimension of " + Twine(parts) + " for the narrower type");
  RankedTensorType intType = src.tensor().clone(b.getIntegerType(to));
  Value bits = from < to ? joinBits(b, asInt(x), intType) : splitBits(b, asInt(x), intType);
  return src.finish(asResult(bits));
}

LogicalResult importReducePrecision(Source &src) {
  FailureOr<int64_t> exponent = getInt(src.op, "exponent_bits");
  FailureOr<int64_t> mantissa = getInt(src.op, "mantissa_bits");
  if (failed(exponent) || failed(mantissa))
    return failure();
  if (*exponent < 1 || *mantissa < 0)
    return src.error("needs exponent_bits >= 1 and mantissa_bits >= 0");
  if (src.kind() != ElementKind::Float || src.operand(0).getType() != src.type())
    return src.error("needs a float operand of the result's type");
  // Eight-bit formats are too narrow for the arithmetic on their codes.
  Type wide = withElement(src.type(), src.b.getF32Type());
  bool isByte = elementOf(src.type()).getIntOrFloatBitWidth() == 8;
  Value x = isByte ? convertFloat(src.b, src.operand(0), wide) : src.operand(0);
  Value reduced = buildReducePrecision(src.b, x, *exponent, *mantissa);
  return src.finish(convertFloat(src.b, reduced, src.type()));
}

LogicalResult importFloatClass(Source &src) {
  ImplicitLocOpBuilder &b = src.b;
  Value x = src.operand(0);
  if (src.operandKind(0) != ElementKind::Float ||
      withElement(x.getType(), b.getI1Type()) != src.type())
    return src.error("needs a float operand and an i1 result of its shape");
  // Not every eight-bit format has infinities, so f32 decides.
  if (elementOf(x.getType()).getIntOrFloatBitWidth() == 8)
    x = convertFloat(b, x, withElement(x.getType(), b.getF32Type()));
  bool isNegative = src.name() == "chlo.is_neg_inf";
  double infinity = std::numeric_limits<double>::infinity();
  Value limit = splatFloat(b, x.getType(), isNegative ? -infinity : infinity);
  bool isSignedClass = isNegative || src.name() == "chlo.is_pos_inf";
  Value tested = isSignedClass ? x : Value(math::AbsFOp::create(b, x));
  arith::CmpFPredicate predicate =
      src.name() == "stablehlo.is_finite" ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OEQ;
  return src.finish(Value(arith::CmpFOp::create(b, predicate, tested, limit)));
}

} // namespace mlir::coll::stablehlo
