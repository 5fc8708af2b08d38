//===- reference.h - the outcome that a run is compared with ------------*- C++ -*-===//

#ifndef COLL_DRIVER_REFERENCE_H
#define COLL_DRIVER_REFERENCE_H

#include "driver/batches.h"
#include "driver/check.h"

namespace coll::run {

/// A file's losses, state_out_I and result_K, read before the run that they are compared
/// with: what is wrong with the file costs no training.
struct Reference {
  std::optional<std::vector<double>> losses; // one per step
  Tensors state;
  std::vector<std::optional<rt::HostTensor>> results; // by free result

  /// Fails if a state_out_I is missing, if the losses are not those of `steps` steps, or if there
  /// is nothing to compare with.
  static llvm::Expected<Reference> read(llvm::StringRef path,
                                        const std::vector<rt::TensorInfo> &state,
                                        const std::vector<rt::TensorInfo> &results, int64_t steps);
};

} // namespace coll::run

#endif // COLL_DRIVER_REFERENCE_H
