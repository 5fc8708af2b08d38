//===- time_plans.cc --------------------------------------------------------------===//

#include "driver/time_plans.h"

#include "driver/launch.h"
#include "driver/trainer.h"

#include <algorithm>
#include <limits>

namespace coll::run {
namespace {

double median(llvm::ArrayRef<double> all) {
  std::vector<double> sorted(all);
  auto middle = sorted.begin() + static_cast<ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

/// Steps that are not counted, the fewest that are, and the most; seconds that all take together.
constexpr int64_t kWarmUp = 3, kLeastSteps = 5, kMostSteps = 500;
constexpr double kSeconds = 0.1;
/// The plans take turns, as a machine is not equally fast all the time. A plan that takes more than
/// kHopeless times as long as the fastest gets no more turns.
constexpr int kTurns = 5;
constexpr double kHopeless = 1.3;

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
  return median(llvm::ArrayRef(run.stepSeconds).drop_front(kWarmUp)) * 1e6;
}

/// A compiled plan, and the median time of a step in each of its turns.
struct Runner {
  std::string code; // written by ObjectCode::write(); empty: gets no more turns
  std::vector<double> us;

  /// If the plan does not run, it has no code and no times any more.
  void takeTurn(const rt::ExecutorOptions &execution) {
    auto step = launchStep(*mlir::coll::ObjectCode::read(code), execution);
    llvm::Expected<double> took = step ? timeSteps(*step->executor) : step.takeError();
    if (took) {
      us.push_back(*took);
      return;
    }
    llvm::consumeError(took.takeError());
    code.clear();
    us.clear();
  }
};

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
  std::vector<Runner> runners;
  for (const PlanCandidate &plan : llvm::ArrayRef(search.plans).take_front(count)) {
    if (search.memoryLimit > 0 && plan.memoryBytes > search.memoryLimit)
      break; // those that fit come first
    Runner &runner = runners.emplace_back();
    auto code = compiler.compile(own, applyPlan(target, plan));
    if (code) {
      llvm::raw_string_ostream os(runner.code);
      code->write(os);
    } else {
      llvm::consumeError(code.takeError());
    }
  }
  for (int turn = 0; turn < kTurns; ++turn) {
    double fastest = std::numeric_limits<double>::max();
    for (Runner &runner : runners) {
      if (!runner.code.empty())
        runner.takeTurn(execution);
      if (!runner.us.empty())
        fastest = std::min(fastest, median(runner.us));
    }
    for (Runner &runner : runners)
      if (!runner.us.empty() && median(runner.us) > kHopeless * fastest)
        runner.code.clear();
  }
  std::vector<double> times;
  for (const Runner &runner : runners)
    times.push_back(runner.us.empty() ? 0 : median(runner.us));
  return times;
}

} // namespace coll::run
