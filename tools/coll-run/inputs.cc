//===- inputs.cc - initial state and batches of a run ------------------------------===//

#include "tools/coll-run/inputs.h"

#include "compiler/error.h"

namespace coll::run {
namespace {

class Opener {
public:
  Opener(const Options &options, const std::vector<rt::TensorInfo> &state,
         const std::vector<rt::TensorInfo> &batch,
         llvm::function_ref<void(const llvm::Twine &)> note)
      : options_(options), stateInfos_(state), batchInfos_(batch), note_(note) {}

  llvm::Expected<Inputs> open();

private:
  llvm::Error openState(const std::optional<NpzFile> &data);
  llvm::Error openBatches(const std::optional<NpzFile> &data);
  llvm::Error openDataset(const std::optional<NpzFile> &data);
  void noteNarrowed() const;

  const Options &options_;
  const std::vector<rt::TensorInfo> &stateInfos_, &batchInfos_;
  llvm::function_ref<void(const llvm::Twine &)> note_;
  ArrayNames narrowed_;
  Inputs inputs_;
};

llvm::Expected<Inputs> Opener::open() {
  std::optional<NpzFile> data;
  if (!options_.data.empty()) {
    llvm::Expected<NpzFile> file = NpzFile::open(options_.data);
    if (!file)
      return file.takeError();
    data = std::move(*file);
  }
  if (llvm::Error error = openState(data))
    return error;
  if (llvm::Error error = openBatches(data))
    return error;
  noteNarrowed();
  return std::move(inputs_);
}

llvm::Error Opener::openState(const std::optional<NpzFile> &data) {
  if (stateInfos_.empty() && !options_.init.empty())
    return makeError("--init=" + options_.init + ", but '" + options_.input + "' has no state");
  if (stateInfos_.empty())
    return llvm::Error::success();
  std::optional<llvm::Expected<Tensors>> state;
  if (!options_.init.empty()) {
    llvm::Expected<NpzFile> file = NpzFile::open(options_.init);
    if (!file)
      return file.takeError();
    state = readState(*file, stateInfos_, &narrowed_);
  } else if (data) {
    state = readState(*data, stateInfos_, &narrowed_);
  } else {
    note_("no --data or --init: the initial state is made up");
    inputs_.state = makeRandomState(stateInfos_, options_.seed);
    return llvm::Error::success();
  }
  if (!*state)
    return state->takeError();
  inputs_.state = std::move(**state);
  return llvm::Error::success();
}

llvm::Error Opener::openDataset(const std::optional<NpzFile> &data) {
  llvm::Expected<Dataset> dataset = Dataset::open(options_.dataset, batchInfos_);
  if (!dataset)
    return dataset.takeError();
  inputs_.dataset = std::make_unique<Dataset>(std::move(*dataset));
  if (data && data->contains("batch_0_0"))
    note_("the batches of '" + options_.data + "' are left out: --dataset has its own");
  int64_t size = inputs_.dataset->batchSize(), examples = inputs_.dataset->numExamples();
  if (options_.batchSize && *options_.batchSize != size)
    return makeError("--batch-size=" + llvm::Twine(*options_.batchSize) +
                     ", but the step was made for " + llvm::Twine(size));
  if (int64_t rest = examples % size)
    note_("each epoch leaves out " + llvm::Twine(rest) + " of " + llvm::Twine(examples) +
          " examples: batches are of " + llvm::Twine(size));
  inputs_.batches = inputs_.dataset->makeBatches(options_.epochs, options_.seed);
  inputs_.steps = inputs_.batches->numSteps();
  return llvm::Error::success();
}

llvm::Error Opener::openBatches(const std::optional<NpzFile> &data) {
  if (!options_.dataset.empty())
    return openDataset(data);
  if (data && !batchInfos_.empty()) {
    auto batches = makeFileBatches(*data, batchInfos_, &narrowed_);
    if (!batches)
      return batches.takeError();
    inputs_.batches = std::move(*batches);
    int64_t available = inputs_.batches->numSteps();
    inputs_.steps = options_.steps.value_or(available);
    if (inputs_.steps > available)
      note_("'" + options_.data + "' has " + llvm::Twine(available) + " batches; they repeat");
    return llvm::Error::success();
  }
  if (!batchInfos_.empty())
    note_("no --data: the batches are made up");
  inputs_.batches = makeRandomBatches(batchInfos_, options_.seed);
  inputs_.steps = options_.steps.value_or(1);
  return llvm::Error::success();
}

void Opener::noteNarrowed() const {
  if (!narrowed_.empty())
    note_(counted(narrowed_.size(), "array") + " of int64 become i32, as the step has it, '" +
          narrowed_.front() + "' first");
}

} // namespace

llvm::Expected<Inputs> openInputs(const Options &options, const std::vector<rt::TensorInfo> &state,
                                  const std::vector<rt::TensorInfo> &batch,
                                  llvm::function_ref<void(const llvm::Twine &)> note) {
  return Opener(options, state, batch, note).open();
}

} // namespace coll::run
