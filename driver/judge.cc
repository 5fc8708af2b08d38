//===- judge.cc - which differences are rounding ----------------------------------===//

#include "driver/judge.h"

#include <algorithm>

namespace coll::run {
namespace {

constexpr double kNoiseFactor = 8, kNearFactor = 64;
constexpr double kNoiseCeiling = 1e-2; // of a tensor's, or a group's, largest value
// In steps with bf16 or f16: the most that the root mean square of a tensor's noise may be, as a
// part of the tensor's largest value.
constexpr double kNarrowCeiling = 3e-2;

// In one step, two moves of an element that are equal but for their sign may differ by so much of
// the tensor's largest value.
constexpr double kRounding = 1e-6;

using Path = std::vector<llvm::StringRef>;

size_t commonSuffix(const Path &a, const Path &b) {
  size_t length = 0;
  while (length < a.size() && length < b.size() && a.rbegin()[length] == b.rbegin()[length])
    ++length;
  return length;
}

bool startsWith(const Path &path, const Path &prefix) {
  return path.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), path.begin());
}

class Judge {
public:
  Judge(std::vector<Comparison> &comparisons, llvm::ArrayRef<Evidence> evidence,
        const JudgedRun &run)
      : comparisons_(comparisons), evidence_(evidence), run_(run) {
    for (const Comparison &comparison : comparisons)
      paths_.push_back(splitPath(comparison.name));
  }

  void run();

private:
  bool explains(size_t i) const {
    const Comparison &comparison = comparisons_[i];
    const Noise &noise = evidence_[i].noise;
    const bool isLargestSmall = comparison.largest <= kNoiseFactor * noise.largest;
    return comparison.note.empty() && (run_.isRms || isLargestSmall) &&
           comparison.rms <= kNoiseFactor * noise.rms;
  }
  /// Whether the noise explains all but a few elements, which a flipped sign may have moved beyond
  /// it.
  bool mayHaveFlips(size_t i) const {
    const Comparison &comparison = comparisons_[i];
    return comparison.note.empty() && comparison.bulk < comparison.largest &&
           comparison.largest > kNoiseFactor * evidence_[i].noise.largest &&
           comparison.bulk <= kNoiseFactor * evidence_[i].noise.largest &&
           comparison.bulkRms <= kNoiseFactor * evidence_[i].noise.rms &&
           comparison.largest <= 2 * evidence_[i].change + roundingOfAMove(i);
  }
  double roundingOfAMove(size_t i) const {
    return run_.isOneStep ? kRounding * comparisons_[i].maxReference : 0;
  }
  bool isSmall(size_t i) const;
  std::vector<size_t> twins(size_t i) const;
  double siblingValue(size_t i) const;
  double groupScale(size_t i) const;
  void judgeGradient(size_t i);

  std::vector<Comparison> &comparisons_;
  llvm::ArrayRef<Evidence> evidence_;
  const JudgedRun run_;
  std::vector<Path> paths_;
};

/// The tensors with the same place in other trees: those of the same shape that share the longest
/// end of the name.
std::vector<size_t> Judge::twins(size_t i) const {
  std::vector<size_t> found;
  size_t longest = 1;
  for (size_t j = 0; j < paths_.size(); ++j) {
    size_t length = commonSuffix(paths_[i], paths_[j]);
    if (j == i || length < longest || evidence_[i].shape != evidence_[j].shape)
      continue;
    if (length > longest)
      found.clear();
    longest = length;
    found.push_back(j);
  }
  return found;
}

/// The largest value of the tensors beside `i`, if no other tree repeats it: such as `var` for
/// `mean`.
double Judge::siblingValue(size_t i) const {
  Path parent = paths_[i];
  if (parent.size() < 2)
    return 0;
  parent.pop_back();
  double largest = 0;
  for (size_t j = 0; j < paths_.size(); ++j)
    if (paths_[j].size() == paths_[i].size() && startsWith(paths_[j], parent))
      largest = std::max(largest, comparisons_[j].maxReference);
  return largest;
}

/// The largest change of the tensors of the group of `i`, with which its noise is compared.
double Judge::groupScale(size_t i) const {
  std::vector<size_t> others = twins(i);
  if (others.empty())
    return siblingValue(i);
  Path root = paths_[i];
  root.resize(root.size() - commonSuffix(root, paths_[others[0]]));
  double largest = 0;
  for (size_t j = 0; j < paths_.size(); ++j)
    if (startsWith(paths_[j], root))
      largest = std::max(largest, evidence_[j].change);
  return largest;
}

/// Whether the noise of `i` leaves room for no larger error than a check is to find.
bool Judge::isSmall(size_t i) const {
  const Comparison &comparison = comparisons_[i];
  const double most = kNoiseCeiling * comparison.maxReference;
  return *comparison.noise <= most || *comparison.noise <= kNoiseCeiling * groupScale(i) ||
         (run_.isNarrow && comparison.delta <= kNoiseFactor * most &&
          evidence_[i].noise.rms <= kNarrowCeiling * comparison.maxReference);
}

/// Accepts a tensor that is not judged where its gradient was.
void Judge::judgeGradient(size_t i) {
  Comparison &comparison = comparisons_[i];
  const bool isExplained = explains(i);
  for (size_t j : twins(i)) {
    const Comparison &twin = comparisons_[j];
    if (!twin.isOk || twin.basis == Basis::Gradient || evidence_[j].change == 0)
      continue;
    comparison.isOk = true;
    comparison.basis = Basis::Gradient;
    comparison.note = "not judged, as " +
                      std::string(isExplained ? "it is noise" : "signs of noise may have flipped") +
                      "; " + twin.name + " was";
    return;
  }
  if (isExplained)
    comparison.note = "cannot be judged: its noise is more than " +
                      std::string(run_.isNarrow ? "3e-2" : "1e-2") +
                      " of its largest value; let the step return its gradient, too, under the "
                      "same name";
}

void Judge::run() {
  std::vector<size_t> unjudged;
  for (size_t i = 0; i < comparisons_.size(); ++i) {
    Comparison &comparison = comparisons_[i];
    if (comparison.isOk)
      continue;
    if (explains(i) && isSmall(i)) {
      comparison.isOk = true;
      comparison.basis = Basis::Noise;
    } else if (explains(i) || mayHaveFlips(i)) {
      unjudged.push_back(i);
    }
  }
  for (size_t i : unjudged)
    judgeGradient(i);
}

} // namespace

std::vector<llvm::StringRef> splitPath(llvm::StringRef name) {
  std::vector<llvm::StringRef> parts;
  while (!name.empty()) {
    size_t end = name.find_first_of("[.", 1);
    llvm::StringRef part = name.take_front(end);
    parts.push_back(part.trim("[].'\""));
    name = name.drop_front(part.size());
  }
  return parts;
}

void judgeByNoise(std::vector<Comparison> &comparisons, llvm::ArrayRef<Evidence> evidence,
                  const JudgedRun &run) {
  for (auto [comparison, known] : llvm::zip_equal(comparisons, evidence))
    comparison.noise = run.isRms ? known.noise.rms : known.noise.largest;
  Judge(comparisons, evidence, run).run();
}

bool mayBeExplainedYet(llvm::ArrayRef<Comparison> judged) {
  return llvm::all_of(judged, [](const Comparison &comparison) {
    return comparison.isOk ||
           (comparison.noise && comparison.delta <= kNearFactor * *comparison.noise);
  });
}

} // namespace coll::run
