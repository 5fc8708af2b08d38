// choices.h - the algorithm of cuBLASLt or cuDNN for each form of a product or a convolution, for
// this process and, in a file, for later ones.
//
// The file is matmul-GPU-VERSION or convolution-GPU-VERSION in the folder of COLL_CACHE_DIR, for
// one kind of GPU and version of the library. It has a line per form: its key and the algorithm in
// hexadecimal digits. A process that adds to it keeps the existing lines, so all processes use the
// choice that was made first.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_CHOICES_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_CHOICES_H

#include "runtime/dl/cublaslt.h"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace coll::rt {

// Any thread may use it.
class AlgorithmChoices {
public:
  // The choices of this kind ("matmul") for this kind of GPU; shared by all ranks of the process. A
  // file that cannot be read counts as empty.
  static std::shared_ptr<AlgorithmChoices> of(const std::string &kind, const std::string &gpuName,
                                              size_t version);

  // `path` of the file; empty: none.
  explicit AlgorithmChoices(std::string path);

  std::optional<dl::LtAlgorithm> find(const std::string &key) const;
  // Keeps the choice, unless there is one already. Returns the valid choice.
  dl::LtAlgorithm add(const std::string &key, const dl::LtAlgorithm &algorithm);

private:
  void readLocked();
  void writeLocked() const;

  const std::string path_;
  mutable std::mutex mutex_;
  std::map<std::string, dl::LtAlgorithm> all_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_CHOICES_H
