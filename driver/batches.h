//===- batches.h - where a run's state and batches come from ----------*- C++ -*-===//

#ifndef COLL_DRIVER_BATCHES_H
#define COLL_DRIVER_BATCHES_H

#include "driver/tensors.h"
#include "runtime/program/made_up.h"

namespace coll::run {

/// Gives the batch of any step. The same step gives the same batch every time, so
/// that a second run can be compared with the first.
class BatchSource {
public:
  virtual ~BatchSource() = default;

  /// Steps until batches repeat; 0 where there is no natural end.
  virtual int64_t numSteps() const = 0;
  virtual llvm::Expected<Tensors> batch(int64_t step) = 0;
};

/// Batches `batch_STEP_J` of a file; after the last comes the first again. Fails
/// where the file's arrays do not fit the arguments.
llvm::Expected<std::unique_ptr<BatchSource>>
makeFileBatches(const NpzFile &file, const std::vector<rt::TensorInfo> &batch,
                ArrayNames *narrowed = nullptr);

/// Made-up batches: floats in [-1, 1), integers from 0 to 7.
std::unique_ptr<BatchSource> makeRandomBatches(std::vector<rt::TensorInfo> batch, uint64_t seed);

/// The arrays `state_in_I`, or `state_out_I` where the file has only those.
llvm::Expected<Tensors> readState(const NpzFile &file, const std::vector<rt::TensorInfo> &state,
                                  ArrayNames *narrowed = nullptr);

/// Made-up state: floats in [0, 0.1), so that second moments are valid, and integers 0.
Tensors makeRandomState(const std::vector<rt::TensorInfo> &state, uint64_t seed);

using rt::Random;

} // namespace coll::run

#endif // COLL_DRIVER_BATCHES_H
