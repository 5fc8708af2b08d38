//===- session.cc - one invocation of coll-run ----------------------------------===//

#include "tools/coll-run/session.h"

#include "compiler/error.h"
#include "runtime/base/log.h"
#include "runtime/step/affinity.h"
#include "tools/coll-run/printer.h"

#include <cmath>
#include <cstring>

namespace coll::run {

// The process of rank 0 reports errors in the program for all processes.
static Audience chooseAudience(const Options &options, const Place &place) {
  if (!place.isRoot())
    return Audience::Nothing;
  if (options.quiet)
    return Audience::Problems;
  return options.verbose ? Audience::Everything : Audience::Usual;
}

Session::Session(const Options &options, const Place &place)
    : options_(options), place_(place), compiler_(makePrinter(chooseAudience(options, place))) {
  compiler_.logCacheUse([](const std::string &text) { rt::log(rt::LogLevel::Info, text); });
  if (!options.cacheDir.empty())
    compiler_.useCache(options.cacheDir, options.cacheBytes);
}

llvm::Expected<int> Session::run() {
  if (llvm::Error error = prepare())
    return error;
  llvm::Error error = runStages();
  if (report_) {
    fillReport();
    error = report_->finish(std::move(error));
  }
  if (error)
    return error;
  return exitCode_;
}

llvm::Error Session::timed(const char *phase, llvm::Error (Session::*stage)()) {
  if (!report_)
    return (this->*stage)();
  return report_->timePhase(phase, [&] { return (this->*stage)(); });
}

/// The error, with the messages that only the process of rank 0 prints: rank 0 may fail later, or
/// be ended before it has printed them.
llvm::Error Session::withProblem(llvm::Error error) {
  if (place_.isRoot())
    return error;
  for (const Message &message : compiler_.messages().all())
    if (message.severity == mlir::DiagnosticSeverity::Error)
      return makeError(llvm::toString(std::move(error)) + ": " + message.text);
  return error;
}

llvm::Error Session::runStages() {
  if (llvm::Error error = timed("compiling", &Session::launch))
    return withProblem(std::move(error));
  if (options_.planOnly)
    return llvm::Error::success();
  if (llvm::Error error = timed("reading data", &Session::openData))
    return error;
  if (place_.isRoot() && !options_.eval.empty())
    if (llvm::Error error = timed("preparing the evaluation", &Session::openEvaluation))
      return error;
  if (options_.check && inputs_.dataset)
    if (llvm::Error error = timed("checking", &Session::checkBeginning))
      return error;
  if (llvm::Error error = timed("running", &Session::train))
    return error;
  if (!place_.isRoot())
    return llvm::Error::success();
  // Saved first, so that later failures do not lose the trained state.
  if (!options_.save.empty())
    if (llvm::Error error = save())
      return error;
  if (isStopped())
    return llvm::Error::success();
  if (options_.check && !inputs_.dataset)
    if (llvm::Error error = timed("checking", &Session::checkEnd))
      return error;
  if (reference_)
    if (llvm::Error error = timed("checking", &Session::checkAgainstReference))
      return error;
  if (evaluation_)
    if (llvm::Error error = timed("evaluating", &Session::evaluateHeldOut))
      return error;
  if (options_.print)
    print();
  return areChecksOk_ ? llvm::Error::success() : makeError("the check failed");
}

/// Fails early if the ranks could not be placed, or the run's outcome could not be written.
llvm::Error Session::prepare() {
  if (!options_.affinity.empty())
    if (auto affinity = rt::Affinity::create(options_.affinity); !affinity)
      return toError(affinity.status().annotate("--affinity"));
  if (!options_.report.empty()) {
    auto report = Report::create(describeReport(options_), place_);
    if (!report)
      return report.takeError();
    report_ = std::move(*report);
  }
  if (!options_.profile.empty()) {
    auto profile = Profile::create(options_.profile, place_);
    if (!profile)
      return profile.takeError();
    profile_ = std::move(*profile);
  }
  if (!place_.isRoot())
    return llvm::Error::success();
  if (!options_.save.empty())
    if (llvm::Error error = checkWritable(options_.save))
      return error;
  if (options_.dumpStages.empty())
    return llvm::Error::success();
  auto stages = StageWriter::create(options_.dumpStages);
  if (!stages)
    return stages.takeError();
  stages_ = std::move(*stages);
  compiler_.dumpStages(stages_.get());
  return llvm::Error::success();
}

/// What rank 0's process says, whose options decide what it does for all. Every process calls it.
llvm::Expected<bool> Session::askRoot(bool own) {
  auto answer = toExpected(step_.executor->broadcast(own ? "yes" : ""));
  if (!answer)
    return answer.takeError();
  return !answer->empty();
}

llvm::Error Session::train() {
  llvm::Expected<bool> saves = askRoot(!options_.save.empty());
  if (!saves)
    return saves.takeError();
  if (*saves)
    stopping_.emplace(*step_.executor, inputs_.steps, place_.isRoot());
  llvm::Expected<bool> keeps = askRoot(options_.check && !inputs_.dataset && judgesLastStep());
  if (!keeps)
    return keeps.takeError();
  result_.keepsBeforeLast = *keeps;
  Progress progress(inputs_.steps, isQuiet());
  auto afterStep = [&](const RunResult &run) { return this->afterStep(progress, run); };
  auto run = [&] {
    llvm::Error error = runSteps(*step_.executor, inputs_.state, *inputs_.batches, inputs_.steps,
                                 result_, afterStep);
    progress.finish();
    return error;
  };
  auto profiled = [&] {
    auto noted = [&](const std::string &text) { note(text); };
    return profile_ ? profile_->record(*step_.executor, run, noted) : run();
  };
  if (llvm::Error error = report_ ? report_->record(*step_.executor, profiled) : profiled())
    return error;
  noteLostLoss();
  if (isQuiet())
    return llvm::Error::success();
  if (inputs_.dataset)
    printLossCurve(llvm::outs(), result_.losses, isUnicodeLocale());
  printSummary(llvm::outs(), step_.executor->numRanks(), result_.numSteps(), result_.seconds,
               result_.stats);
  return llvm::Error::success();
}

/// Returns whether the user wants the run to end here; all processes return the same.
llvm::Expected<bool> Session::afterStep(Progress &progress, const RunResult &run) {
  const std::optional<double> loss =
      run.losses.empty() ? std::nullopt : std::optional(run.losses.back());
  progress.update(run.numSteps(), loss, run.stats.bytesPerStep);
  if (!stopping_)
    return false;
  llvm::Expected<int> signal = stopping_->agreeAfter(run.numSteps());
  if (!signal)
    return signal.takeError();
  return *signal != 0;
}

/// Whether the user has ended the run; then the saved state is its only outcome. If not, a signal
/// ends the process from here on.
bool Session::isStopped() {
  const int signal = stopping_ ? stopping_->finish() : 0;
  if (!signal)
    return false;
  exitCode_ = 128 + signal;
  llvm::outs().flush(); // what it says of the steps comes first
  std::string text = ("stopped by a signal (" + llvm::Twine(strsignal(signal)) + ") after step " +
                      llvm::Twine(result_.numSteps()) + " of " + llvm::Twine(inputs_.steps) +
                      "; saved in '" + options_.save + "'")
                         .str();
  compiler_.messages().say(
      {mlir::DiagnosticSeverity::Warning, text, "", "coll-run: " + text + "\n", {}});
  if (report_)
    report_->contents().outcome = Outcome::Stopped;
  return true;
}

void Session::noteLostLoss() {
  auto isLost = [](double loss) { return !std::isfinite(loss); };
  auto first = llvm::find_if(result_.losses, isLost);
  if (first != result_.losses.end())
    note("the loss of step " + llvm::Twine(first - result_.losses.begin() + 1) + " is not finite");
}

/// Adds the messages of the compiler and the outcome of the run to the report, as far as there are
/// any.
void Session::fillReport() {
  ReportContents &contents = report_->contents();
  for (const Message &message : compiler_.messages().all()) {
    const std::string &shown = message.rendered.empty() ? message.text : message.rendered;
    (isProblem(message.severity) ? contents.diagnostics : contents.notes)
        .push_back(llvm::StringRef(shown).rtrim().str());
  }
  contents.plannedSteps = inputs_.steps;
  contents.stepSeconds = result_.stepSeconds;
  for (size_t k = 0; k < result_.scalars.size(); ++k)
    if (!result_.scalars[k].empty())
      contents.outputs.push_back(
          {nameOfResult(resultInfos_, k), result_.loss == k, result_.scalars[k]});
}

llvm::Error Session::save() const {
  std::vector<std::pair<std::string, NpyArray>> arrays;
  for (size_t i = 0; i < result_.state.size(); ++i)
    arrays.emplace_back("state_out_" + std::to_string(i), toArray(result_.state[i]));
  for (size_t k = 0; k < result_.results.size(); ++k)
    arrays.emplace_back("result_" + std::to_string(k), toArray(result_.results[k]));
  if (!result_.losses.empty()) {
    const char *bytes = reinterpret_cast<const char *>(result_.losses.data());
    NpyArray losses{NpyType::F64, {int64_t(result_.losses.size())}, {}};
    losses.data.assign(bytes, bytes + result_.losses.size() * sizeof(double));
    arrays.emplace_back("losses", std::move(losses));
  }
  return writeNpz(options_.save, arrays);
}

void Session::print() const {
  for (size_t i = 0; i < result_.state.size(); ++i)
    printTensor(llvm::outs(), stateName(i), result_.state[i]);
  for (size_t k = 0; k < result_.results.size(); ++k)
    printTensor(llvm::outs(), nameOfResult(resultInfos_, k), result_.results[k]);
}

std::string Session::stateName(size_t i) const {
  return stateInfos_[i].name.empty() ? "state_" + std::to_string(i) : stateInfos_[i].name;
}

llvm::Expected<int> runSession(const Options &options, const Place &place) {
  return Session(options, place).run();
}

} // namespace coll::run
