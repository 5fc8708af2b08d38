//===- check.cc - comparing two runs --------------------------------------------===//

#include "tools/coll-run/check.h"

#include "runtime/base/dtype.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace coll::run {
namespace {

constexpr double kLossRtol = 1e-5;
constexpr double kAtol = 1e-9;

double defaultRtol(CollDtype dtype) {
  switch (dtype) {
  case kCollF16:
    return 1e-3;
  case kCollBf16:
    return 1e-2;
  default:
    return 1e-4;
  }
}

/// |got - want|: 0 for two NaNs and for equal infinities, infinite where only one
/// of them is finite.
double distance(double got, double want) {
  if (std::isfinite(got) && std::isfinite(want))
    return std::fabs(got - want);
  bool isSame = (std::isnan(got) && std::isnan(want)) || got == want;
  return isSame ? 0 : std::numeric_limits<double>::infinity();
}

void noteUnequalNan(Comparison &result, double got, double want, int64_t index) {
  if (result.note.empty() && (!std::isfinite(got) || !std::isfinite(want)))
    result.note = "element " + std::to_string(index) + " is " + std::to_string(got) +
                  " and should be " + std::to_string(want);
}

} // namespace

double Comparison::relative() const {
  if (maxDelta == 0)
    return 0;
  return maxReference > 0 ? maxDelta / maxReference : std::numeric_limits<double>::infinity();
}

Comparison compareTensors(std::string name, const rt::HostTensor &got,
                          const rt::HostTensor &reference, const Tolerance &tolerance) {
  Comparison result;
  result.name = std::move(name);
  if (got.dtype != reference.dtype || got.shape != reference.shape) {
    result.isOk = false;
    result.note = "is " + got.typeString() + " and should be " + reference.typeString();
    return result;
  }
  for (int64_t i = 0, e = numElements(got); i < e; ++i) {
    double a = element(got, i), b = element(reference, i);
    double delta = distance(a, b);
    if (delta > 0)
      noteUnequalNan(result, a, b, i);
    result.maxDelta = std::max(result.maxDelta, delta);
    if (std::isfinite(b))
      result.maxReference = std::max(result.maxReference, std::fabs(b));
  }
  double rtol = tolerance.rtol.value_or(defaultRtol(got.dtype));
  double limit = rtol * result.maxReference + tolerance.atol.value_or(kAtol);
  result.isOk = rt::isFloat(got.dtype) ? result.maxDelta <= limit : got.data == reference.data;
  return result;
}

Comparison compareLosses(const std::vector<double> &got, const std::vector<double> &reference,
                         const Tolerance &tolerance) {
  Comparison result;
  result.name = "losses";
  if (got.size() != reference.size()) {
    result.isOk = false;
    result.note =
        std::to_string(got.size()) + " losses; there should be " + std::to_string(reference.size());
    return result;
  }
  for (size_t i = 0; i < got.size(); ++i) {
    double delta = distance(got[i], reference[i]);
    if (delta > 0)
      noteUnequalNan(result, got[i], reference[i], i);
    result.maxDelta = std::max(result.maxDelta, delta);
    if (std::isfinite(reference[i]))
      result.maxReference = std::max(result.maxReference, std::fabs(reference[i]));
  }
  double rtol = tolerance.rtol.value_or(kLossRtol);
  result.isOk = result.maxDelta <= rtol * result.maxReference + tolerance.atol.value_or(kAtol);
  return result;
}

bool report(llvm::raw_ostream &os, llvm::StringRef title,
            const std::vector<Comparison> &comparisons, bool onlyFailures) {
  size_t width = 6;
  size_t failures = 0;
  for (const Comparison &comparison : comparisons) {
    width = std::max(width, comparison.name.size());
    failures += !comparison.isOk;
  }
  width = std::min<size_t>(width, 60);
  bool printTable = !onlyFailures || failures > 0;
  if (printTable)
    os << title << '\n'
       << llvm::format("  %-*s  %10s  %10s  %10s\n", int(width), "tensor", "max |d|", "max |ref|",
                       "relative");
  for (const Comparison &comparison : comparisons) {
    if (onlyFailures && comparison.isOk)
      continue;
    os << llvm::format("  %-*s  %10.3g  %10.3g  %10.3g  ", int(width), comparison.name.c_str(),
                       comparison.maxDelta, comparison.maxReference, comparison.relative())
       << (comparison.isOk ? "ok" : "FAIL");
    if (!comparison.note.empty())
      os << ": " << comparison.note;
    os << '\n';
  }
  if (printTable)
    os << "  " << comparisons.size() - failures << " of " << comparisons.size()
       << " within tolerance\n";
  return failures == 0;
}

} // namespace coll::run
