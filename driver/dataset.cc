//===- dataset.cc - training sets and held-out sets -----------------------------===//

#include "driver/dataset.h"

#include "compiler/error.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <numeric>

namespace coll::run {
namespace {

class DatasetBatches : public BatchSource {
public:
  DatasetBatches(const Tensors &train, const std::vector<rt::TensorInfo> &batch,
                 int64_t numExamples, int64_t batchSize, int64_t epochs, uint64_t seed)
      : train_(train), batch_(batch), numExamples_(numExamples), batchSize_(batchSize),
        epochs_(epochs), seed_(seed) {}

  int64_t numSteps() const override { return epochs_ * (numExamples_ / batchSize_); }

  llvm::Expected<Tensors> batch(int64_t step) override {
    int64_t stepsPerEpoch = numExamples_ / batchSize_;
    shuffle(step / stepsPerEpoch);
    int64_t first = step % stepsPerEpoch * batchSize_;
    Tensors tensors;
    for (size_t j = 0; j < batch_.size(); ++j) {
      size_t bytes = train_[j].data.size() / numExamples_;
      rt::HostTensor &tensor = tensors.emplace_back();
      tensor.dtype = batch_[j].dtype;
      tensor.shape = batch_[j].shape;
      tensor.data.resize(bytes * batchSize_);
      for (int64_t i = 0; bytes > 0 && i < batchSize_; ++i)
        std::memcpy(&tensor.data[i * bytes], &train_[j].data[order_[first + i] * bytes], bytes);
    }
    return tensors;
  }

private:
  void shuffle(int64_t epoch) {
    if (epoch == epoch_)
      return;
    epoch_ = epoch;
    order_.resize(numExamples_);
    std::iota(order_.begin(), order_.end(), 0);
    Random random(seed_ * 0x9e3779b97f4a7c15ull + epoch);
    for (int64_t i = numExamples_ - 1; i > 0; --i)
      std::swap(order_[i], order_[random.below(i + 1)]);
  }

  const Tensors &train_;
  const std::vector<rt::TensorInfo> &batch_;
  int64_t numExamples_;
  int64_t batchSize_;
  int64_t epochs_;
  uint64_t seed_;
  int64_t epoch_ = -1;
  std::vector<int64_t> order_;
};

/// The last word of an argument's name: "x" for "b['x']".
llvm::StringRef lastWord(llvm::StringRef name) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  while (!name.empty() && !isWord(name.back()))
    name = name.drop_back();
  size_t start = name.size();
  while (start > 0 && isWord(name[start - 1]))
    --start;
  return name.drop_front(start);
}

} // namespace

llvm::Expected<Dataset> Dataset::open(llvm::StringRef path,
                                      const std::vector<rt::TensorInfo> &batch) {
  llvm::Expected<NpzFile> file = NpzFile::open(path);
  if (!file)
    return file.takeError();
  Dataset dataset(std::move(*file));
  if (llvm::Error error = dataset.chooseNames(batch))
    return error;
  if (llvm::Error error = dataset.readTrain(batch))
    return error;
  return dataset;
}

llvm::Error Dataset::chooseNames(const std::vector<rt::TensorInfo> &batch) {
  for (const rt::TensorInfo &info : batch) {
    llvm::StringRef word = lastWord(info.name);
    if (file_.contains(("train_" + word).str()) && !llvm::is_contained(names_, word))
      names_.push_back(word.str());
  }
  if (names_.size() == batch.size() && !batch.empty())
    return llvm::Error::success();
  names_.clear();
  for (llvm::StringRef name : file_.names())
    if (name.consume_front("train_"))
      names_.push_back(name.str());
  if (names_.empty() || names_.size() != batch.size())
    return makeError("'" + file_.path() + "' has " + counted(names_.size(), "array") +
                     " train_*; the step has " + counted(batch.size(), "batch argument"));
  return llvm::Error::success();
}

llvm::Error Dataset::readTrain(const std::vector<rt::TensorInfo> &batch) {
  batch_ = batch;
  for (size_t j = 0; j < batch.size(); ++j) {
    std::string name = "train_" + names_[j];
    llvm::Expected<NpyArray> array = file_.read(name);
    if (!array)
      return array.takeError();
    auto fail = [&](const llvm::Twine &why) {
      return makeError("'" + file_.path() + "', array '" + name + "' is " +
                       describe(array->type, array->shape) + "; " + why);
    };
    const std::vector<int64_t> &shape = batch[j].shape;
    if (shape.empty() || shape[0] < 1)
      return fail("the step's " + describe(batch[j]) + " has no batch dimension");
    if (!isSameType(array->type, batch[j].dtype) || array->shape.size() != shape.size() ||
        !std::equal(shape.begin() + 1, shape.end(), array->shape.begin() + 1))
      return fail("its examples do not fit the step's " + describe(batch[j]));
    if (j == 0) {
      numExamples_ = array->shape[0];
      batchSize_ = shape[0];
    }
    if (array->shape[0] != numExamples_)
      return fail("train_" + names_[0] + " has " + llvm::Twine(numExamples_) + " examples");
    if (shape[0] != batchSize_)
      return fail("the step's batch arguments differ in their first dimension");
    if (numExamples_ < batchSize_)
      return fail("a batch needs " + llvm::Twine(batchSize_) + " examples");
    train_.push_back(toTensor(std::move(*array), batch[j].dtype));
  }
  return llvm::Error::success();
}

std::unique_ptr<BatchSource> Dataset::makeBatches(int64_t epochs, uint64_t seed) const {
  return std::make_unique<DatasetBatches>(train_, batch_, numExamples_, batchSize_, epochs, seed);
}

llvm::Expected<std::vector<NpyArray>> Dataset::readTest() const {
  std::vector<NpyArray> arrays;
  for (const std::string &name : names_) {
    llvm::Expected<NpyArray> array = file_.read("test_" + name);
    if (!array)
      return array.takeError();
    arrays.push_back(std::move(*array));
  }
  return arrays;
}

} // namespace coll::run
