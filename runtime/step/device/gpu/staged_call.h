// staged_call.h - runs a communication call of GPU memory on host memory, for backends that take no
// other: the source is copied to the host before the call, the destination to the GPU after it.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_STAGED_CALL_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_STAGED_CALL_H

#include "runtime/backend/call/check.h"
#include "runtime/gpu/gpu.h"
#include "runtime/step/device/device.h"

#include <memory>
#include <vector>

namespace coll::rt {

// Pinned memory of calls that have ended, for later ones: allocating and freeing it takes longer
// than a call.
class PinnedPool {
public:
  explicit PinnedPool(gpu::Gpu &gpu) : gpu_(gpu) {}
  // At least `bytes` bytes, more than 0.
  Result<dl::GpuMemory> take(int64_t bytes);
  void give(dl::GpuMemory memory) { free_.push_back(std::move(memory)); }

private:
  gpu::Gpu &gpu_;
  std::vector<dl::GpuMemory> free_;
};

class StagedCall final : public CallEnd {
public:
  // Blocks until the stream is done, then replaces the call's buffers by host memory. The GPU must
  // be current, also at finish().
  static Result<std::unique_ptr<StagedCall>> begin(gpu::Gpu &gpu, PinnedPool &pool,
                                                   dl::CudaStream stream, Call &call,
                                                   const CallExtents &extents);
  ~StagedCall() override;
  // Blocks until the destination is on the GPU.
  Status finish() override;

private:
  StagedCall(gpu::Gpu &gpu, PinnedPool &pool, dl::CudaStream stream)
      : gpu_(gpu), pool_(pool), stream_(stream) {}

  gpu::Gpu &gpu_;
  PinnedPool &pool_;
  dl::CudaStream stream_;
  dl::GpuMemory host_; // source, then destination; the same if the call is in place
  char *gpuDst_ = nullptr;
  int64_t dstAt_ = 0, dstBytes_ = 0;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_STAGED_CALL_H
