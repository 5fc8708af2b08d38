//===- stablehlo_elementwise.cc - elementwise arithmetic -------------------------===//

#include "passes/import/stablehlo_elementwise.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/import/stablehlo_build.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::coll::stablehlo {

namespace {

template <typename Op>
Value floatUnary(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return kind == ElementKind::Float ? Value(Op::create(b, x[0])) : Value();
}

/// Built from four operations; `void` where a kind has none.
template <typename Op>
Value createBinary(ImplicitLocOpBuilder &b, ValueRange x) {
  if constexpr (std::is_void_v<Op>)
    return {};
  else
    return Op::create(b, x[0], x[1]);
}
template <typename FloatOp, typename SignedOp, typename UnsignedOp, typename BoolOp>
Value binary(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  switch (kind) {
  case ElementKind::Float:
    return createBinary<FloatOp>(b, x);
  case ElementKind::Signed:
    return createBinary<SignedOp>(b, x);
  case ElementKind::Unsigned:
    return createBinary<UnsignedOp>(b, x);
  case ElementKind::Bool:
    return createBinary<BoolOp>(b, x);
  }
  return {};
}

template <typename Op>
constexpr ElementwiseFn bitwise = binary<void, Op, Op, Op>;

Value buildNot(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind == ElementKind::Float)
    return {};
  return arith::XOrIOp::create(b, x[0], splatInt(b, x[0].getType(), -1));
}

Value buildNegate(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind == ElementKind::Float)
    return arith::NegFOp::create(b, x[0]);
  if (kind == ElementKind::Bool)
    return {};
  return arith::SubIOp::create(b, splatZero(b, x[0].getType()), x[0]);
}

Value buildAbs(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind == ElementKind::Float)
    return math::AbsFOp::create(b, x[0]);
  return kind == ElementKind::Signed ? Value(math::AbsIOp::create(b, x[0])) : Value();
}

Value buildSquare(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return binary<arith::MulFOp, arith::MulIOp, arith::MulIOp, void>(b, kind, {x[0], x[0]});
}

template <typename Op>
Value countBits(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  bool isInteger = kind == ElementKind::Signed || kind == ElementKind::Unsigned;
  return isInteger ? Value(Op::create(b, x[0])) : Value();
}

// clang-format off
constexpr ElementwiseRule kRules[] = {
    {"chlo.acos", 1, floatUnary<math::AcosOp>},
    {"chlo.acosh", 1, floatUnary<math::AcoshOp>},
    {"chlo.asin", 1, floatUnary<math::AsinOp>},
    {"chlo.asinh", 1, floatUnary<math::AsinhOp>},
    {"chlo.atan", 1, floatUnary<math::AtanOp>},
    {"chlo.atanh", 1, floatUnary<math::AtanhOp>},
    {"chlo.bessel_i1e", 1, buildBesselI1e},
    {"chlo.cosh", 1, floatUnary<math::CoshOp>},
    {"chlo.digamma", 1, buildDigamma},
    {"chlo.erf", 1, floatUnary<math::ErfOp>},
    {"chlo.erf_inv", 1, buildErfInv},
    {"chlo.erfc", 1, floatUnary<math::ErfcOp>},
    {"chlo.lgamma", 1, buildLgamma},
    {"chlo.next_after", 2, buildNextAfter},
    {"chlo.polygamma", 2, buildPolygamma},
    {"chlo.sinh", 1, floatUnary<math::SinhOp>},
    {"chlo.square", 1, buildSquare},
    {"chlo.tan", 1, floatUnary<math::TanOp>},
    {"chlo.zeta", 2, buildZeta},
    {"stablehlo.abs", 1, buildAbs},
    {"stablehlo.add", 2, binary<arith::AddFOp, arith::AddIOp, arith::AddIOp, arith::OrIOp>},
    {"stablehlo.and", 2, bitwise<arith::AndIOp>},
    {"stablehlo.atan2", 2, binary<math::Atan2Op, void, void, void>},
    {"stablehlo.cbrt", 1, floatUnary<math::CbrtOp>},
    {"stablehlo.ceil", 1, floatUnary<math::CeilOp>},
    {"stablehlo.cosine", 1, floatUnary<math::CosOp>},
    {"stablehlo.count_leading_zeros", 1, countBits<math::CountLeadingZerosOp>},
    {"stablehlo.divide", 2, buildDivide},
    {"stablehlo.exponential", 1, floatUnary<math::ExpOp>},
    {"stablehlo.exponential_minus_one", 1, floatUnary<math::ExpM1Op>},
    {"stablehlo.floor", 1, floatUnary<math::FloorOp>},
    {"stablehlo.log", 1, floatUnary<math::LogOp>},
    {"stablehlo.log_plus_one", 1, floatUnary<math::Log1pOp>},
    {"stablehlo.logistic", 1, buildLogistic},
    {"stablehlo.maximum", 2, binary<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp, arith::OrIOp>},
    {"stablehlo.minimum", 2, binary<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp, arith::AndIOp>},
    {"stablehlo.multiply", 2, binary<arith::MulFOp, arith::MulIOp, arith::MulIOp, arith::AndIOp>},
    {"stablehlo.negate", 1, buildNegate},
    {"stablehlo.not", 1, buildNot},
    {"stablehlo.or", 2, bitwise<arith::OrIOp>},
    {"stablehlo.popcnt", 1, countBits<math::CtPopOp>},
    {"stablehlo.power", 2, buildPower},
    {"stablehlo.remainder", 2, buildRemainder},
    {"stablehlo.round_nearest_afz", 1, floatUnary<math::RoundOp>},
    {"stablehlo.round_nearest_even", 1, floatUnary<math::RoundEvenOp>},
    {"stablehlo.rsqrt", 1, floatUnary<math::RsqrtOp>},
    {"stablehlo.shift_left", 2, buildShiftLeft},
    {"stablehlo.shift_right_arithmetic", 2, buildShiftRightArithmetic},
    {"stablehlo.shift_right_logical", 2, buildShiftRightLogical},
    {"stablehlo.sign", 1, buildSign},
    {"stablehlo.sine", 1, floatUnary<math::SinOp>},
    {"stablehlo.sqrt", 1, floatUnary<math::SqrtOp>},
    {"stablehlo.subtract", 2, binary<arith::SubFOp, arith::SubIOp, arith::SubIOp, void>},
    {"stablehlo.tan", 1, floatUnary<math::TanOp>},
    {"stablehlo.tanh", 1, floatUnary<math::TanhOp>},
    {"stablehlo.xor", 2, bitwise<arith::XOrIOp>},
};
// clang-format on

} // namespace

const ElementwiseRule *findElementwise(StringRef name) {
  static const llvm::StringMap<const ElementwiseRule *> byName = [] {
    llvm::StringMap<const ElementwiseRule *> map;
    for (const ElementwiseRule &rule : kRules)
      map[rule.name] = &rule;
    return map;
  }();
  return byName.lookup(name);
}

} // namespace mlir::coll::stablehlo
