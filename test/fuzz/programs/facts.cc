#include "test/fuzz/programs/facts.h"

#include <algorithm>
#include <cmath>

namespace coll::fuzz {
namespace {

double epsilonOf(Dtype dtype) { return std::ldexp(1.0, -precisionOf(dtype)); }

// Well within the range of the type.
double maxBoundOf(Dtype dtype) {
  if (dtype == Dtype::F8E4M3)
    return 240;
  return dtype == Dtype::F16 || dtype == Dtype::F8E5M2 ? 3e4 : 1e9;
}

// Its multiples are exact near zero, too.
double minQuantumOf(Dtype dtype) { return dtype == Dtype::F8E4M3 ? 1.0 / 512 : 1.0 / 4096; }

// Beyond, comparisons say little.
constexpr double kMaxRelativeError = 0.02;
// Vectorised and scalar versions of a function differ by a few units.
constexpr double kUnitsOfFunction = 4;

} // namespace

std::optional<Facts> rounded(Dtype dtype, Facts facts) {
  if (!isFloat(dtype))
    return Facts{std::min(facts.bound, std::ldexp(1.0, precisionOf(dtype))), 1, 0};
  if (facts.bound > maxBoundOf(dtype))
    return std::nullopt;
  bool fits = facts.quantum >= minQuantumOf(dtype) &&
              facts.bound / facts.quantum <= std::ldexp(1.0, precisionOf(dtype));
  if (fits)
    return facts;
  facts.quantum = 0;
  facts.error += 2 * epsilonOf(dtype) * facts.bound;
  if (facts.error > kMaxRelativeError * facts.bound)
    return std::nullopt;
  return facts;
}

Facts anyInteger(Dtype dtype) { return {std::ldexp(1.0, precisionOf(dtype)), 1, 0}; }

Facts factsOfSum(const Facts &a, const Facts &b) {
  return {a.bound + b.bound, std::min(a.quantum, b.quantum), a.error + b.error};
}

Facts factsOfProduct(const Facts &a, const Facts &b) {
  return {a.bound * b.bound, a.quantum * b.quantum,
          a.error * b.bound + b.error * a.bound + a.error * b.error};
}

Facts factsOfEither(const Facts &a, const Facts &b) {
  return {std::max(a.bound, b.bound), std::min(a.quantum, b.quantum), std::max(a.error, b.error)};
}

Facts factsOfTotal(Dtype dtype, const Facts &each, int64_t count) {
  double n = double(std::max<int64_t>(count, 1));
  Facts facts{each.bound * n, each.quantum, each.error * n};
  bool isExact = facts.isExact() && rounded(dtype, facts) && rounded(dtype, facts)->isExact();
  if (!isExact)
    facts.error += 2 * n * epsilonOf(dtype) * facts.bound;
  return facts;
}

Facts factsOfSmooth(Dtype dtype, const Facts &x, double slope, double bound) {
  return {bound, 0, slope * x.error + kUnitsOfFunction * epsilonOf(dtype) * bound};
}

Facts factsOfWhole(double bound) { return {bound, 1, 0}; }

} // namespace coll::fuzz
