#include "tools/coll-exec/compare.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace coll::exec {

namespace {

constexpr double kAtol = 1e-9;

double defaultRtol(CollDtype dtype) {
  switch (dtype) {
  case kCollF16:
    return 1e-3;
  case kCollBf16:
    return 1e-2;
  case kCollF8E4M3FN:
    return 0.125;
  case kCollF8E5M2:
    return 0.25;
  default:
    return rt::isFloat(dtype) ? 1e-4 : 0;
  }
}

// 0 for two NaNs and for equal infinities, infinite where only one of them is finite.
double distance(double got, double expected) {
  if (std::isfinite(got) && std::isfinite(expected))
    return std::fabs(got - expected);
  const bool isSame = (std::isnan(got) && std::isnan(expected)) || got == expected;
  return isSame ? 0 : std::numeric_limits<double>::infinity();
}

class Comparison {
public:
  explicit Comparison(std::optional<double> rtol) : rtol_(rtol) {}

  void add(const std::string &name, const rt::HostTensor &got, const rt::HostTensor &expected) {
    ++count_;
    if (got.dtype != expected.dtype || got.shape != expected.shape) {
      std::printf("  %s: %s, expected %s\n", name.c_str(), got.typeString().c_str(),
                  expected.typeString().c_str());
      return;
    }
    double delta = 0, largest = 0;
    const int64_t elems = static_cast<int64_t>(got.data.size()) / rt::dtypeSize(got.dtype);
    for (int64_t i = 0; i < elems; ++i) {
      const double wanted = element(expected, i);
      delta = std::max(delta, distance(element(got, i), wanted));
      if (std::isfinite(wanted))
        largest = std::max(largest, std::fabs(wanted));
    }
    const double relative = largest > 0 ? delta / largest : delta;
    worst_ = std::max(worst_, relative);
    if (delta <= rtol_.value_or(defaultRtol(got.dtype)) * largest + kAtol)
      ++within_;
    else
      std::printf("  %s: largest difference %.3g, largest value %.3g\n", name.c_str(), delta,
                  largest);
  }

  bool report() const {
    std::printf("%d of %d tensors within tolerance, largest relative difference %.3g\n", within_,
                count_, worst_);
    return within_ == count_;
  }

private:
  std::optional<double> rtol_;
  int count_ = 0, within_ = 0;
  double worst_ = 0;
};

} // namespace

double element(const rt::HostTensor &tensor, int64_t index) {
  switch (tensor.dtype) {
  case kCollF32:
    return static_cast<double>(tensor.as<float>()[index]);
  case kCollF64:
    return tensor.as<double>()[index];
  case kCollF16:
    return static_cast<double>(rt::f16ToF32(tensor.as<uint16_t>()[index]));
  case kCollBf16:
    return static_cast<double>(rt::bf16ToF32(tensor.as<uint16_t>()[index]));
  case kCollI16:
    return tensor.as<int16_t>()[index];
  case kCollI32:
    return tensor.as<int32_t>()[index];
  case kCollI64:
    return static_cast<double>(tensor.as<int64_t>()[index]);
  case kCollF8E4M3FN:
    return static_cast<double>(rt::f8E4M3FNToF32(tensor.as<uint8_t>()[index]));
  case kCollF8E5M2:
    return static_cast<double>(rt::f8E5M2ToF32(tensor.as<uint8_t>()[index]));
  case kCollI8:
    return tensor.as<int8_t>()[index];
  case kCollBool:
  case kCollU8:
    return tensor.as<uint8_t>()[index];
  }
  return 0;
}

bool compare(const Outcome &got, const Outcome &expected, std::optional<double> rtol) {
  if (got.state.size() != expected.state.size() || got.results.size() != expected.results.size()) {
    std::printf("the two are not forms of one step: %zu and %zu state arguments\n",
                got.state.size(), expected.state.size());
    return false;
  }
  Comparison comparison(rtol);
  for (size_t i = 0; i < got.state.size(); ++i)
    comparison.add(got.names[i], got.state[i], expected.state[i]);
  for (size_t step = 0; step < got.results.size(); ++step)
    for (size_t k = 0; k < std::min(got.results[step].size(), expected.results[step].size()); ++k)
      comparison.add("result " + std::to_string(k) + " of step " + std::to_string(step + 1),
                     got.results[step][k], expected.results[step][k]);
  return comparison.report();
}

} // namespace coll::exec
