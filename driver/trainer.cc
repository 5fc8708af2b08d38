//===- trainer.cc - running steps -----------------------------------------------===//

#include "driver/trainer.h"

#include "compiler/error.h"
#include "runtime/base/dtype.h"

#include "llvm/ADT/STLExtras.h"

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

static bool mayBeLoss(const rt::TensorInfo &info) {
  return info.shape.empty() && rt::isFloat(info.dtype);
}

std::string nameOfResult(const std::vector<rt::TensorInfo> &results, size_t k) {
  return results[k].name.empty() ? "result_" + std::to_string(k) : results[k].name;
}

static std::string listScalars(const std::vector<rt::TensorInfo> &results) {
  std::string text;
  for (size_t k = 0; k < results.size(); ++k)
    if (mayBeLoss(results[k]))
      text += (text.empty() ? "" : ", ") + nameOfResult(results, k);
  return text;
}

llvm::Expected<size_t> chooseLoss(const std::vector<rt::TensorInfo> &results,
                                  llvm::StringRef wanted) {
  std::optional<size_t> found;
  for (size_t k = 0; k < results.size() && !found; ++k)
    if (nameOfResult(results, k) == wanted)
      found = k;
  size_t index = 0;
  if (!found && !wanted.getAsInteger(10, index) && index < results.size())
    found = index;
  if (found && mayBeLoss(results[*found]))
    return *found;
  std::string scalars = listScalars(results);
  return makeError(
      "--loss=" + wanted + ": " +
      (found ? "this result is " + rt::typeString(results[*found].dtype, results[*found].shape)
             : std::string("the step has no such result")) +
      "; its scalars are " + (scalars.empty() ? "none" : scalars));
}

std::string noteOnLoss(const std::vector<rt::TensorInfo> &results, std::optional<size_t> loss) {
  if (!loss || nameOfResult(results, *loss) == "loss" || llvm::count_if(results, mayBeLoss) < 2)
    return "";
  return "taking " + nameOfResult(results, *loss) + " as the loss, the first of " +
         listScalars(results) + "; --loss=NAME chooses another one";
}

/// Keeps what one step returned.
static void addResults(RunResult &run, Tensors results) {
  run.results = std::move(results);
  run.scalars.resize(run.results.size());
  for (size_t k = 0; k < run.results.size(); ++k)
    if (run.results[k].shape.empty())
      run.scalars[k].push_back(element(run.results[k], 0));
  if (run.loss && *run.loss < run.results.size())
    run.losses.push_back(run.scalars[*run.loss].back());
}

static llvm::Error fetchState(rt::Executor &executor, Tensors &state) {
  llvm::Expected<Tensors> fetched = toExpected(executor.state());
  if (!fetched)
    return fetched.takeError();
  state = std::move(*fetched);
  return llvm::Error::success();
}

/// The batch of the step after the one that runs, for executors that copy it ahead of time. An
/// error comes again when the step needs its batch.
static std::optional<Tensors> batchAhead(const rt::Executor &executor, BatchSource &batches,
                                         int64_t step) {
  if (!executor.descriptor().isOnGpu)
    return std::nullopt;
  llvm::Expected<Tensors> batch = batches.batch(step);
  if (batch)
    return std::move(*batch);
  llvm::consumeError(batch.takeError());
  return std::nullopt;
}

llvm::Error runSteps(rt::Executor &executor, const Tensors &state, BatchSource &batches,
                     int64_t steps, RunResult &run, StepObserver afterStep) {
  using Clock = std::chrono::steady_clock;
  if (llvm::Error error = toError(executor.initialize(state)))
    return error;
  if (!run.loss)
    run.loss = findLoss(freeResults(executor.descriptor()));
  std::optional<Tensors> next;
  for (int64_t step = 0; step < steps; ++step) {
    if (run.keepsBeforeLast && step > 0 && step == steps - 1)
      if (llvm::Error error = fetchState(executor, run.beforeLast))
        return error;
    llvm::Expected<Tensors> batch = next ? std::move(*next) : batches.batch(step);
    if (!batch)
      return batch.takeError();
    next = step + 1 < steps ? batchAhead(executor, batches, step + 1) : std::nullopt;
    Clock::time_point start = Clock::now();
    rt::Result<Tensors> results = executor.step(*batch, next ? &*next : nullptr);
    if (!results)
      return makeError("step " + llvm::Twine(step + 1) + ": " +
                       llvm::toString(toError(results.status())));
    run.stepSeconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    run.seconds += run.stepSeconds.back();
    addResults(run, results.take());
    run.stats = executor.stats();
    if (!afterStep)
      continue;
    llvm::Expected<bool> isLast = afterStep(run);
    if (!isLast)
      return isLast.takeError();
    if (*isLast)
      break;
  }
  return fetchState(executor, run.state);
}

} // namespace coll::run
