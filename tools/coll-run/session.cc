//===- session.cc - one invocation of coll-run ----------------------------------===//

#include "tools/coll-run/session.h"

#include "compiler/error.h"
#include "compiler/step_compiler.h"
#include "driver/checker.h"
#include "driver/evaluate.h"
#include "driver/forecast/forecast.h"
#include "driver/profile/profile.h"
#include "driver/report/report.h"
#include "driver/trainer.h"
#include "runtime/base/log.h"
#include "runtime/program/step_library.h"
#include "runtime/step/affinity.h"
#include "tools/coll-run/agreement.h"
#include "tools/coll-run/inputs.h"
#include "tools/coll-run/printer.h"
#include "tools/coll-run/progress.h"
#include "tools/coll-run/stopping.h"

#include "llvm/Support/Format.h"

#include <cmath>
#include <cstring>

namespace coll::run {
namespace {

// A training run drifts from its twin by rounding alone, and more with every step;
// so with a data set only its beginning is compared.
constexpr int64_t kCheckedDatasetSteps = 8;

class Session {
public:
  Session(const Options &options, const Place &place);
  llvm::Expected<int> run();

private:
  llvm::Error runStages();
  llvm::Error timed(const char *phase, llvm::Error (Session::*stage)());
  llvm::Error prepare();
  llvm::Error launch();
  llvm::Error launchCompiled(const rt::ExecutorOptions &execution);
  llvm::Error finishLaunch(llvm::StringRef step);
  Target chooseTarget() const;
  llvm::Error foresee(const mlir::coll::ObjectCode &code, const Explanation &explanation);
  llvm::Error launchSingle(const rt::ExecutorOptions &execution);
  llvm::Error chooseLoss();
  llvm::Error openData();
  llvm::Error openReference();
  llvm::Error openEvaluation();
  llvm::Error train();
  llvm::Expected<bool> afterStep(Progress &progress, const RunResult &run);
  bool isStopped();
  void noteLostLoss();
  llvm::Error checkBeginning();
  llvm::Error checkEnd();
  llvm::Error checkAgainstSingle(const RunResult &run);
  llvm::Error checkAgainstReference();
  Checker makeChecker();
  void report(llvm::StringRef title, std::vector<Comparison> comparisons);
  void fillReport();
  llvm::Error evaluateHeldOut();
  llvm::Error save() const;
  void print() const;

  void note(const llvm::Twine &text) { compiler_.messages().note(text); }
  std::string stateName(size_t i) const;
  bool isQuiet() const { return options_.quiet || !place_.isRoot(); }

  const Options &options_;
  const Place &place_;
  StepCompiler compiler_;
  std::unique_ptr<StageWriter> stages_;
  std::unique_ptr<Report> report_;   // only with --report
  std::unique_ptr<Profile> profile_; // only with --profile
  LaunchedStep step_;
  std::optional<StepFile> file_, against_; // what runs, and what --against names
  std::optional<SingleDevice> single_;     // only with checks, in the process of rank 0
  std::vector<rt::TensorInfo> stateInfos_, batchInfos_, resultInfos_;
  std::optional<Reference> reference_;   // only with --reference, in the process of rank 0
  std::optional<Evaluation> evaluation_; // only with --eval, there
  Inputs inputs_;
  RunResult result_;
  std::optional<Stopping> stopping_; // while a signal still leaves something to save
  int signal_ = 0;                   // that ended the run before its last step, or right after it
  int exitCode_ = 0;
  bool areChecksOk_ = true;
};

// What is wrong with the program, rank 0's process says for all.
Audience chooseAudience(const Options &options, const Place &place) {
  if (!place.isRoot())
    return Audience::Nothing;
  return options.quiet ? Audience::Problems : Audience::Everything;
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

llvm::Error Session::runStages() {
  if (llvm::Error error = timed("compiling", &Session::launch))
    return error;
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
  // First: what has been trained outlives whatever goes wrong from here on.
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

/// Fails early where the ranks could not be placed, or the run's outcome not be written.
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

/// A compiled step has no text that could be compiled for one device, or shown.
static llvm::Error checkCompiled(const Options &options) {
  const char *option = options.check                 ? "--check"
                       : options.planOnly            ? "--plan-only"
                       : options.explain             ? "--explain"
                       : options.memoryLimit         ? "--memory-limit"
                       : !options.topology.empty()   ? "--topology"
                       : options.narrowSums          ? "--sum-precision"
                       : !options.dumpStages.empty() ? "--dump-stages"
                       : !options.strategy.empty()   ? "--strategy"
                       : !options.mesh.empty()       ? "--mesh"
                       : !options.gpu.empty()        ? "--device"
                                                     : nullptr;
  if (!option)
    return llvm::Error::success();
  return makeError(
      llvm::Twine(option) + " needs the step's text, but '" + options.input + "' is compiled" +
      (options.check ? "; compare with --reference instead" : ": give the option to coll-compile"));
}

llvm::Error Session::launchCompiled(const rt::ExecutorOptions &execution) {
  if (llvm::Error error = checkCompiled(options_))
    return error;
  auto bytes = llvm::MemoryBuffer::getFile(options_.input);
  if (!bytes)
    return makeError("cannot read '" + options_.input + "': " + bytes.getError().message());
  auto started = launchLibrary(options_.input, execution);
  if (!started)
    return started.takeError();
  step_ = std::move(*started);
  return finishLaunch((*bytes)->getBuffer());
}

/// `step`: what all ranks of a job have to have in common.
llvm::Error Session::finishLaunch(llvm::StringRef step) {
  if (report_)
    report_->describe(*step_.executor);
  int ranks = step_.executor->numRanks();
  if (options_.ranks && *options_.ranks != ranks)
    return makeError("--ranks=" + llvm::Twine(*options_.ranks) + ", but '" + options_.input +
                     "' is for " + llvm::Twine(ranks));
  if (place_.job)
    return checkAgreement(*step_.executor, options_, step);
  return llvm::Error::success();
}

/// The step on one device; --check compiles it before the training, --reference where it needs it.
llvm::Error Session::launchSingle(const rt::ExecutorOptions &execution) {
  if (!options_.against.empty()) {
    llvm::Expected<StepFile> against = compiler_.open(options_.against, options_.stateArgs);
    if (!against)
      return against.takeError();
    against_ = std::move(*against);
  }
  single_.emplace(compiler_, against_ ? *against_ : *file_, execution, options_.staleness);
  return options_.check ? single_->launch() : llvm::Error::success();
}

Target Session::chooseTarget() const {
  Target target;
  target.ranks = options_.ranks;
  if (place_.job && !target.ranks)
    target.ranks = place_.job->worldSize;
  target.mesh = options_.mesh;
  target.strategy = options_.strategy;
  target.shards = options_.shards;
  target.stages = options_.stages;
  target.microBatches = options_.microBatches;
  target.schedule = options_.schedule;
  target.stagePatterns = options_.stagePatterns;
  target.root = options_.root;
  target.route = options_.route;
  target.accumulate = options_.accumulate;
  target.staleness = options_.staleness;
  target.topology = options_.topology;
  target.narrowSums = options_.narrowSums;
  target.memoryLimit = options_.memoryLimit.value_or(0);
  target.verify = options_.verify;
  target.gpu = options_.gpu;
  target.precision = options_.precision;
  return target;
}

/// Says what the step will need and send, as far as the user asks, and refuses what is too large.
llvm::Error Session::foresee(const mlir::coll::ObjectCode &code, const Explanation &explanation) {
  if (!options_.planOnly && !options_.explain && !options_.memoryLimit)
    return llvm::Error::success();
  auto forecast = makeForecast(code, explanation);
  if (!forecast)
    return forecast.takeError();
  forecast->step = options_.input;
  forecast->strategy = options_.strategy;
  if (place_.isRoot() && !options_.explainFile.empty())
    if (llvm::Error error = writeForecast(options_.explainFile, *forecast))
      return error;
  if (place_.isRoot() && options_.planOnly)
    printPlan(llvm::outs(), *forecast);
  else if (place_.isRoot() && options_.explain && options_.explainFile.empty())
    printCollectives(llvm::outs(), *forecast);
  llvm::outs().flush();
  return options_.memoryLimit ? checkMemoryLimit(*forecast, *options_.memoryLimit)
                              : llvm::Error::success();
}

llvm::Error Session::launch() {
  rt::ExecutorOptions execution;
  execution.timeoutUs = options_.timeoutUs;
  execution.affinity = options_.affinity;
  execution.graphs = options_.graphs;
  if (rt::isSharedObject(options_.input)) {
    execution.backend = options_.backend;
    execution.job = place_.job;
    return launchCompiled(execution);
  }
  llvm::Expected<StepFile> file = compiler_.open(options_.input, options_.stateArgs);
  if (!file)
    return file.takeError();
  file_ = std::move(*file);
  bool compares = options_.check || !options_.reference.empty();
  if (compares && !options_.planOnly && place_.isRoot())
    if (llvm::Error error = launchSingle(execution))
      return error;
  execution.backend = options_.backend;
  execution.job = place_.job;
  if (!place_.note.empty())
    note(place_.note);
  CompileDetails details;
  auto code = compiler_.compile(*file_, chooseTarget(), &details);
  if (!code)
    return code.takeError();
  if (llvm::Error error = foresee(*code, details.explanation))
    return error;
  if (options_.planOnly)
    return llvm::Error::success();
  auto step = launchStep(std::move(*code), execution);
  if (!step)
    return step.takeError();
  step_ = std::move(*step);
  file_->ir.reset();             // a large step need not stay while it trains
  compiler_.dumpStages(nullptr); // other files are not the user's step
  if (against_ && options_.check)
    if (llvm::Error error = single_->checkFits(step_.executor->descriptor()))
      return error;
  return finishLaunch(file_->text->getBuffer());
}

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
  // The import of StableHLO has obeyed; other steps say it themselves.
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

llvm::Error Session::train() {
  // What rank 0 does for all.
  auto saves = toExpected(step_.executor->broadcast(options_.save.empty() ? "" : "saves"));
  if (!saves)
    return saves.takeError();
  if (!saves->empty())
    stopping_.emplace(*step_.executor, inputs_.steps, place_.isRoot());
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
  signal_ = *signal;
  return signal_ != 0;
}

/// Whether the user has ended the run, all of whose outcome is what has been saved. From here on
/// a signal ends the process.
bool Session::isStopped() {
  const int signal = signal_ || !stopping_ ? signal_ : Stopping::received();
  stopping_.reset();
  if (!signal)
    return false;
  exitCode_ = 128 + signal;
  llvm::outs().flush(); // what it says of the steps comes first
  std::string text = ("stopped by a signal (" + llvm::Twine(strsignal(signal)) + ") after step " +
                      llvm::Twine(result_.numSteps()) + " of " + llvm::Twine(inputs_.steps) +
                      "; saved in '" + options_.save + "'")
                         .str();
  compiler_.messages().say(
      {mlir::DiagnosticSeverity::Warning, text, "", "coll-run: " + text + "\n"});
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

llvm::Error Session::checkBeginning() {
  RunResult run;
  run.loss = result_.loss;
  int64_t steps = std::min(inputs_.steps, kCheckedDatasetSteps);
  if (llvm::Error error = runSteps(*step_.executor, inputs_.state, *inputs_.batches, steps, run))
    return error;
  return place_.isRoot() ? checkAgainstSingle(run) : llvm::Error::success();
}

llvm::Error Session::checkEnd() { return checkAgainstSingle(result_); }

Checker Session::makeChecker() {
  Checker::Settings settings;
  settings.tolerance = {options_.rtol, options_.atol, options_.rms};
  settings.isStrict = options_.strict;
  settings.seed = options_.seed;
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

/// What the compiler has said and the run has returned, as far as they came.
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

} // namespace

llvm::Expected<int> runSession(const Options &options, const Place &place) {
  return Session(options, place).run();
}

} // namespace coll::run
