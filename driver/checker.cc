//===- checker.cc - compares a run with its references -----------------------------===//

#include "driver/checker.h"

#include "compiler/error.h"
#include "runtime/program/shard.h"

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

} // namespace

std::vector<Comparison> Checker::compare(const RunResult &run, const Reference &expected) const {
  const Tolerance &tolerance = settings_.tolerance;
  std::vector<Comparison> comparisons;
  for (size_t i = 0; i < run.state.size(); ++i)
    comparisons.push_back(
        compareTensors(stateNames_[i], run.state[i], expected.state[i], tolerance));
  for (size_t k = 0; k < run.results.size(); ++k)
    if (const std::optional<rt::HostTensor> &result = expected.results[k])
      comparisons.push_back(compareTensors(resultNames_[k], run.results[k], *result, tolerance));
  if (expected.losses)
    comparisons.push_back(compareLosses(run.losses, *expected.losses, tolerance));
  return comparisons;
}

/// In the order of compare().
std::vector<Evidence> Checker::gather(const RunNoise &noise, const Reference &expected,
                                      const RunResult &baseline,
                                      llvm::ArrayRef<Comparison> comparisons) const {
  std::vector<Evidence> evidence;
  for (size_t i = 0; i < state_.size(); ++i)
    evidence.push_back({noise.state[i], state_[i].shape,
                        compareTensors("", baseline.state[i], state_[i], {}).delta});
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
  return !settings_.isStrict && single_ &&
         llvm::any_of(comparisons, [](const Comparison &c) { return !c.isOk; });
}

llvm::Error Checker::judge(std::vector<Comparison> &comparisons, const Reference &expected,
                           Twin twin, const RunResult &baseline) {
  const std::vector<Comparison> given = comparisons;
  RunNoise noise;
  for (int round = 0; round < kMostRounds; ++round) {
    if (llvm::Error error =
            single_->measure(twin, state_, batches_, baseline, settings_.seed, round, noise))
      return error;
    comparisons = given;
    judgeByNoise(comparisons, gather(noise, expected, baseline, comparisons),
                 settings_.tolerance.rms, single_->hasNarrowFloats());
    if (!mayBeNoise(comparisons) || !mayBeExplainedYet(comparisons))
      break;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<Comparison>> Checker::compareWithSingle(const RunResult &run) {
  llvm::Expected<RunResult> single = single_->run(state_, batches_, run.numSteps(), run.loss);
  if (!single)
    return single.takeError();
  Reference expected = toReference(*single);
  std::vector<Comparison> comparisons = compare(run, expected);
  if (mayBeNoise(comparisons))
    if (llvm::Error error = judge(comparisons, expected, Twin::OurOwn, *single))
      return error;
  return comparisons;
}

llvm::Expected<std::vector<Comparison>>
Checker::compareWithReference(const RunResult &run, const Reference &reference, std::string &note) {
  std::vector<Comparison> comparisons = compare(run, reference);
  if (!mayBeNoise(comparisons))
    return comparisons;
  if (llvm::Error error = single_->launch()) {
    note = "the tolerance alone decides: " + llvm::toString(std::move(error));
    return comparisons;
  }
  llvm::Expected<RunResult> single = single_->run(state_, batches_, run.numSteps(), run.loss);
  if (!single)
    return single.takeError();
  if (llvm::Error error = judge(comparisons, reference, Twin::Foreign, *single))
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
