// staged_copy.h - copies between the bounce pool and GPU memory by the copy engines.

#ifndef COLL_RUNTIME_NET_GPU_STAGED_COPY_H
#define COLL_RUNTIME_NET_GPU_STAGED_COPY_H

#include "runtime/net/gpu/gpu.h"
#include "runtime/net/gpu/page_list.h"

namespace coll::net {

// One batch of copies at a time. The object may be reused.
class StagedCopy {
public:
  ~StagedCopy();
  StagedCopy() = default;
  StagedCopy(const StagedCopy &) = delete;
  StagedCopy &operator=(const StagedCopy &) = delete;

  // Starts to copy the runs to (or from) GPU memory at `address`.
  Status toGpu(const std::shared_ptr<Gpu> &gpu, const Runs &runs, uint64_t address);
  Status fromGpu(const std::shared_ptr<Gpu> &gpu, const Runs &runs, uint64_t address);
  // Whether the copies have ended; kCollDevice if they failed.
  Result<bool> done();
  // Waits for the copies. Afterwards the pool's blocks may be freed.
  void wait();

private:
  Status begin(const std::shared_ptr<Gpu> &gpu, const Runs &runs, uint64_t address, bool in);

  std::shared_ptr<Gpu> gpu_; // the GPU of event_
  rt::dl::CudaEvent event_ = nullptr;
  bool running_ = false;
};

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_STAGED_COPY_H
