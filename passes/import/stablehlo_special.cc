//===- stablehlo_special.cc - special functions ----------------------------------===//
//
// Gamma-like and Bessel functions from series, in the operand's precision; narrow
// floats compute in f32. Sources: lgamma and digamma, Lanczos' approximation (g = 7,
// n = 9); zeta, Euler-Maclaurin summation as in Cephes; i1e, Chebyshev series in
// x / 4 - 1 up to 8 and in 16 / x - 1 beyond.
//
//===----------------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/import/stablehlo_build.h"
#include "passes/import/stablehlo_elementwise.h"

#include <cmath>
#include <limits>

namespace mlir::coll::stablehlo {

namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// Float arithmetic as formulas. Values of one shape; numbers become splats.
class Formula {
public:
  Formula(ImplicitLocOpBuilder &b, Type type) : b(b), type(type) {}

  Value number(double value) const { return splatFloat(b, type, value); }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, x, y); }
  Value add(Value x, double y) const { return add(x, number(y)); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, x, y); }
  Value mul(Value x, double y) const { return mul(x, number(y)); }
  Value div(Value x, Value y) const { return arith::DivFOp::create(b, x, y); }
  Value neg(Value x) const { return arith::NegFOp::create(b, x); }
  Value abs(Value x) const { return math::AbsFOp::create(b, x); }
  Value log(Value x) const { return math::LogOp::create(b, x); }
  Value floor(Value x) const { return math::FloorOp::create(b, x); }
  Value pow(Value x, Value y) const { return math::PowFOp::create(b, x, y); }
  Value select(Value condition, Value yes, Value no) const {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value both(Value x, Value y) const { return arith::AndIOp::create(b, x, y); }
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) const {
    return arith::CmpFOp::create(b, predicate, x, y);
  }
  Value less(Value x, double y) const { return compare(arith::CmpFPredicate::OLT, x, number(y)); }
  Value atMost(Value x, double y) const { return compare(arith::CmpFPredicate::OLE, x, number(y)); }
  Value equal(Value x, Value y) const { return compare(arith::CmpFPredicate::OEQ, x, y); }
  Value isInteger(Value x) const { return equal(x, floor(x)); }

  ImplicitLocOpBuilder &b;
  Type type;
};

using FormulaFn = Value (*)(const Formula &f, ValueRange x);

/// Builds `fn` on floats; narrow ones are computed in f32.
template <FormulaFn fn>
Value inWideFloat(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind != ElementKind::Float)
    return {};
  Type type = x[0].getType();
  if (elementOf(type).getIntOrFloatBitWidth() >= 32)
    return fn(Formula(b, type), x);
  Type wideType = withElement(type, b.getF32Type());
  SmallVector<Value> wide;
  for (Value value : x)
    wide.push_back(arith::ExtFOp::create(b, wideType, value));
  return arith::TruncFOp::create(b, type, fn(Formula(b, wideType), wide));
}

constexpr double kLanczosBase = 0.99999999999980993227684700473478;
constexpr double kLanczos[] = {
    676.520368121885098567009190444019, -1259.13921672240287047156078755283,
    771.3234287776530788486528258894,   -176.61502916214059906584551354,
    12.507343278686904814458936853,     -0.13857109526572011689554707,
    9.984369578019570859563e-6,         1.50563273514931155834e-7};
constexpr double kLanczosShift = 7.5; // g + 1/2

/// What lgamma and digamma share: the argument is reflected below 1/2.
struct Lanczos {
  Lanczos(const Formula &f, Value x)
      : isReflected(f.less(x, 0.5)), z(f.select(isReflected, f.neg(x), f.add(x, -1))),
        t(f.add(z, kLanczosShift)) {
    Value ratio = f.mul(z, 1 / kLanczosShift);
    logT = f.add(math::Log1pOp::create(f.b, ratio), std::log(kLanczosShift));
  }
  Value isReflected, z, t, logT;
};

Value lgamma(const Formula &f, ValueRange operands) {
  Value x = operands[0];
  Lanczos l(f, x);
  Value sum = f.number(kLanczosBase);
  for (auto [i, coefficient] : llvm::enumerate(kLanczos))
    sum = f.add(sum, f.div(f.number(coefficient), f.add(l.z, i + 1.0)));
  // (z + 1/2 - t / log t) log t, which loses less than two separate products.
  Value scaled = f.mul(f.sub(f.add(l.z, 0.5), f.div(l.t, l.logT)), l.logT);
  Value direct = f.add(f.add(scaled, 0.5 * std::log(2 * kPi)), f.log(sum));
  // Reflection: lgamma(x) = log(pi / |sin(pi x)|) - lgamma(1 - x).
  Value size = f.abs(x), fraction = f.sub(size, f.floor(size));
  Value folded = f.select(f.less(fraction, 0.5), fraction, f.sub(f.number(1), fraction));
  Value logSine = f.log(math::SinOp::create(f.b, f.mul(folded, kPi)));
  Value reflected = f.sub(f.sub(f.number(std::log(kPi)), logSine), direct);
  // At a pole the sine's logarithm is -inf, whatever `direct` is.
  Value isPole = f.equal(logSine, f.number(-kInfinity));
  reflected = f.select(isPole, f.number(kInfinity), reflected);
  Value result = f.select(l.isReflected, reflected, direct);
  return f.select(f.equal(size, f.number(kInfinity)), f.number(kInfinity), result);
}

Value digamma(const Formula &f, ValueRange operands) {
  Value x = operands[0];
  Lanczos l(f, x);
  Value numerator = f.number(0), denominator = f.number(kLanczosBase);
  for (auto [i, coefficient] : llvm::enumerate(kLanczos)) {
    Value k = f.add(l.z, i + 1.0), term = f.div(f.number(coefficient), k);
    numerator = f.sub(numerator, f.div(term, k));
    denominator = f.add(denominator, term);
  }
  Value direct = f.sub(f.add(l.logT, f.div(numerator, denominator)),
                       f.div(f.number(kLanczosShift - 0.5), l.t));
  // Reflection: digamma(x) = digamma(1 - x) - pi / tan(pi x); the nearest whole number
  // is taken off first, so that the product stays exact.
  Value angle = f.mul(f.add(x, f.abs(f.floor(f.add(x, 0.5)))), kPi);
  Value cotangent = f.div(math::CosOp::create(f.b, angle), math::SinOp::create(f.b, angle));
  Value reflected = f.sub(direct, f.mul(cotangent, kPi));
  Value result = f.select(l.isReflected, reflected, direct);
  Value isPole = f.both(f.atMost(x, 0), f.isInteger(x));
  return f.select(isPole, f.number(kNan), result);
}

// 2k! / B2k, which divide the terms of the Euler-Maclaurin series.
constexpr double kZetaDivisors[] = {12.0,
                                    -720.0,
                                    30240.0,
                                    -1209600.0,
                                    47900160.0,
                                    -1.8924375803183791606e9,
                                    7.47242496e10,
                                    -2.950130727918164224e12,
                                    1.1646782814350067249e14,
                                    -4.5979787224074726105e15,
                                    1.8152105401943546773e17,
                                    -7.1661652561756670113e18};

Value zeta(const Formula &f, ValueRange operands) {
  constexpr int kDirectTerms = 9;
  Value x = operands[0], q = operands[1], minusX = f.neg(x);
  Value base = q, power = f.pow(q, minusX), sum = power;
  for (int i = 0; i < kDirectTerms; ++i) {
    base = f.add(base, 1);
    power = f.pow(base, minusX);
    sum = f.add(sum, power);
  }
  sum = f.add(sum, f.div(f.mul(power, base), f.add(x, -1)));
  sum = f.sub(sum, f.mul(power, 0.5));
  // Term i has the factor x (x + 1) … (x + 2i) / base^(x + 2i + 1).
  Value factor = f.div(f.mul(power, x), base), square = f.mul(base, base);
  for (auto [i, divisor] : llvm::enumerate(kZetaDivisors)) {
    sum = f.add(sum, f.mul(factor, 1 / divisor));
    Value next = f.mul(f.add(x, 2.0 * i + 1), f.add(x, 2.0 * i + 2));
    factor = f.mul(factor, f.div(next, square));
  }
  Value nan = f.number(kNan), infinity = f.number(kInfinity);
  // Poles of q^-x: infinite for even x, where both sides agree.
  Value isEven = f.isInteger(f.mul(x, 0.5));
  Value atPole = f.select(isEven, infinity, nan);
  Value isNonPositive = f.atMost(q, 0);
  Value outside = f.select(f.isInteger(q), atPole, f.select(f.isInteger(x), sum, nan));
  Value result = f.select(isNonPositive, outside, sum);
  result = f.select(f.less(x, 1), nan, result);
  return f.select(f.equal(x, f.number(1)), infinity, result);
}

Value polygamma(const Formula &f, ValueRange operands) {
  Value n = operands[0], x = operands[1], order = f.add(n, 1);
  Value size = math::ExpOp::create(f.b, lgamma(f, order));
  Value value = f.mul(size, zeta(f, {order, x}));
  Value isOdd = f.isInteger(f.mul(order, 0.5));
  Value result = f.select(isOdd, value, f.neg(value));
  result = f.select(f.equal(n, f.number(0)), digamma(f, x), result);
  Value isOrder = f.both(f.isInteger(n), f.compare(arith::CmpFPredicate::OGE, n, f.number(0)));
  return f.select(isOrder, result, f.number(kNan));
}

// clang-format off
constexpr double kI1eNear[] = {
    1.26293593221816824e-01, -1.76416518357834035e-01, 1.02643658689847039e-01, -5.29459812080949332e-02,
    2.47264490306264781e-02, -1.05640848946261714e-02, 4.15642294431287952e-03, -1.51357245063126508e-03,
    5.12285956168604707e-04, -1.61760815825933742e-04, 4.78156510755307643e-05, -1.32731636560421226e-05,
    3.47025130812575985e-06, -8.56872026434728609e-07, 2.00329475303599130e-07, -4.44505912395136246e-08,
    9.38153733954844871e-09, -1.88724972224143536e-09, 3.62559012483414029e-10, -6.66348852063066539e-11,
    1.17361722815904219e-11, -1.98397107953452444e-12, 3.22375626614750244e-13, -5.03842178389363379e-14,
    7.49870646332768565e-15, -9.59102046369775878e-16};
constexpr double kI1eFar[] = {
    3.89288117509140108e-01, -9.76109749136147391e-03, -1.10588938762700773e-04, -3.88256480887800738e-06,
    -2.51223623845634346e-07, -2.63146884633673067e-08, -3.83538041281993358e-09, -5.58974353998409541e-10,
    -1.89748783970238675e-11, 3.25260425221460836e-11, 1.41259179454131006e-11, 2.03563015362076903e-12,
    -7.19888713801974448e-13, -4.08354886287359145e-13, -2.11648419959440502e-14, 4.27290629489542209e-14,
    1.02880584891503673e-14, -3.81010232589684226e-15, -1.91493669132920392e-15, 3.30664579218009429e-16};
// clang-format on

/// Chebyshev series at y by Clenshaw's recurrence.
Value chebyshev(const Formula &f, Value y, ArrayRef<double> coefficients) {
  Value twice = f.mul(y, 2), last = f.number(0), beforeLast = last;
  for (double coefficient : llvm::reverse(coefficients.drop_front())) {
    Value next = f.add(f.sub(f.mul(twice, last), beforeLast), coefficient);
    beforeLast = last;
    last = next;
  }
  return f.add(f.sub(f.mul(y, last), beforeLast), coefficients.front());
}

Value besselI1e(const Formula &f, ValueRange operands) {
  Value x = operands[0], size = f.abs(x);
  Value near = f.mul(chebyshev(f, f.add(f.mul(size, 0.25), -1), kI1eNear), size);
  Value inverse = f.add(f.div(f.number(16), size), -1);
  Value far = f.div(chebyshev(f, inverse, kI1eFar), math::SqrtOp::create(f.b, size));
  Value value = f.select(f.atMost(size, 8), near, far);
  return math::CopySignOp::create(f.b, value, x);
}

} // namespace

Value buildLgamma(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return inWideFloat<lgamma>(b, kind, x);
}

Value buildDigamma(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return inWideFloat<digamma>(b, kind, x);
}

Value buildZeta(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return inWideFloat<zeta>(b, kind, x);
}

Value buildPolygamma(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return inWideFloat<polygamma>(b, kind, x);
}

Value buildBesselI1e(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  return inWideFloat<besselI1e>(b, kind, x);
}

Value buildNextAfter(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x) {
  if (kind != ElementKind::Float)
    return {};
  Type type = x[0].getType();
  unsigned width = elementOf(type).getIntOrFloatBitWidth();
  Formula f(b, type);
  Type bitsType = withElement(type, b.getIntegerType(width));
  auto constant = [&](const APInt &value) { return splatInt(b, bitsType, value); };
  Value from = arith::BitcastOp::create(b, bitsType, x[0]);
  Value to = arith::BitcastOp::create(b, bitsType, x[1]);
  Value one = constant(APInt(width, 1));
  // Away from zero the code grows: one up if that is where `to` lies, else one down.
  Value isUp = f.compare(arith::CmpFPredicate::OLT, x[0], x[1]);
  Value zero = splatZero(b, type);
  Value isPositive = f.compare(arith::CmpFPredicate::OGT, x[0], zero);
  Value grows = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, isUp, isPositive);
  Value step = arith::SelectOp::create(b, grows, one, constant(APInt::getAllOnes(width)));
  Value moved = arith::AddIOp::create(b, from, step);
  // From zero: the smallest subnormal of the target's sign.
  Value sign = arith::AndIOp::create(b, to, constant(APInt::getSignMask(width)));
  Value smallest = arith::OrIOp::create(b, sign, one);
  moved = arith::SelectOp::create(b, f.equal(x[0], zero), smallest, moved);
  moved = arith::SelectOp::create(b, f.equal(x[0], x[1]), to, moved);
  Value isNan = f.compare(arith::CmpFPredicate::UNO, x[0], x[1]);
  return f.select(isNan, f.number(kNan), arith::BitcastOp::create(b, type, moved));
}

} // namespace mlir::coll::stablehlo
