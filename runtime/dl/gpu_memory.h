// gpu_memory.h - memory and a stream of one GPU, with ownership.

#ifndef COLL_RUNTIME_DL_GPU_MEMORY_H
#define COLL_RUNTIME_DL_GPU_MEMORY_H

#include "runtime/dl/cuda.h"

#include <memory>

namespace coll::rt::dl {

// A GPU's primary context, kept as long as the object lives.
class GpuContext {
public:
  static Result<std::shared_ptr<GpuContext>> open(const Cuda &cuda, int ordinal);
  ~GpuContext();
  GpuContext(const GpuContext &) = delete;
  GpuContext &operator=(const GpuContext &) = delete;

  const Cuda &cuda() const { return cuda_; }
  CudaContext context() const { return context_; }
  int ordinal() const { return ordinal_; }
  Status check(CudaResult result, std::string_view call) const {
    return cudaStatus(cuda_, result, call);
  }

private:
  GpuContext(const Cuda &cuda, int ordinal) : cuda_(cuda), ordinal_(ordinal) {}

  const Cuda &cuda_;
  int ordinal_;
  CudaContext context_ = nullptr;
};

// GPU memory, or pinned host memory that the GPU maps. Allocating and freeing it may wait for
// running kernels.
class GpuMemory {
public:
  enum class Kind { Device, Pinned };

  GpuMemory() = default;
  GpuMemory(GpuMemory &&other) noexcept { *this = std::move(other); }
  GpuMemory &operator=(GpuMemory &&other) noexcept;
  ~GpuMemory();

  // Aligned to 256 bytes; the content is undefined.
  static Result<GpuMemory> create(std::shared_ptr<GpuContext> gpu, Kind kind, int64_t bytes);

  char *device() const { return reinterpret_cast<char *>(device_); } // as the GPU addresses it
  char *host() const { return static_cast<char *>(host_); }          // Pinned only
  int64_t bytes() const { return bytes_; }

private:
  std::shared_ptr<GpuContext> gpu_;
  CudaAddress device_ = 0;
  void *host_ = nullptr;
  int64_t bytes_ = 0;
};

} // namespace coll::rt::dl

#endif // COLL_RUNTIME_DL_GPU_MEMORY_H
