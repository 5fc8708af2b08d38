//===- evaluate.h - accuracy on held-out examples ----------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_EVALUATE_H
#define COLL_TOOLS_COLL_RUN_EVALUATE_H

#include "tools/coll-run/step_compiler.h"
#include "tools/coll-run/tensors.h"

namespace coll::run {

struct Accuracy {
  int64_t correct = 0;
  int64_t total = 0;
};

/// Compiles the file's function `(state…, test…) -> number correct` for one rank and
/// calls it once. `test` holds the whole held-out set, examples first.
llvm::Expected<Accuracy> evaluate(StepCompiler &compiler, llvm::StringRef path,
                                  const Tensors &state, std::vector<NpyArray> test);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_EVALUATE_H
