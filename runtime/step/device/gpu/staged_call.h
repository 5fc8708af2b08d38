// staged_call.h - a communication call of GPU memory on host memory, for backends that take no
// other: the source is copied to the host before the call, the destination to the GPU after it.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_STAGED_CALL_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_STAGED_CALL_H

#include "runtime/backend/call/check.h"
#include "runtime/gpu/gpu.h"
#include "runtime/step/device/device.h"

namespace coll::rt {

class StagedCall final : public CallEnd {
public:
  // Blocks until the stream is done, then puts host memory in the place of the call's buffers. The
  // GPU is current, also at finish().
  static Result<std::unique_ptr<StagedCall>> begin(gpu::Gpu &gpu, dl::CudaStream stream, Call &call,
                                                   const CallExtents &extents);
  // Blocks until the destination is on the GPU.
  Status finish() override;

private:
  StagedCall(gpu::Gpu &gpu, dl::CudaStream stream) : gpu_(gpu), stream_(stream) {}

  gpu::Gpu &gpu_;
  dl::CudaStream stream_;
  dl::GpuMemory host_; // source, then destination; the same if the call is in place
  char *gpuDst_ = nullptr;
  int64_t dstAt_ = 0, dstBytes_ = 0;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_STAGED_CALL_H
