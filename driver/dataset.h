//===- dataset.h - training sets and held-out sets ---------------------*- C++ -*-===//

#ifndef COLL_DRIVER_DATASET_H
#define COLL_DRIVER_DATASET_H

#include "driver/batches.h"

namespace coll::run {

/// The examples of a file: arrays `train_*` and `test_*`, whose first dimension counts
/// examples. Batch argument j gets the array whose name after the prefix is the
/// argument's, or, where the names do not fit, the j-th in the archive.
class Dataset {
public:
  /// Fails if the arrays do not fit the step's batch arguments.
  static llvm::Expected<Dataset> open(llvm::StringRef path,
                                      const std::vector<rt::TensorInfo> &batch);

  int64_t numExamples() const { return numExamples_; }
  int64_t batchSize() const { return batchSize_; }
  int64_t stepsPerEpoch() const { return numExamples_ / batchSize_; }

  /// Full batches only, in an order drawn anew from `seed` for each epoch. Borrows
  /// the dataset.
  std::unique_ptr<BatchSource> makeBatches(int64_t epochs, uint64_t seed) const;

  /// The held-out arrays, in the order of the batch arguments.
  llvm::Expected<std::vector<NpyArray>> readTest() const;

private:
  explicit Dataset(NpzFile file) : file_(std::move(file)) {}
  llvm::Error chooseNames(const std::vector<rt::TensorInfo> &batch);
  llvm::Error readTrain(const std::vector<rt::TensorInfo> &batch);

  NpzFile file_;
  std::vector<std::string> names_; // without the prefix
  std::vector<rt::TensorInfo> batch_;
  Tensors train_;
  int64_t numExamples_ = 0;
  int64_t batchSize_ = 0;
};

} // namespace coll::run

#endif // COLL_DRIVER_DATASET_H
