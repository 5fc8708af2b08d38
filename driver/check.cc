//===- check.cc - comparing two runs --------------------------------------------===//

#include "driver/check.h"

#include "runtime/base/dtype.h"

#include "llvm/Support/Format.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

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
  case kCollF8E4M3FN: // one unit in the last place
    return 0.125;
  case kCollF8E5M2:
    return 0.25;
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

namespace {

/// Collects the differences of one tensor's elements.
class Differences {
public:
  explicit Differences(int64_t count)
      : numOutliers_((count + kElementsPerOutlier - 8) / kElementsPerOutlier) {}

  void add(double got, double want) {
    double delta = distance(got, want);
    numNans_ += std::isnan(got) && std::isnan(want);
    if (delta > 0)
      noteUnequalNan(result_, got, want, count_);
    ++count_;
    keepLargest(delta);
    squares_ += delta * delta;
    if (std::isfinite(want))
      result_.maxReference = std::max(result_.maxReference, std::fabs(want));
  }

  Comparison finish(std::string name, const Tolerance &tolerance, double defaultRtol) && {
    result_.name = std::move(name);
    if (largest_.size() > numOutliers_) {
      result_.bulk = largest_.top();
      addToBulk(result_.bulk);
    }
    result_.bulkRms = numInBulk_ > 0 ? std::sqrt(bulkSquares_ / numInBulk_) : 0;
    for (; !largest_.empty(); largest_.pop())
      result_.largest = largest_.top();
    result_.rms = count_ > 0 ? std::sqrt(squares_ / count_) : 0;
    result_.delta = tolerance.rms ? result_.rms : result_.largest;
    double limit = tolerance.rtol.value_or(defaultRtol) * result_.maxReference;
    result_.isOk = result_.delta <= limit + tolerance.atol.value_or(kAtol);
    if (numNans_ > 0 && result_.note.empty())
      result_.note =
          std::to_string(numNans_) + " of " + std::to_string(count_) + " are NaN in both";
    return std::move(result_);
  }

private:
  void keepLargest(double delta) {
    if (largest_.size() <= numOutliers_)
      return largest_.push(delta);
    if (delta <= largest_.top()) // most are
      return addToBulk(delta);
    addToBulk(largest_.top());
    largest_.pop();
    largest_.push(delta);
  }

  void addToBulk(double delta) {
    bulkSquares_ += delta * delta;
    ++numInBulk_;
  }

  const size_t numOutliers_;
  // The outliers and the largest of the others, which is on top.
  std::priority_queue<double, std::vector<double>, std::greater<double>> largest_;
  Comparison result_;
  int64_t count_ = 0;
  int64_t numNans_ = 0; // equal ones
  int64_t numInBulk_ = 0;
  double squares_ = 0, bulkSquares_ = 0;
};

} // namespace

double Comparison::relative() const {
  if (delta == 0)
    return 0;
  return maxReference > 0 ? delta / maxReference : std::numeric_limits<double>::infinity();
}

Comparison compareTensors(std::string name, const rt::HostTensor &got,
                          const rt::HostTensor &reference, const Tolerance &tolerance) {
  if (got.dtype != reference.dtype || got.shape != reference.shape) {
    Comparison result;
    result.name = std::move(name);
    result.isOk = false;
    result.note = "is " + got.typeString() + " and should be " + reference.typeString();
    return result;
  }
  Differences differences(numElements(got));
  for (int64_t i = 0, e = numElements(got); i < e; ++i)
    differences.add(element(got, i), element(reference, i));
  Comparison result =
      std::move(differences).finish(std::move(name), tolerance, defaultRtol(got.dtype));
  if (!rt::isFloat(got.dtype))
    result.isOk = got.data == reference.data;
  return result;
}

Comparison compareLosses(const std::vector<double> &got, const std::vector<double> &reference,
                         const Tolerance &tolerance) {
  if (got.size() != reference.size()) {
    Comparison result;
    result.name = "losses";
    result.isOk = false;
    result.note =
        std::to_string(got.size()) + " losses; there should be " + std::to_string(reference.size());
    return result;
  }
  Differences differences(got.size());
  for (size_t i = 0; i < got.size(); ++i)
    differences.add(got[i], reference[i]);
  return std::move(differences).finish("losses", tolerance, kLossRtol);
}

std::string summarize(const std::vector<Comparison> &comparisons) {
  auto count = [&](Basis basis) {
    return llvm::count_if(comparisons,
                          [&](const Comparison &c) { return c.isOk && c.basis == basis; });
  };
  std::string text;
  llvm::raw_string_ostream os(text);
  os << count(Basis::Tolerance) << " of " << comparisons.size() << " within tolerance";
  if (int64_t byNoise = count(Basis::Noise))
    os << ", " << byNoise << " within 8 times the noise";
  if (int64_t byGradient = count(Basis::Gradient))
    os << ", " << byGradient << " by the gradient alone";
  return text;
}

static llvm::StringRef verdict(const Comparison &comparison) {
  if (!comparison.isOk)
    return "FAIL";
  switch (comparison.basis) {
  case Basis::Tolerance:
    return "ok";
  case Basis::Noise:
    return "ok by noise";
  case Basis::Gradient:
    return "ok by gradient";
  }
  llvm_unreachable("every basis has a case");
}

namespace {

/// The table of one check; a column for the noise where any was measured.
class Table {
public:
  Table(llvm::raw_ostream &os, const std::vector<Comparison> &comparisons) : os_(os) {
    for (const Comparison &comparison : comparisons) {
      width_ = std::max(width_, comparison.name.size());
      hasNoise_ |= comparison.noise.has_value();
    }
    width_ = std::min<size_t>(width_, 60);
  }

  void printHeader(llvm::StringRef title, bool rms) {
    os_ << title << '\n'
        << llvm::format("  %-*s  %10s  %10s  %10s", int(width_), "tensor",
                        rms ? "rms d" : "max |d|", "max |ref|", "relative");
    if (hasNoise_)
      os_ << llvm::format("  %10s", "noise");
    os_ << '\n';
  }

  void printRow(const Comparison &comparison) {
    os_ << llvm::format("  %-*s  %10.3g  %10.3g  %10.3g", int(width_), comparison.name.c_str(),
                        comparison.delta, comparison.maxReference, comparison.relative());
    if (hasNoise_)
      os_ << llvm::format("  %10.3g", comparison.noise.value_or(0));
    os_ << "  " << verdict(comparison);
    if (!comparison.note.empty())
      os_ << ": " << comparison.note;
    os_ << '\n';
  }

private:
  llvm::raw_ostream &os_;
  size_t width_ = 6;
  bool hasNoise_ = false;
};

} // namespace

bool report(llvm::raw_ostream &os, llvm::StringRef title,
            const std::vector<Comparison> &comparisons, bool rms, bool onlyFailures) {
  bool isOk = llvm::all_of(comparisons, [](const Comparison &c) { return c.isOk; });
  if (onlyFailures && isOk)
    return true;
  Table table(os, comparisons);
  table.printHeader(title, rms);
  for (const Comparison &comparison : comparisons)
    if (!onlyFailures || !comparison.isOk)
      table.printRow(comparison);
  os << "  " << summarize(comparisons) << '\n';
  return isOk;
}

} // namespace coll::run
