// runner.h - a step in text, compiled and run the way coll-run does it, without leaving the
// process.

#ifndef COLL_TEST_FUZZ_RUNNER_H
#define COLL_TEST_FUZZ_RUNNER_H

#include "compiler/compile.h"
#include "driver/launch.h"
#include "driver/trainer.h"

#include "mlir/IR/MLIRContext.h"

namespace coll::fuzz {

class Runner {
public:
  Runner();

  // Parses and imports. Without `stateArgs` the types decide which arguments are state.
  llvm::Expected<run::StepIr> load(const std::string &text, std::optional<int64_t> stateArgs);

  llvm::Expected<run::LaunchedStep> launch(run::StepIr step, const run::CompileOptions &options);

  // The error's text, and the errors that the compiler reported since the last call.
  std::string explain(llvm::Error error);

  mlir::MLIRContext &context() { return context_; }

private:
  mlir::MLIRContext context_;
  std::string reported_;
};

// The same batch for each step.
class FixedBatch : public run::BatchSource {
public:
  explicit FixedBatch(run::Tensors batch) : batch_(std::move(batch)) {}
  int64_t numSteps() const override { return 0; }
  llvm::Expected<run::Tensors> batch(int64_t) override { return batch_; }

private:
  run::Tensors batch_;
};

} // namespace coll::fuzz

#endif // COLL_TEST_FUZZ_RUNNER_H
