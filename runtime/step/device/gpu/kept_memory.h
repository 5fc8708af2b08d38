// kept_memory.h - GPU memory that grows and is not freed before its owner ends.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_KEPT_MEMORY_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_KEPT_MEMORY_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/gpu/gpu.h"

#include <vector>

namespace coll::rt {

// Memory that grows and is only freed with the object. Graphs keep the addresses of workspaces; and
// freeing memory waits for all kernels of the GPU's context, one of which may wait, in another
// rank, for this rank.
class KeptMemory {
public:
  // Returns at least `bytes`, with undefined content; null if `bytes` is 0 and there is no memory
  // yet.
  Result<char *> reserve(gpu::Gpu &gpu, int64_t bytes);

private:
  std::vector<dl::GpuMemory> kept_; // the last one is the largest
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_KEPT_MEMORY_H
