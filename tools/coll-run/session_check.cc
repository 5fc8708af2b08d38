//===- session_check.cc - the data, and what a run is compared with --------------------===//

#include "compiler/error.h"
#include "tools/coll-run/session.h"

#include "llvm/Support/Format.h"

namespace coll::run {

// Two training runs drift apart by rounding alone, and more with every step; so with a data set
// only the beginning is compared.
static constexpr int64_t kCheckedDatasetSteps = 8;

llvm::Error Session::openData() {
  const rt::Descriptor &descriptor = step_.executor->descriptor();
  for (const rt::StateInfo &state : descriptor.states)
    stateInfos_.push_back(state.info);
  for (const rt::TensorInfo &info : descriptor.args)
    if (!info.isState())
      batchInfos_.push_back(info);
  resultInfos_ = freeResults(descriptor);
  if (llvm::Error error = chooseLoss())
    return error;
  // The import of StableHLO has used --state-args; other steps have roles already, which must
  // agree.
  if (options_.stateArgs && *options_.stateArgs != int64_t(stateInfos_.size()))
    return makeError("--state-args=" + llvm::Twine(*options_.stateArgs) + ", but '" +
                     options_.input + "' has " + counted(stateInfos_.size(), "state argument") +
                     ": in a step that is not StableHLO, coll.role says which they are");
  auto inputs = openInputs(options_, stateInfos_, batchInfos_,
                           [this](const llvm::Twine &text) { note(text); });
  if (!inputs)
    return inputs.takeError();
  inputs_ = std::move(*inputs);
  return openReference();
}

llvm::Error Session::chooseLoss() {
  result_.loss = findLoss(resultInfos_);
  if (!options_.loss.empty()) {
    llvm::Expected<size_t> chosen = run::chooseLoss(resultInfos_, options_.loss);
    if (!chosen)
      return chosen.takeError();
    result_.loss = *chosen;
  } else if (std::string text = noteOnLoss(resultInfos_, result_.loss); !text.empty()) {
    note(text);
  }
  return llvm::Error::success();
}

llvm::Error Session::openReference() {
  if (!place_.isRoot() || options_.reference.empty())
    return llvm::Error::success();
  auto reference = Reference::read(options_.reference, stateInfos_, resultInfos_, inputs_.steps);
  if (!reference)
    return reference.takeError();
  reference_ = std::move(*reference);
  return llvm::Error::success();
}

llvm::Error Session::openEvaluation() {
  llvm::Expected<std::vector<NpyArray>> test = inputs_.dataset->readTest();
  if (!test)
    return test.takeError();
  auto evaluation = Evaluation::create(compiler_, options_.eval, stateInfos_, std::move(*test));
  if (!evaluation)
    return evaluation.takeError();
  evaluation_ = std::move(*evaluation);
  return llvm::Error::success();
}

/// Whether --check can judge the last step by itself. Gradients that wait are state that users do
/// not see, and between a CPU and a GPU a single step differs by more than the noise of one;
/// between GPUs that was not measured.
bool Session::judgesLastStep() const {
  return options_.gpu.empty() && options_.checkGpu.empty() &&
         llvm::none_of(step_.executor->descriptor().args,
                       [](const rt::TensorInfo &arg) { return arg.isInternal; });
}

llvm::Error Session::checkBeginning() {
  llvm::Expected<bool> keeps = askRoot(judgesLastStep());
  if (!keeps)
    return keeps.takeError();
  RunResult run;
  run.loss = result_.loss;
  run.keepsBeforeLast = *keeps;
  int64_t steps = std::min(inputs_.steps, kCheckedDatasetSteps);
  if (llvm::Error error = runSteps(*step_.executor, inputs_.state, *inputs_.batches, steps, run))
    return error;
  return place_.isRoot() ? checkAgainstSingle(run) : llvm::Error::success();
}

llvm::Error Session::checkEnd() { return checkAgainstSingle(result_); }

/// Whether a product computes what follows it: it then rounds at other places than the step.
static bool fusesProducts(const rt::Program &program) {
  return llvm::any_of(program.descriptor.computations, [](const rt::Computation &computation) {
    return computation.kind == "fused product";
  });
}

Checker Session::makeChecker() {
  Checker::Settings settings;
  settings.tolerance = {options_.rtol, options_.atol, options_.rms};
  settings.isStrict = options_.strict;
  settings.seed = options_.seed;
  if (llvm::any_of(step_.executor->classes(), fusesProducts))
    settings.twin = Twin::Foreign;
  std::vector<std::string> states, results;
  for (size_t i = 0; i < stateInfos_.size(); ++i)
    states.push_back(stateName(i));
  for (size_t k = 0; k < resultInfos_.size(); ++k)
    results.push_back(nameOfResult(resultInfos_, k));
  return Checker(settings, std::move(states), std::move(results), single_ ? &*single_ : nullptr,
                 inputs_.state, *inputs_.batches);
}

llvm::Error Session::checkAgainstSingle(const RunResult &run) {
  auto comparisons = makeChecker().compareWithSingle(run);
  if (!comparisons)
    return comparisons.takeError();
  if (!place_.job)
    if (llvm::Error error = compareReplicas(*step_.executor, *comparisons))
      return error;
  report("check: " + counted(step_.executor->numRanks(), "rank") + " against one, after " +
             counted(run.numSteps(), "step"),
         std::move(*comparisons));
  return llvm::Error::success();
}

llvm::Error Session::checkAgainstReference() {
  std::string why;
  auto comparisons = makeChecker().compareWithReference(result_, *reference_, why);
  if (!comparisons)
    return comparisons.takeError();
  if (!why.empty())
    note(why);
  report("reference: " + options_.reference, std::move(*comparisons));
  return llvm::Error::success();
}

void Session::report(llvm::StringRef title, std::vector<Comparison> comparisons) {
  areChecksOk_ &= run::report(llvm::outs(), title, comparisons, options_.rms, options_.quiet);
  llvm::outs().flush();
  if (report_)
    report_->contents().checks.push_back({title.str(), options_.rms, std::move(comparisons)});
}

llvm::Error Session::evaluateHeldOut() {
  llvm::Expected<Accuracy> accuracy = evaluation_->run(result_.state);
  if (!accuracy)
    return accuracy.takeError();
  std::string share, counts;
  llvm::raw_string_ostream(share) << llvm::format("%.2f %%",
                                                  100.0 * accuracy->correct / accuracy->total);
  llvm::raw_string_ostream(counts) << accuracy->correct << " of " << accuracy->total;
  if (!options_.quiet)
    llvm::outs() << "held-out accuracy: " << share << " (" << counts << ")\n";
  if (report_)
    report_->contents().accuracy = {share, counts};
  return llvm::Error::success();
}

} // namespace coll::run
