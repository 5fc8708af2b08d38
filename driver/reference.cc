//===- reference.cc - the outcome that a run is compared with --------------------===//

#include "driver/reference.h"

#include "compiler/error.h"
#include "driver/tensors.h"

namespace coll::run {
namespace {

llvm::Expected<rt::HostTensor> readAs(const NpzFile &file, const std::string &name,
                                      std::optional<CollDtype> dtype) {
  llvm::Expected<NpyArray> array = file.read(name);
  if (!array)
    return array.takeError();
  return toTensor(std::move(*array), dtype);
}

llvm::Expected<std::vector<double>> readLosses(const NpzFile &file, int64_t steps) {
  llvm::Expected<rt::HostTensor> tensor = readAs(file, "losses", std::nullopt);
  if (!tensor)
    return tensor.takeError();
  std::vector<double> losses;
  for (int64_t i = 0, e = numElements(*tensor); i < e; ++i)
    losses.push_back(element(*tensor, i));
  if (int64_t(losses.size()) != steps)
    return makeError("'" + file.path() + "' is the outcome of " + llvm::Twine(losses.size()) +
                     " steps, not of " + llvm::Twine(steps));
  return losses;
}

} // namespace

llvm::Expected<Reference> Reference::read(llvm::StringRef path,
                                          const std::vector<rt::TensorInfo> &state,
                                          const std::vector<rt::TensorInfo> &results,
                                          int64_t steps) {
  llvm::Expected<NpzFile> file = NpzFile::open(path);
  if (!file)
    return file.takeError();
  Reference reference;
  bool isEmpty = state.empty();
  if (file->contains("losses")) {
    llvm::Expected<std::vector<double>> losses = readLosses(*file, steps);
    if (!losses)
      return losses.takeError();
    reference.losses = std::move(*losses);
    isEmpty = false;
  }
  for (size_t i = 0; i < state.size(); ++i) {
    auto tensor = readAs(*file, "state_out_" + std::to_string(i), state[i].dtype);
    if (!tensor)
      return tensor.takeError();
    reference.state.push_back(std::move(*tensor));
  }
  reference.results.resize(results.size());
  for (size_t k = 0; k < results.size(); ++k) {
    std::string name = "result_" + std::to_string(k);
    if (!file->contains(name))
      continue;
    auto tensor = readAs(*file, name, results[k].dtype);
    if (!tensor)
      return tensor.takeError();
    reference.results[k] = std::move(*tensor);
    isEmpty = false;
  }
  if (isEmpty)
    return makeError("'" + path +
                     "' has nothing to compare with: no losses, state_out_I or result_K");
  return reference;
}

} // namespace coll::run
