//===- evaluate.h - accuracy on held-out examples ----------------------*- C++ -*-===//

#ifndef COLL_DRIVER_EVALUATE_H
#define COLL_DRIVER_EVALUATE_H

#include "compiler/step_compiler.h"
#include "driver/launch.h"
#include "driver/tensors.h"

namespace coll::run {

struct Accuracy {
  int64_t correct = 0;
  int64_t total = 0;
};

/// A file's function `(state…, test…) -> number correct`, for one rank.
class Evaluation {
public:
  /// Compiles the file, and fails if it does not fit the step. Called before the training. `test`
  /// holds the whole held-out set, examples first.
  static llvm::Expected<Evaluation> create(StepCompiler &compiler, llvm::StringRef path,
                                           const std::vector<rt::TensorInfo> &state,
                                           std::vector<NpyArray> test);

  /// Once.
  llvm::Expected<Accuracy> run(const Tensors &state);

private:
  llvm::Error checkTypes(llvm::StringRef path, const std::vector<rt::TensorInfo> &state) const;

  LaunchedStep step_;
  Tensors test_;
  int64_t total_ = 0;
};

} // namespace coll::run

#endif // COLL_DRIVER_EVALUATE_H
