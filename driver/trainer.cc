//===- trainer.cc - running steps -----------------------------------------------===//

#include "driver/trainer.h"

#include "compiler/error.h"
#include "runtime/base/dtype.h"

#include <chrono>

namespace coll::run {

std::vector<rt::TensorInfo> freeResults(const rt::Descriptor &descriptor) {
  std::vector<rt::TensorInfo> free;
  for (const rt::TensorInfo &info : descriptor.results)
    if (info.arg < 0)
      free.push_back(info);
  return free;
}

std::optional<size_t> findLoss(const std::vector<rt::TensorInfo> &results) {
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].name == "loss" && results[i].shape.empty())
      return i;
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].shape.empty() && rt::isFloat(results[i].dtype))
      return i;
  return std::nullopt;
}

/// Keeps what one step returned.
static void addResults(RunResult &run, Tensors results, std::optional<size_t> loss) {
  run.results = std::move(results);
  run.scalars.resize(run.results.size());
  for (size_t k = 0; k < run.results.size(); ++k)
    if (run.results[k].shape.empty())
      run.scalars[k].push_back(element(run.results[k], 0));
  if (loss && *loss < run.results.size())
    run.losses.push_back(run.scalars[*loss].back());
}

llvm::Error runSteps(rt::Executor &executor, const Tensors &state, BatchSource &batches,
                     int64_t steps, RunResult &run, StepObserver afterStep) {
  using Clock = std::chrono::steady_clock;
  if (llvm::Error error = toError(executor.initialize(state)))
    return error;
  std::optional<size_t> loss = findLoss(freeResults(executor.descriptor()));
  for (int64_t step = 0; step < steps; ++step) {
    llvm::Expected<Tensors> batch = batches.batch(step);
    if (!batch)
      return batch.takeError();
    Clock::time_point start = Clock::now();
    rt::Result<Tensors> results = executor.step(*batch);
    if (!results)
      return makeError("step " + llvm::Twine(step + 1) + ": " +
                       llvm::toString(toError(results.status())));
    run.stepSeconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    run.seconds += run.stepSeconds.back();
    addResults(run, results.take(), loss);
    run.stats = executor.stats();
    if (!afterStep)
      continue;
    llvm::Expected<bool> isLast = afterStep(run);
    if (!isLast)
      return isLast.takeError();
    if (*isLast)
      break;
  }
  rt::Result<Tensors> final = executor.state();
  if (!final)
    return toError(final.status());
  run.state = final.take();
  return llvm::Error::success();
}

} // namespace coll::run
