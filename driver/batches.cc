//===- batches.cc - where a run's state and batches come from -------------------===//

#include "driver/batches.h"

#include "compiler/error.h"

namespace coll::run {
namespace {

llvm::Error checkCount(const NpzFile &file, llvm::StringRef prefix, int64_t wanted,
                       llvm::StringRef role) {
  int64_t found = file.countNumbered(prefix);
  if (found == wanted)
    return llvm::Error::success();
  return makeError("'" + file.path() + "' has " + counted(found, "array") + " " + prefix +
                   "0 …; the step has " + counted(wanted, (role + " argument").str()));
}

/// Fails if there are batches after a gap, which would otherwise be ignored.
llvm::Error checkNoGap(const NpzFile &file, int64_t numSteps) {
  for (llvm::StringRef name : file.names()) {
    llvm::StringRef rest = name;
    int64_t step = 0;
    if (rest.consume_front("batch_") && !rest.consumeInteger(10, step) && rest.starts_with("_") &&
        step >= numSteps)
      return makeError("'" + file.path() + "' has an array " + name + ", but no batch_" +
                       llvm::Twine(numSteps) + "_0");
  }
  return llvm::Error::success();
}

class FileBatches : public BatchSource {
public:
  explicit FileBatches(std::vector<Tensors> batches) : batches_(std::move(batches)) {}

  int64_t numSteps() const override { return batches_.size(); }
  llvm::Expected<Tensors> batch(int64_t step) override { return batches_[step % batches_.size()]; }

private:
  std::vector<Tensors> batches_; // not empty
};

class RandomBatches : public BatchSource {
public:
  RandomBatches(std::vector<rt::TensorInfo> batch, uint64_t seed)
      : batch_(std::move(batch)), seed_(seed) {}

  int64_t numSteps() const override { return 0; }
  llvm::Expected<Tensors> batch(int64_t step) override {
    return rt::makeUpBatch(batch_, step, seed_);
  }

private:
  std::vector<rt::TensorInfo> batch_;
  uint64_t seed_;
};

} // namespace

llvm::Expected<std::unique_ptr<BatchSource>>
makeFileBatches(const NpzFile &file, const std::vector<rt::TensorInfo> &batch,
                ArrayNames *narrowed) {
  if (llvm::Error error = checkCount(file, "batch_0_", batch.size(), "batch"))
    return error;
  std::vector<Tensors> batches;
  for (int64_t step = 0;; ++step) {
    std::string prefix = "batch_" + std::to_string(step) + "_";
    if (step > 0 && (batch.empty() || !file.contains(prefix + "0")))
      break;
    if (llvm::Error error = checkCount(file, prefix, batch.size(), "batch"))
      return error;
    Tensors &tensors = batches.emplace_back();
    for (size_t j = 0; j < batch.size(); ++j) {
      llvm::Expected<rt::HostTensor> tensor =
          readTensor(file, prefix + std::to_string(j), batch[j], narrowed);
      if (!tensor)
        return tensor.takeError();
      tensors.push_back(std::move(*tensor));
    }
  }
  if (llvm::Error error = checkNoGap(file, int64_t(batches.size())))
    return error;
  return std::make_unique<FileBatches>(std::move(batches));
}

std::unique_ptr<BatchSource> makeRandomBatches(std::vector<rt::TensorInfo> batch, uint64_t seed) {
  return std::make_unique<RandomBatches>(std::move(batch), seed);
}

llvm::Expected<Tensors> readState(const NpzFile &file, const std::vector<rt::TensorInfo> &state,
                                  ArrayNames *narrowed) {
  bool isSaved = !file.contains("state_in_0") && file.contains("state_out_0");
  std::string prefix = isSaved ? "state_out_" : "state_in_";
  if (llvm::Error error = checkCount(file, prefix, state.size(), "state"))
    return error;
  Tensors tensors;
  for (size_t i = 0; i < state.size(); ++i) {
    llvm::Expected<rt::HostTensor> tensor =
        readTensor(file, prefix + std::to_string(i), state[i], narrowed);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return tensors;
}

Tensors makeRandomState(const std::vector<rt::TensorInfo> &state, uint64_t seed) {
  return rt::makeUpState(state, seed);
}

} // namespace coll::run
