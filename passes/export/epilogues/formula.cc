//===- formula.cc - what is computed of gelu's argument ---------------------------===//

#include "passes/export/epilogues/formula.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

namespace mlir::coll {

namespace {

constexpr double kLinear = 0.7978845608028654; // sqrt(2 / pi)
constexpr double kCubic = 0.044715;            // of x^3, for each of x
constexpr size_t kMaxTerms = 32;
constexpr int kMaxPower = 8, kMaxDepth = 64;

double roundTo(double value, Type element) {
  APFloat rounded(value);
  bool losesInfo;
  rounded.convert(cast<FloatType>(element).getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return rounded.convertToDouble();
}

/// Whether two numbers are equal up to a few roundings. Steps in narrow floats compute in f32, and
/// the numbers are products of at most three.
bool isNear(double found, double wanted, Type element) {
  const int bits = element.isF64() ? 53 : 24;
  return std::abs(found - wanted) <= std::ldexp(4 * std::abs(wanted), -bits);
}

/// Whether a step may have written `found` for `wanted`: as it is, or rounded to its type.
bool isConstant(double found, double wanted, Type element) {
  return isNear(found, wanted, element) || isNear(found, roundTo(wanted, element), element);
}

} // namespace

Formula Formula::number(double value) {
  Formula formula;
  if (value != 0)
    formula.terms_[{0, 0, 0}] = value;
  return formula;
}

Formula Formula::x() {
  Formula formula;
  formula.terms_[{1, 0, 0}] = 1;
  return formula;
}

Formula Formula::tanh() {
  Formula formula;
  formula.terms_[{0, 1, 0}] = 1;
  return formula;
}

Formula Formula::product(Value g) {
  Formula formula;
  formula.terms_[{0, 0, 1}] = 1;
  formula.product_ = g;
  return formula;
}

/// Takes over the other's product. False if there are two.
bool Formula::join(const Formula &other) {
  if (product_ && other.product_ && product_ != other.product_)
    return false;
  if (!product_)
    product_ = other.product_;
  return true;
}

std::optional<Formula> Formula::plus(const Formula &other) const {
  Formula sum = *this;
  if (!sum.join(other))
    return std::nullopt;
  for (const auto &[powers, factor] : other.terms_)
    if ((sum.terms_[powers] += factor) == 0)
      sum.terms_.erase(powers);
  return sum.terms_.size() <= kMaxTerms ? std::optional(sum) : std::nullopt;
}

std::optional<Formula> Formula::times(const Formula &other) const {
  Formula result;
  if (!result.join(*this) || !result.join(other))
    return std::nullopt;
  for (const auto &[left, a] : terms_)
    for (const auto &[right, b] : other.terms_) {
      Powers powers;
      for (size_t i = 0; i < powers.size(); ++i)
        powers[i] = left[i] + right[i];
      if (llvm::any_of(powers, [](int power) { return power > kMaxPower; }))
        return std::nullopt;
      if ((result.terms_[powers] += a * b) == 0)
        result.terms_.erase(powers);
    }
  return result.terms_.size() <= kMaxTerms ? std::optional(result) : std::nullopt;
}

std::optional<double> Formula::asNumber() const {
  if (terms_.empty())
    return 0.0;
  if (terms_.size() > 1 || terms_.begin()->first != Powers{0, 0, 0})
    return std::nullopt;
  return terms_.begin()->second;
}

/// The factor of each of `powers`, and 0 if there are other terms or a term is missing.
template <size_t kTerms>
std::array<double, kTerms> Formula::getFactors(const Powers (&powers)[kTerms]) const {
  std::array<double, kTerms> factors{};
  if (terms_.size() != kTerms)
    return factors;
  for (size_t i = 0; i < kTerms; ++i)
    if (auto term = terms_.find(powers[i]); term != terms_.end())
      factors[i] = term->second;
  return factors;
}

/// A step multiplies the two constants, or has their product.
bool Formula::isTanhArgument(Type element) const {
  const auto [linear, cubic] = getFactors({{1, 0, 0}, {3, 0, 0}});
  return isConstant(linear, kLinear, element) && (isConstant(cubic / linear, kCubic, element) ||
                                                  isConstant(cubic, kLinear * kCubic, element));
}

bool Formula::isGelu(Type element) const {
  const auto [half, halfTanh] = getFactors({{1, 0, 0}, {1, 1, 0}});
  return isNear(half, 0.5, element) && isNear(halfTanh, 0.5, element);
}

// g ((1 + t) / 2 + x / 2 (1 - t^2) kLinear (1 + 3 kCubic x^2)).
bool Formula::isGeluGradient(Type element) const {
  const auto [half, halfTanh, linear, linearTanh, cubic, cubicTanh] =
      getFactors({{0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 2, 1}, {3, 0, 1}, {3, 2, 1}});
  return isNear(half, 0.5, element) && isNear(halfTanh, 0.5, element) &&
         isConstant(2 * linear, kLinear, element) && isNear(-linearTanh, linear, element) &&
         (isConstant(cubic / linear / 3, kCubic, element) ||
          isConstant(cubic / linear, 3 * kCubic, element) ||
          isConstant(cubic / 3 * 2, kLinear * kCubic, element)) &&
         isNear(-cubicTanh, cubic, element);
}

Value lookThroughReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool isElementwise(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return generic && generic.hasPureTensorSemantics() && generic.getNumDpsInits() == 1 &&
         generic.getNumReductionLoops() == 0 &&
         llvm::all_of(generic.getIndexingMapsArray(),
                      [](AffineMap map) { return map.isIdentity(); });
}

std::optional<Formula> FormulaReader::read(Value tensor) {
  tensor = lookThroughReshapes(tensor);
  if (tensor == x_)
    return Formula::x();
  auto it = known_.find(tensor);
  if (it != known_.end())
    return it->second;
  if (depth_ == kMaxDepth)
    return std::nullopt;
  ++depth_;
  std::optional<Formula> formula = compute(tensor);
  --depth_;
  known_[tensor] = formula;
  return formula;
}

std::optional<Formula> FormulaReader::compute(Value tensor) {
  if (auto gemm = tensor.getDefiningOp<GemmOp>())
    return tensor == gemm.getResult() ? std::optional(Formula::product(tensor)) : std::nullopt;
  if (!isElementwise(tensor.getDefiningOp()))
    return std::nullopt;
  auto generic = tensor.getDefiningOp<linalg::GenericOp>();
  return readScalar(generic.getBody()->getTerminator()->getOperand(0), generic);
}

std::optional<Formula> FormulaReader::readScalar(Value scalar, linalg::GenericOp op) {
  if (auto argument = dyn_cast<BlockArgument>(scalar)) {
    if (argument.getOwner() != op.getBody() || argument.getArgNumber() >= op.getNumDpsInputs())
      return std::nullopt;
    return read(op.getDpsInputs()[argument.getArgNumber()]);
  }
  APFloat constant(0.0);
  if (matchPattern(scalar, m_ConstantFloat(&constant))) {
    bool losesInfo;
    constant.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return Formula::number(constant.convertToDouble());
  }
  Operation *compute = scalar.getDefiningOp();
  if (!isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::ExtFOp,
           arith::TruncFOp, math::TanhOp>(compute))
    return std::nullopt;
  std::optional<Formula> a = readScalar(compute->getOperand(0), op);
  if (!a || isa<arith::ExtFOp, arith::TruncFOp>(compute))
    return a;
  if (isa<arith::NegFOp>(compute))
    return a->times(Formula::number(-1));
  if (isa<math::TanhOp>(compute))
    return a->isTanhArgument(element_) ? std::optional(Formula::tanh()) : std::nullopt;
  std::optional<Formula> b = readScalar(compute->getOperand(1), op);
  if (!b)
    return std::nullopt;
  if (isa<arith::AddFOp>(compute))
    return a->plus(*b);
  if (isa<arith::MulFOp>(compute))
    return a->times(*b);
  if (isa<arith::SubFOp>(compute)) {
    std::optional<Formula> negative = b->times(Formula::number(-1));
    return negative ? a->plus(*negative) : std::nullopt;
  }
  std::optional<double> divisor = b->asNumber();
  return divisor && *divisor != 0 ? a->times(Formula::number(1 / *divisor)) : std::nullopt;
}

} // namespace mlir::coll
