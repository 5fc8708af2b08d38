//===- inputs.h - initial state and batches of a run ---------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_INPUTS_H
#define COLL_TOOLS_COLL_RUN_INPUTS_H

#include "driver/dataset.h"
#include "tools/coll-run/options.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace coll::run {

struct Inputs {
  Tensors state;
  std::unique_ptr<Dataset> dataset; // only with --dataset; its batches refer to it
  std::unique_ptr<BatchSource> batches;
  int64_t steps = 1;
};

/// Opens the files that the options name, or makes values up. `note` receives what the user may not
/// expect.
llvm::Expected<Inputs> openInputs(const Options &options, const std::vector<rt::TensorInfo> &state,
                                  const std::vector<rt::TensorInfo> &batch,
                                  llvm::function_ref<void(const llvm::Twine &)> note);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_INPUTS_H
