// timing.h - how long work takes on a stream.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/gpu/gpu.h"

#include <functional>
#include <vector>

namespace coll::rt {

// Milliseconds of one of `runs` times what `put` puts on the stream, after one that warms up.
// Blocks until all of it is done.
Result<float> timeOnStream(gpu::Gpu &gpu, dl::CudaStream stream, int runs,
                           const std::function<Status()> &put);

// Memory that algorithms are tried in. It is freed with the object alone: to free waits for all
// kernels of the GPU's context, and one of another rank may wait for this one.
class TrialMemory {
public:
  // At least `bytes`; the content is undefined. Valid until the next call.
  Result<char *> reserve(gpu::Gpu &gpu, int64_t bytes);

private:
  std::vector<dl::GpuMemory> kept_; // the last one is the largest; each is twice the one before
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H
