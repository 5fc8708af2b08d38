// gpu_room.h - a rank's GPU, and GPU memory that the host fills and reads.

#ifndef COLL_TOOLS_COLL_PERF_MOE_GPU_ROOM_H
#define COLL_TOOLS_COLL_PERF_MOE_GPU_ROOM_H

#include "runtime/dl/gpu_memory.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace coll::perf {

using rt::Result;
using rt::Status;

// The memory lives as long as the object.
class GpuRoom {
public:
  // Uses GPU `rank`; with fewer GPUs than ranks, ranks share them. kCollUnsupported: no GPU, driver
  // or kernels.
  Status open(int rank, int ranks);

  const std::shared_ptr<rt::dl::GpuContext> &gpu() const { return gpu_; }
  const rt::dl::Cuda &cuda() const { return gpu_->cuda(); }
  // Sets the stream for copies.
  void useStream(rt::dl::CudaStream stream) { stream_ = stream; }
  // Waits until all work on the stream is done.
  Status wait() const;

  Result<char *> allocate(int64_t bytes);
  template <typename T>
  Result<T *> upload(const std::vector<T> &values) {
    Result<char *> to = put(values.data(), values.size() * sizeof(T));
    if (!to)
      return to.status();
    return reinterpret_cast<T *>(*to);
  }
  template <typename T>
  Result<std::vector<T>> download(const void *from, size_t count) const {
    std::vector<T> values(count);
    COLL_RETURN_IF_ERROR(get(values.data(), from, count * sizeof(T)));
    return values;
  }

private:
  Result<char *> put(const void *data, size_t bytes);
  Status get(void *to, const void *from, size_t bytes) const;

  std::shared_ptr<rt::dl::GpuContext> gpu_;
  rt::dl::CudaStream stream_ = nullptr;
  std::vector<rt::dl::GpuMemory> memory_;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_GPU_ROOM_H
