//===- time_plans.cc --------------------------------------------------------------===//

#include "driver/time_plans.h"

#include "driver/launch.h"
#include "driver/trainer.h"

#include <algorithm>

namespace coll::run {
namespace {

/// Steps that are not counted, the fewest that are, and the most; seconds that all take together.
constexpr int64_t kWarmUp = 3, kLeastSteps = 5, kMostSteps = 500;
constexpr double kSeconds = 0.3;

llvm::Expected<double> timeSteps(rt::Executor &executor) {
  std::vector<rt::TensorInfo> states, batches;
  for (const rt::TensorInfo &info : executor.descriptor().args)
    (info.isState() ? states : batches).push_back(info);
  RunResult run;
  auto isEnough = [](const RunResult &done) -> llvm::Expected<bool> {
    return done.seconds > kSeconds && done.numSteps() >= kWarmUp + kLeastSteps;
  };
  auto source = makeRandomBatches(batches, 1);
  if (llvm::Error error = runSteps(executor, makeRandomState(states, 1), *source,
                                   kWarmUp + kMostSteps, run, isEnough))
    return error;
  auto begin = run.stepSeconds.begin() + kWarmUp;
  auto middle = begin + (run.stepSeconds.end() - begin) / 2;
  std::nth_element(begin, middle, run.stepSeconds.end());
  return *middle * 1e6;
}

llvm::Expected<double> timePlan(StepCompiler &compiler, StepFile &file, const Target &target,
                                const rt::ExecutorOptions &execution) {
  auto code = compiler.compile(file, target);
  if (!code)
    return code.takeError();
  auto step = launchStep(std::move(*code), execution);
  if (!step)
    return step.takeError();
  return timeSteps(*step->executor);
}

} // namespace

Target applyPlan(Target target, const PlanCandidate &plan) {
  target.mesh = llvm::cantFail(parseMesh(plan.mesh));
  target.ranks = countRanks(target.mesh);
  target.strategy = plan.strategy;
  target.shards.insert(target.shards.begin(), plan.shards.begin(), plan.shards.end());
  return target;
}

std::vector<double> timePlans(const StepFile &file, const Target &target, const PlanSearch &search,
                              size_t count, const rt::ExecutorOptions &execution) {
  StepCompiler compiler(nullptr); // what is said of plans that lose is of no use
  StepFile own = compiler.open(
      file.path, llvm::MemoryBuffer::getMemBufferCopy(file.text->getBuffer()), file.stateArgs);
  std::vector<double> times;
  for (const PlanCandidate &plan : llvm::ArrayRef(search.plans).take_front(count)) {
    if (search.memoryLimit > 0 && plan.memoryBytes > search.memoryLimit)
      break; // those that fit come first
    llvm::Expected<double> us = timePlan(compiler, own, applyPlan(target, plan), execution);
    times.push_back(us ? *us : 0);
    if (!us)
      llvm::consumeError(us.takeError());
  }
  return times;
}

} // namespace coll::run
