//===- stablehlo_math.cc - decompositions of elementwise arithmetic --------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_elementwise.h"

#include <limits>

namespace mlir::coll::stablehlo {

namespace {

unsigned widthOf(Type like) { return elementOf(like).getIntOrFloatBitWidth(); }

Value equals(ImplicitLocOpBuilder &b, Value x, const APInt &value) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, x, splatInt(b, x.getType(), value));
}

/// Whether `divisor` is a constant that can neither trap nor overflow.
bool isSafeDivisor(Value divisor) {
  std::optional<APInt> value = splatInteger(divisor);
  return value && !value->isZero() && !value->isAllOnes();
}

/// `divisor` with 1 in place of values that would trap: 0, and -1 below INT_MIN.
Value safeDivisor(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x, Value isZero) {
  Value traps = isZero;
  if (kind == ElementKind::Signed) {
    unsigned width = widthOf(x[0].getType());
    Value isMin = equals(b, x[0], APInt::getSignedMinValue(width));
    Value isMinusOne = equals(b, x[1], APInt::getAllOnes(width));
    traps = arith::OrIOp::create(b, isZero, arith::AndIOp::create(b, isMin, isMinusOne));
  }
  return arith::SelectOp::create(b, traps, splatInt(b, x[1].getType(), 1), x[1]);
}

template <typename SignedOp, typename UnsignedOp>
Value divideIntegers(ImplicitLocOpBuilder &b, ElementKind kind, Value x, Value y) {
  if (kind == ElementKind::Signed)
    return SignedOp::create(b, x, y);
  return UnsignedOp::create(b, x, y);
}

Value isZeroInteger(ImplicitLocOpBuilder &b, Value x) {
  return equals(b, x, APInt::getZero(widthOf(x.getType())));
}

} // namespace

Value buildDivide(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind == ElementKind::Float)
    return arith::DivFOp::create(b, x[0], x[1]);
  if (kind == ElementKind::Bool)
    return {};
  if (isSafeDivisor(x[1]))
    return divideIntegers<arith::DivSIOp, arith::DivUIOp>(b, kind, x[0], x[1]);
  Value isZero = isZeroInteger(b, x[1]);
  Value quotient = divideIntegers<arith::DivSIOp, arith::DivUIOp>(b, kind, x[0],
                                                                  safeDivisor(b, kind, x, isZero));
  return arith::SelectOp::create(b, isZero, splatInt(b, x[0].getType(), -1), quotient);
}

Value buildRemainder(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind == ElementKind::Float)
    return arith::RemFOp::create(b, x[0], x[1]);
  if (kind == ElementKind::Bool)
    return {};
  if (isSafeDivisor(x[1]))
    return divideIntegers<arith::RemSIOp, arith::RemUIOp>(b, kind, x[0], x[1]);
  Value isZero = isZeroInteger(b, x[1]);
  Value remainder = divideIntegers<arith::RemSIOp, arith::RemUIOp>(b, kind, x[0],
                                                                   safeDivisor(b, kind, x, isZero));
  return arith::SelectOp::create(b, isZero, x[0], remainder);
}

namespace {

/// base ^ exponent modulo 2^width, the exponent read as unsigned. A constant
/// exponent costs only its own bits.
Value powerBySquaring(ImplicitLocOpBuilder &b, Value base, Value exponent) {
  Type type = base.getType();
  unsigned width = widthOf(type);
  std::optional<APInt> constant = splatInteger(exponent);
  unsigned bits = constant ? constant->getActiveBits() : width;
  Value result = splatInt(b, type, 1);
  for (unsigned bit = 0; bit < bits; ++bit) {
    if (constant) {
      if ((*constant)[bit])
        result = arith::MulIOp::create(b, result, base);
    } else {
      Value mask = splatInt(b, type, APInt::getOneBitSet(width, bit));
      Value isClear = isZeroInteger(b, arith::AndIOp::create(b, exponent, mask));
      Value product = arith::MulIOp::create(b, result, base);
      result = arith::SelectOp::create(b, isClear, result, product);
    }
    if (bit + 1 < bits)
      base = arith::MulIOp::create(b, base, base);
  }
  return result;
}

} // namespace

Value buildPower(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind == ElementKind::Float)
    return math::PowFOp::create(b, x[0], x[1]);
  if (kind == ElementKind::Bool)
    return {};
  Value power = powerBySquaring(b, x[0], x[1]);
  std::optional<APInt> constant = splatInteger(x[1]);
  if (kind == ElementKind::Unsigned || (constant && constant->isNonNegative()))
    return power;
  // 1 and -1 are their own inverses up to the exponent's parity, which squaring
  // sees in two's complement too; every other inverse truncates to 0.
  unsigned width = widthOf(x[0].getType());
  Value isUnit = arith::OrIOp::create(b, equals(b, x[0], APInt(width, 1)),
                                      equals(b, x[0], APInt::getAllOnes(width)));
  Value zero = splatZero(b, x[0].getType());
  Value isNonNegative = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, x[1], zero);
  Value isKept = arith::OrIOp::create(b, isNonNegative, isUnit);
  return arith::SelectOp::create(b, isKept, power, zero);
}

namespace {

/// Whether each amount is less than the width, and the amounts with 0 in place of the others. Null
/// if a constant amount is in range.
std::pair<Value, Value> clampShift(ImplicitLocOpBuilder &b, Value amount) {
  Type type = amount.getType();
  unsigned width = widthOf(type);
  std::optional<APInt> constant = splatInteger(amount);
  if (constant && constant->ult(width))
    return {Value(), amount};
  // In i1, the width 1 has no larger amount to compare with: only 0 is in range.
  Value last = splatInt(b, type, APInt(width, width - 1));
  Value inRange = arith::CmpIOp::create(b, arith::CmpIPredicate::ule, amount, last);
  return {inRange, arith::SelectOp::create(b, inRange, amount, splatZero(b, type))};
}

template <typename Op>
Value buildLogicalShift(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind == ElementKind::Float)
    return {};
  auto [inRange, amount] = clampShift(b, x[1]);
  Value shifted = Op::create(b, x[0], amount);
  if (!inRange)
    return shifted;
  return arith::SelectOp::create(b, inRange, shifted, splatZero(b, x[0].getType()));
}

} // namespace

Value buildShiftLeft(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return buildLogicalShift<arith::ShLIOp>(b, kind, x);
}

Value buildShiftRightLogical(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return buildLogicalShift<arith::ShRUIOp>(b, kind, x);
}

Value buildShiftRightArithmetic(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind == ElementKind::Float)
    return {};
  unsigned width = widthOf(x[0].getType());
  Value last = splatInt(b, x[1].getType(), APInt(width, width - 1));
  return arith::ShRSIOp::create(b, x[0], arith::MinUIOp::create(b, x[1], last));
}

Value buildSign(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  Type type = x[0].getType();
  if (kind == ElementKind::Bool)
    return {};
  if (kind == ElementKind::Float) {
    // An ordered comparison: false for NaN, which therefore passes through.
    Value isNonZero = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, x[0], splatZero(b, type));
    Value unit = math::CopySignOp::create(b, splatFloat(b, type, 1.0), x[0]);
    return arith::SelectOp::create(b, isNonZero, unit, x[0]);
  }
  Value unit = splatInt(b, type, 1);
  if (kind == ElementKind::Signed) {
    Value last = splatInt(b, type, widthOf(type) - 1);
    unit = arith::OrIOp::create(b, arith::ShRSIOp::create(b, x[0], last), unit);
  }
  return arith::SelectOp::create(b, isZeroInteger(b, x[0]), x[0], unit);
}

Value buildLogistic(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind != ElementKind::Float)
    return {};
  Value one = splatFloat(b, x[0].getType(), 1.0);
  Value decay = math::ExpOp::create(b, arith::NegFOp::create(b, x[0]));
  return arith::DivFOp::create(b, one, arith::AddFOp::create(b, one, decay));
}

namespace {

/// Polynomial with the leading coefficient first.
Value horner(ImplicitLocOpBuilder &b, Value x, ArrayRef<double> coefficients) {
  Value result = splatFloat(b, x.getType(), coefficients.front());
  for (double coefficient : coefficients.drop_front()) {
    Value product = arith::MulFOp::create(b, result, x);
    result = arith::AddFOp::create(b, product, splatFloat(b, x.getType(), coefficient));
  }
  return result;
}

Value erfInvSingle(ImplicitLocOpBuilder &b, Value x) {
  Type type = x.getType();
  Value square = arith::MulFOp::create(b, x, x);
  Value log = math::Log1pOp::create(b, arith::NegFOp::create(b, square));
  Value w = arith::NegFOp::create(b, log);
  Value isCentral =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, w, splatFloat(b, type, 5.0));
  Value central =
      horner(b, arith::SubFOp::create(b, w, splatFloat(b, type, 2.5)),
             {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 2.1858087e-04,
              -1.25372503e-03, -4.17768164e-03, 2.46640727e-01, 1.50140941});
  Value root = math::SqrtOp::create(b, w);
  Value tail = horner(b, arith::SubFOp::create(b, root, splatFloat(b, type, 3.0)),
                      {-2.00214257e-04, 1.00950558e-04, 1.34934322e-03, -3.67342844e-03,
                       5.73950773e-03, -7.6224613e-03, 9.43887047e-03, 1.00167406, 2.83297682});
  Value factor = arith::SelectOp::create(b, isCentral, central, tail);
  Value result = arith::MulFOp::create(b, factor, x);
  // At the ends the tail is inf - inf.
  Value isEnd = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, math::AbsFOp::create(b, x),
                                      splatFloat(b, type, 1.0));
  double infinity = std::numeric_limits<double>::infinity();
  Value end = arith::MulFOp::create(b, x, splatFloat(b, type, infinity));
  return arith::SelectOp::create(b, isEnd, end, result);
}

/// One step y - (erf(y) - x) / erf'(y); keeps infinite y.
Value newtonErfInv(ImplicitLocOpBuilder &b, Value x, Value y) {
  Type type = x.getType();
  Value residue = arith::SubFOp::create(b, math::ErfOp::create(b, y), x);
  Value growth = math::ExpOp::create(b, arith::MulFOp::create(b, y, y));
  constexpr double halfSqrtPi = 0.886226925452758013649;
  Value slope = arith::MulFOp::create(b, growth, splatFloat(b, type, halfSqrtPi));
  Value next = arith::SubFOp::create(b, y, arith::MulFOp::create(b, residue, slope));
  Value isFinite =
      arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, math::AbsFOp::create(b, y),
                            splatFloat(b, type, std::numeric_limits<double>::infinity()));
  return arith::SelectOp::create(b, isFinite, next, y);
}

} // namespace

Value buildErfInv(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange operands) {
  if (kind != ElementKind::Float)
    return {};
  Value x = operands[0];
  Type type = x.getType();
  unsigned width = widthOf(type);
  if (width == 64)
    return newtonErfInv(b, x, newtonErfInv(b, x, erfInvSingle(b, x)));
  if (width == 32)
    return erfInvSingle(b, x);
  Value wide = arith::ExtFOp::create(b, withElement(type, b.getF32Type()), x);
  return arith::TruncFOp::create(b, type, erfInvSingle(b, wide));
}

Value buildReducePrecision(ImplicitLocOpBuilder &b, Value x, int64_t exponentBits,
                           int64_t mantissaBits) {
  Type type = x.getType();
  const llvm::fltSemantics &semantics = cast<FloatType>(elementOf(type)).getFloatSemantics();
  unsigned width = widthOf(type);
  int64_t mantissa = llvm::APFloat::semanticsPrecision(semantics) - 1;
  int64_t exponent = width - 1 - mantissa;
  Type bitsType = withElement(type, b.getIntegerType(width));
  Value bits = arith::BitcastOp::create(b, bitsType, x);
  auto constant = [&](const APInt &value) { return splatInt(b, bitsType, value); };
  if (int64_t dropped = mantissa - mantissaBits; dropped > 0) {
    // Adding just under half of the last kept place, plus that place's own bit,
    // carries exactly when rounding to nearest even goes up.
    Value place = arith::ShRUIOp::create(b, bits, constant(APInt(width, dropped)));
    Value odd = arith::AndIOp::create(b, place, constant(APInt(width, 1)));
    Value half = constant(APInt::getLowBitsSet(width, dropped - 1));
    Value sum = arith::AddIOp::create(b, bits, arith::AddIOp::create(b, odd, half));
    bits = arith::AndIOp::create(b, sum, constant(APInt::getBitsSetFrom(width, dropped)));
  }
  if (exponentBits < exponent) {
    APInt signMask = APInt::getSignMask(width);
    APInt infinity = APInt::getBitsSet(width, mantissa, width - 1);
    int64_t bias = (int64_t{1} << (exponent - 1)) - 1;
    int64_t reach = (int64_t{1} << (exponentBits - 1)) - 1;
    APInt largest(width, bias + reach), smallest(width, bias - reach);
    Value magnitude = arith::AndIOp::create(b, bits, constant(infinity));
    Value sign = arith::AndIOp::create(b, bits, constant(signMask));
    auto compare = [&](arith::CmpIPredicate predicate, const APInt &limit) -> Value {
      return arith::CmpIOp::create(b, predicate, magnitude, constant(limit.shl(mantissa)));
    };
    Value overflows = compare(arith::CmpIPredicate::ugt, largest);
    Value underflows = compare(arith::CmpIPredicate::ule, smallest);
    Value infinite = arith::OrIOp::create(b, sign, constant(infinity));
    bits = arith::SelectOp::create(b, overflows, infinite, bits);
    bits = arith::SelectOp::create(b, underflows, sign, bits);
  }
  Value rounded = arith::BitcastOp::create(b, type, bits);
  Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  return arith::SelectOp::create(b, isNan, x, rounded);
}

} // namespace mlir::coll::stablehlo
