//===- single_device.h - the step on one device, to compare with --------*- C++ -*-===//

#ifndef COLL_DRIVER_SINGLE_DEVICE_H
#define COLL_DRIVER_SINGLE_DEVICE_H

#include "compiler/step_compiler.h"
#include "driver/launch.h"
#include "driver/noise.h"

namespace coll::run {

/// The program whose rounding errors are measured.
enum class Twin {
  OurOwn, // other runs of our compiler: they form sums in another order
  Foreign // runs of another compiler: it rounds narrow floats at other places, too
};

/// A step before it is distributed, compiled for one device when it is first run.
class SingleDevice {
public:
  /// `compiler` and `file` are borrowed. From `target` come the GPU, the precision of its products,
  /// and how many steps late gradients are applied.
  SingleDevice(StepCompiler &compiler, StepFile &file, rt::ExecutorOptions execution,
               const Target &target)
      : compiler_(compiler), file_(file), execution_(std::move(execution)) {
    target_.isSingleDevice = true;
    target_.gpu = target.gpu;
    target_.precision = target.precision;
    target_.staleness = target.staleness;
  }

  /// Compiles it; run() does so otherwise. Fails if the step is distributed already.
  llvm::Error launch();

  /// Fails if its arguments or results are not those of `other`, a program for the same step.
  /// After launch().
  llvm::Error checkFits(const rt::Descriptor &other);

  llvm::Expected<RunResult> run(const Tensors &state, BatchSource &batches, int64_t steps,
                                std::optional<size_t> loss);

  /// Adds to `noise` how far the outcome of `baseline`, a run of it from `state`, moves by rounding
  /// alone. Each `round`, from 0 on, draws anew.
  llvm::Error measure(Twin twin, const Tensors &state, BatchSource &batches,
                      const RunResult &baseline, uint64_t seed, int round, RunNoise &noise);

  /// Whether the step's text has a type of 16 or 8 bits.
  bool hasNarrowFloats() const;

private:
  llvm::Expected<LaunchedStep> compile(const Target &target);

  StepCompiler &compiler_;
  StepFile &file_;
  rt::ExecutorOptions execution_;
  Target target_;
  LaunchedStep step_;
};

} // namespace coll::run

#endif // COLL_DRIVER_SINGLE_DEVICE_H
