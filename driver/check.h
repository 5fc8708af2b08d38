//===- check.h - comparing two runs -----------------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_CHECK_H
#define COLL_DRIVER_CHECK_H

#include "driver/tensors.h"

#include <optional>

namespace coll::run {

/// The tolerance: per tensor, max |Δ| <= rtol * max |reference| + atol. With `rms` it is the root
/// mean square of Δ instead of its maximum. Without `rtol` it is 1e-4 for f32 and f64 tensors, 1e-3
/// for f16, 1e-2 for bf16, one unit in the last place for eight-bit floats, and 1e-5 for losses.
/// Integers must be equal. A NaN equals a NaN at the same place and nothing else; so do infinities.
struct Tolerance {
  std::optional<double> rtol;
  std::optional<double> atol;
  bool rms = false;
};

/// The reason why a tensor was accepted.
enum class Basis {
  Tolerance,
  Noise,    // its own, measured: see judge.h
  Gradient, // not the tensor, all or part of which is noise, but one that keeps its gradient
};

/// One element of this many may be an outlier; in a smaller tensor one element, if it has at least
/// eight.
constexpr int64_t kElementsPerOutlier = 64;

/// The outcome for one tensor.
struct Comparison {
  std::string name;
  double largest = 0, rms = 0;  // of |Δ|
  double bulk = 0, bulkRms = 0; // the same without the few largest ones: see kElementsPerOutlier
  double delta = 0;             // that of the two which the tolerance is about
  double maxReference = 0;
  bool isOk = true;
  Basis basis = Basis::Tolerance;
  std::optional<double> noise; // as `delta`, where it was measured
  std::string note;            // where sizes differ, and of NaNs

  double relative() const;
};

Comparison compareTensors(std::string name, const rt::HostTensor &got,
                          const rt::HostTensor &reference, const Tolerance &tolerance);

/// Compares the losses of all steps, as one tensor.
Comparison compareLosses(const std::vector<double> &got, const std::vector<double> &reference,
                         const Tolerance &tolerance);

/// Prints one line per comparison and a verdict; only failures where `onlyFailures`. `rms` as
/// in the tolerance. Returns whether all are ok.
bool report(llvm::raw_ostream &os, llvm::StringRef title,
            const std::vector<Comparison> &comparisons, bool rms, bool onlyFailures);

/// `12 of 14 within tolerance, 1 within 8 times its noise`.
std::string summarize(const std::vector<Comparison> &comparisons);

} // namespace coll::run

#endif // COLL_DRIVER_CHECK_H
