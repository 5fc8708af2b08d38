//===- trainer.h - running steps --------------------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_TRAINER_H
#define COLL_DRIVER_TRAINER_H

#include "driver/batches.h"
#include "runtime/step/executor.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace coll::run {

/// The outcome of a run of steps; of a run that failed, that of its complete steps.
struct RunResult {
  Tensors state;              // after the last step
  Tensors results;            // of the last step, without the state
  std::vector<double> losses; // one per step; empty if the step returns none
  // One per step and free result; empty if the result is no scalar.
  std::vector<std::vector<double>> scalars;
  std::vector<double> stepSeconds;
  rt::Executor::Stats stats; // of the last step
  double seconds = 0;        // in steps, without set-up

  // The free result that is the loss; where it is not set before the run, findLoss() decides.
  std::optional<size_t> loss;
  // The state before the last of several steps, if that is asked for before the run.
  bool keepsBeforeLast = false;
  Tensors beforeLast;

  int64_t numSteps() const { return int64_t(stepSeconds.size()); }
};

/// The results that update no state, in order: what Executor::step returns.
std::vector<rt::TensorInfo> freeResults(const rt::Descriptor &descriptor);

/// Which of the free results is the loss: the one named so, or else the first float
/// scalar.
std::optional<size_t> findLoss(const std::vector<rt::TensorInfo> &results);

/// The free result that the user calls the loss, by its name or its number from 0. Fails if
/// there is none, or where it is no scalar of floats.
llvm::Expected<size_t> chooseLoss(const std::vector<rt::TensorInfo> &results,
                                  llvm::StringRef wanted);

/// `result_2`, or the name that the step gives it.
std::string nameOfResult(const std::vector<rt::TensorInfo> &results, size_t k);

/// A note on which result is taken as the loss, if another one may be meant; else empty.
std::string noteOnLoss(const std::vector<rt::TensorInfo> &results, std::optional<size_t> loss);

/// Called after each step with the outcome so far. Returns whether that step was the last.
using StepObserver = llvm::function_ref<llvm::Expected<bool>(const RunResult &)>;

/// Runs `steps` steps from `state`, or fewer where `afterStep`, which may be null, says so.
/// `run` is empty before, but for the loss and `keepsBeforeLast`.
llvm::Error runSteps(rt::Executor &executor, const Tensors &state, BatchSource &batches,
                     int64_t steps, RunResult &run, StepObserver afterStep = nullptr);

} // namespace coll::run

#endif // COLL_DRIVER_TRAINER_H
