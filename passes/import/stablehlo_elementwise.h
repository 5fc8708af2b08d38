//===- stablehlo_elementwise.h - elementwise arithmetic ---------------*- C++ -*-===//
//
// Operations whose operands and result have one type. They are built on tensors
// and, in scalar bodies, on scalars.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_PASSES_IMPORT_STABLEHLO_ELEMENTWISE_H
#define COLL_PASSES_IMPORT_STABLEHLO_ELEMENTWISE_H

#include "passes/import/stablehlo_importer.h"

namespace mlir::coll::stablehlo {

/// Builds the operation on operands of one type; null if it is not defined on
/// elements of this kind.
using ElementwiseFn = Value (*)(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange operands);

struct ElementwiseRule {
  StringLiteral name;
  int operands;
  ElementwiseFn build;
};
/// The rule of an operation, or null.
const ElementwiseRule *findElementwise(StringRef name);

/// Integers whose signed order is IEEE 754's total order of the floats
/// (stablehlo_convert.cc).
Value totalOrderKey(ImplicitLocOpBuilder &b, Value x);

// Decompositions (stablehlo_math.cc).

/// Quotients never trap: x / 0 = -1, INT_MIN / -1 = INT_MIN.
Value buildDivide(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// Remainders never trap: x % 0 = x, INT_MIN % -1 = 0.
Value buildRemainder(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// Integer powers by repeated squaring; a negative exponent of a signed base gives
/// 0 unless the base is 1 or -1.
Value buildPower(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// Shifts by the width or more give 0, or the sign for arithmetic ones.
Value buildShiftLeft(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
Value buildShiftRightLogical(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
Value buildShiftRightArithmetic(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// -1, 0 or 1; NaN and signed zeros are kept.
Value buildSign(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
Value buildLogistic(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// Inverse error function: Giles, "Approximating the erfinv function" (2012),
/// single precision; float64 adds two Newton steps on erf.
Value buildErfInv(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
// Special functions (stablehlo_special.cc).

/// log |gamma(x)|; infinite at its poles.
Value buildLgamma(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// The derivative of lgamma; NaN at its poles.
Value buildDigamma(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// Hurwitz' zeta(x, q), for x >= 1.
Value buildZeta(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// polygamma(n, x), for whole n >= 0.
Value buildPolygamma(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// exp(-|x|) times the modified Bessel function of order 1.
Value buildBesselI1e(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);
/// The next value from x[0] towards x[1].
Value buildNextAfter(ImplicitLocOpBuilder &b, ElementKind kind, ValueRange x);

/// Rounds to fewer exponent and mantissa bits, to nearest even; overflow gives infinity, underflow
/// zero, and NaN stays NaN.
Value buildReducePrecision(ImplicitLocOpBuilder &b, Value x, int64_t exponentBits,
                           int64_t mantissaBits);

} // namespace mlir::coll::stablehlo

#endif // COLL_PASSES_IMPORT_STABLEHLO_ELEMENTWISE_H
