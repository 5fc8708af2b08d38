//===- checker.cc - compares a run with its references -----------------------------===//

#include "driver/checker.h"

#include "compiler/error.h"
#include "runtime/program/shard.h"

#include "llvm/Support/Format.h"

namespace coll::run {
namespace {

// A rare flip, such as that of the sign of one gradient, may not occur in a few draws.
constexpr int kMostRounds = 4;

/// The outcome of a run as a reference. The loss is compared step by step instead.
Reference toReference(const RunResult &run) {
  Reference reference;
  reference.state = run.state;
  for (size_t k = 0; k < run.results.size(); ++k)
    reference.results.push_back(k == run.loss ? std::nullopt : std::optional(run.results[k]));
  if (run.loss)
    reference.losses = run.losses;
  return reference;
}

/// Step `step` of another source, as the only one.
class OneBatch : public BatchSource {
public:
  OneBatch(BatchSource &source, int64_t step) : source_(source), step_(step) {}

  int64_t numSteps() const override { return 1; }
  llvm::Expected<Tensors> batch(int64_t) override { return source_.batch(step_); }

private:
  BatchSource &source_;
  int64_t step_;
};

bool isOk(const Comparison &comparison) { return comparison.isOk; }

bool isExcused(const Comparison &comparison) {
  return isOk(comparison) && comparison.basis != Basis::Tolerance;
}

/// Fails a tensor by what was found of the last step alone.
void failByLastStep(Comparison &comparison, const Comparison &lastStep) {
  comparison.isOk = false;
  llvm::raw_string_ostream os(comparison.note);
  os << (comparison.note.empty() ? "" : "; ")
     << llvm::format("the last step alone is %.3g off, with a noise of %.3g", lastStep.delta,
                     lastStep.noise.value_or(0));
  if (!lastStep.note.empty())
    os << ": " << lastStep.note;
}

} // namespace

/// `losses`: those of `run` that there are in `expected`.
std::vector<Comparison> Checker::compare(const RunResult &run, const std::vector<double> &losses,
                                         const Reference &expected) const {
  const Tolerance &tolerance = settings_.tolerance;
  std::vector<Comparison> comparisons;
  for (size_t i = 0; i < run.state.size(); ++i)
    comparisons.push_back(
        compareTensors(stateNames_[i], run.state[i], expected.state[i], tolerance));
  for (size_t k = 0; k < run.results.size(); ++k)
    if (const std::optional<rt::HostTensor> &result = expected.results[k])
      comparisons.push_back(compareTensors(resultNames_[k], run.results[k], *result, tolerance));
  if (expected.losses)
    comparisons.push_back(compareLosses(losses, *expected.losses, tolerance));
  return comparisons;
}

/// In the order of compare().
std::vector<Evidence> Checker::gather(const RunNoise &noise, const Reference &expected,
                                      const Tensors &start, const RunResult &baseline,
                                      llvm::ArrayRef<Comparison> comparisons) const {
  std::vector<Evidence> evidence;
  for (size_t i = 0; i < start.size(); ++i)
    evidence.push_back({noise.state[i], start[i].shape,
                        compareTensors("", baseline.state[i], start[i], {}).delta});
  auto addResult = [&](const Noise &own, std::vector<int64_t> shape) {
    evidence.push_back({own, std::move(shape), comparisons[evidence.size()].maxReference});
  };
  for (size_t k = 0; k < expected.results.size(); ++k)
    if (expected.results[k])
      addResult(noise.results[k], expected.results[k]->shape);
  if (expected.losses)
    addResult(noise.losses, {int64_t(expected.losses->size())});
  return evidence;
}

bool Checker::mayBeNoise(llvm::ArrayRef<Comparison> comparisons) const {
  return !settings_.isStrict && single_ && !llvm::all_of(comparisons, isOk);
}

llvm::Error Checker::judge(std::vector<Comparison> &comparisons, const Reference &expected,
                           Twin twin, Start start, const RunResult &baseline) {
  const std::vector<Comparison> given = comparisons;
  RunNoise noise;
  for (int round = 0; round < kMostRounds; ++round) {
    if (llvm::Error error = single_->measure(twin, start.state, start.batches, baseline,
                                             settings_.seed, round, noise))
      return error;
    comparisons = given;
    judgeByNoise(comparisons, gather(noise, expected, start.state, baseline, comparisons),
                 {settings_.tolerance.rms, single_->hasNarrowFloats(), baseline.numSteps() == 1});
    if (!mayBeNoise(comparisons) || !mayBeExplainedYet(comparisons))
      break;
  }
  return llvm::Error::success();
}

llvm::Error Checker::judgeLastStep(std::vector<Comparison> &comparisons, const RunResult &run) {
  OneBatch batch(batches_, run.numSteps() - 1);
  llvm::Expected<RunResult> single = single_->run(run.beforeLast, batch, 1, run.loss);
  if (!single)
    return single.takeError();
  Reference expected = toReference(*single);
  std::vector<double> loss;
  if (!run.losses.empty())
    loss.push_back(run.losses.back());
  std::vector<Comparison> lastStep = compare(run, loss, expected);
  if (mayBeNoise(lastStep))
    if (llvm::Error error =
            judge(lastStep, expected, settings_.twin, {run.beforeLast, batch}, *single))
      return error;
  for (auto [comparison, last] : llvm::zip_equal(comparisons, lastStep))
    if (isExcused(comparison) && !last.isOk)
      failByLastStep(comparison, last);
  return llvm::Error::success();
}

llvm::Expected<std::vector<Comparison>> Checker::compareWithSingle(const RunResult &run) {
  llvm::Expected<RunResult> single = single_->run(state_, batches_, run.numSteps(), run.loss);
  if (!single)
    return single.takeError();
  Reference expected = toReference(*single);
  std::vector<Comparison> comparisons = compare(run, run.losses, expected);
  if (!mayBeNoise(comparisons))
    return comparisons;
  if (llvm::Error error = judge(comparisons, expected, settings_.twin, {state_, batches_}, *single))
    return error;
  if (!run.beforeLast.empty() && llvm::all_of(comparisons, isOk) &&
      llvm::any_of(comparisons, isExcused))
    if (llvm::Error error = judgeLastStep(comparisons, run))
      return error;
  return comparisons;
}

llvm::Expected<std::vector<Comparison>>
Checker::compareWithReference(const RunResult &run, const Reference &reference, std::string &note) {
  std::vector<Comparison> comparisons = compare(run, run.losses, reference);
  if (!mayBeNoise(comparisons))
    return comparisons;
  if (llvm::Error error = single_->launch()) {
    note = "the tolerance alone decides: " + llvm::toString(std::move(error));
    return comparisons;
  }
  llvm::Expected<RunResult> single = single_->run(state_, batches_, run.numSteps(), run.loss);
  if (!single)
    return single.takeError();
  if (llvm::Error error = judge(comparisons, reference, Twin::Foreign, {state_, batches_}, *single))
    return error;
  return comparisons;
}

/// The comparison of each state argument; null if it is internal. States that share an argument
/// are split over ranks, so that one stands for all.
static std::vector<Comparison *> listComparisons(const rt::Descriptor &descriptor,
                                                 std::vector<Comparison> &comparisons) {
  std::vector<Comparison *> list;
  for (size_t arg = 0; arg < descriptor.args.size(); ++arg) {
    if (!descriptor.args[arg].isState())
      continue;
    auto state = llvm::find_if(descriptor.states, [&](auto &s) { return s.arg == int(arg); });
    list.push_back(descriptor.args[arg].isInternal
                       ? nullptr
                       : &comparisons[state - descriptor.states.begin()]);
  }
  return list;
}

llvm::Error compareReplicas(rt::Executor &executor, std::vector<Comparison> &comparisons) {
  const std::vector<rt::TensorInfo> &args = executor.descriptor().args;
  std::vector<Comparison *> comparisonOf = listComparisons(executor.descriptor(), comparisons);
  Tensors first; // of each state argument, what the first rank that keeps it has
  std::vector<int> firstRank;
  for (int rank = 0; rank < executor.numRanks(); ++rank) {
    llvm::Expected<Tensors> own = toExpected(executor.stateOf(rank));
    if (!own)
      return own.takeError();
    first.resize(own->size());
    firstRank.resize(own->size(), rank);
    size_t i = 0;
    for (const rt::TensorInfo &info : args) {
      if (!info.isState())
        continue;
      rt::HostTensor &a = first[i], &b = (*own)[i];
      Comparison *comparison = comparisonOf[i];
      if (a.data.empty()) {
        firstRank[i] = rank;
        a = std::move(b);
      } else if (comparison && rt::isReplicated(info) && !b.data.empty() && a.data != b.data) {
        comparison->isOk = false;
        comparison->note = "ranks " + std::to_string(firstRank[i]) + " and " +
                           std::to_string(rank) + " hold different values";
      }
      ++i;
    }
  }
  return llvm::Error::success();
}

} // namespace coll::run
