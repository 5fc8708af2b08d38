//===- session_launch.cc - from the step's file to ranks that can run it ---------------===//

#include "compiler/error.h"
#include "driver/forecast/forecast.h"
#include "driver/report/format.h"
#include "driver/time_plans.h"
#include "runtime/program/step_library.h"
#include "tools/coll-run/agreement.h"
#include "tools/coll-run/session.h"

namespace coll::run {

/// A compiled step has no text, so options that need it are refused.
static llvm::Error checkCompiled(const Options &options) {
  const char *option = options.check                 ? "--check"
                       : options.planOnly            ? "--plan-only"
                       : options.explain             ? "--explain"
                       : options.memoryLimit         ? "--memory-limit"
                       : !options.topology.empty()   ? "--topology"
                       : options.narrowSums          ? "--sum-precision"
                       : options.combineBytes        ? "--combine"
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

/// `step`: the bytes of the step, in which all ranks of a job have to agree.
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
  Target target;
  target.gpu = options_.checkGpu;
  target.precision = options_.precision;
  target.staleness = options_.staleness;
  single_.emplace(compiler_, against_ ? *against_ : *file_, execution, target);
  return options_.check ? single_->launch() : llvm::Error::success();
}

Target Session::chooseTarget() const {
  Target target = options_;
  if (place_.job && !target.ranks)
    target.ranks = place_.job->worldSize;
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
  return options_.memoryLimit ? checkMemoryLimit(*forecast, options_.memoryLimit)
                              : llvm::Error::success();
}

/// Compiles the plan whose steps take least here, among those that --strategy=auto predicts to be
/// best.
llvm::Expected<mlir::coll::ObjectCode> Session::compileFastest(const rt::ExecutorOptions &execution,
                                                               CompileDetails &details) {
  const Target target = chooseTarget();
  auto code = compiler_.compile(*file_, target, &details);
  if (!code || !details.explanation.search)
    return code;
  PlanSearch search = *details.explanation.search;
  const std::vector<double> times =
      timePlans(*file_, target, search, static_cast<size_t>(options_.timePlans), execution);
  size_t fastest = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] > 0)
      note("measured: " + formatTime(times[i] * 1e3) + " a step with " +
           search.plans[i].describe());
    if (times[i] > 0 && (times[fastest] <= 0 || times[i] < times[fastest]))
      fastest = i;
  }
  if (fastest == 0)
    return code;
  std::rotate(search.plans.begin(), search.plans.begin() + static_cast<int64_t>(fastest),
              search.plans.begin() + static_cast<int64_t>(fastest) + 1);
  code = compiler_.compile(*file_, applyPlan(target, search.plans.front()), &details);
  details.explanation.search = std::move(search);
  return code;
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
  auto code = options_.timePlans > 0 ? compileFastest(execution, details)
                                     : compiler_.compile(*file_, chooseTarget(), &details);
  if (!code)
    return code.takeError();
  if (report_)
    report_->contents().pipeline = details.explanation.pipeline;
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

} // namespace coll::run
