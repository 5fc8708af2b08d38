//===- judge.h - which differences are rounding ---------------------------*- C++ -*-===//
//
// A tolerance that is fixed in advance fails correct steps: Adam moves a parameter whose gradient
// is zero by the sign of a rounding error. So a tensor that is beyond the tolerance is judged by
// its own noise (noise.h), in this order:
//
//   1. It is right where |Δ| <= 8 × noise and noise <= 1e-2 × its largest value. The largest |Δ| is
//      compared with the noise's, and the root mean square of Δ as well: an error of all elements
//      is not rounding, where an error of a few elements may be.
//   2. It is zero where |Δ| <= 8 × noise and noise <= 1e-2 × the largest change of a tensor of its
//      group, as the moments of a parameter without gradient are. The group is the tree that it
//      stands in: all `s[1].mu[…]` of `s[1].mu['w']`. A tensor that no other tree repeats is
//      measured by the values beside it, as a batch norm's running mean is by its variance.
//   3. In a step with floats of 16 or 8 bits it is right where |Δ| <= 8 × noise, the root mean
//      square of the noise is <= 3e-2 × its largest value, and |Δ| is <= 8e-2 of that. The first
//      rule accepts no larger difference either, so this rule hides no error that the first one
//      finds. README.md says why the limit is not 1e-2.
//   4. Where its noise is larger, it hides what the tensor should be. Where all but one element of
//      64 are within 8 × noise, by their root mean square as well, and the others are beyond it by
//      no more than twice what the steps changed, a sign may have flipped: Adam moves an element by
//      the sign of its first gradient, however small that is, and a flip is too rare to show in
//      every measurement. In both cases the tensor is not judged, which is accepted only if a
//      tensor that keeps its gradient was judged: one that the steps change, of the same shape and
//      with the same place in another tree, as `s[1].mu['w']` is for `s[0]['w']`.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_DRIVER_JUDGE_H
#define COLL_DRIVER_JUDGE_H

#include "driver/check.h"
#include "driver/noise.h"

namespace coll::run {

/// Data about a compared tensor besides its comparison.
struct Evidence {
  Noise noise;
  std::vector<int64_t> shape;
  double change = 0; // the largest |Δ| of an element from the initial to the final state
};

/// What the run was like whose outcome is judged.
struct JudgedRun {
  bool isRms = false;     // the tolerance is about root mean squares
  bool isNarrow = false;  // the step has floats of 16 or 8 bits
  bool isOneStep = false; // so that a flipped sign is off by twice one move, and by its rounding
};

/// Whether more draws could explain the differences that these do not: none is beyond 64 × noise.
bool mayBeExplainedYet(llvm::ArrayRef<Comparison> judged);

/// Sets the noise of each comparison, and accepts those beyond the tolerance that the noise
/// explains. `evidence` has one entry per comparison.
void judgeByNoise(std::vector<Comparison> &comparisons, llvm::ArrayRef<Evidence> evidence,
                  const JudgedRun &run);

/// The parts of a name: `s`, `1`, `mu`, `w` of `s[1].mu['w']`.
std::vector<llvm::StringRef> splitPath(llvm::StringRef name);

} // namespace coll::run

#endif // COLL_DRIVER_JUDGE_H
