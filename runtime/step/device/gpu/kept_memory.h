// kept_memory.h - GPU memory that grows and is not freed before its owner ends.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_KEPT_MEMORY_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_KEPT_MEMORY_H

#include "runtime/dl/gpu_memory.h"
#include "runtime/gpu/gpu.h"

#include <vector>

namespace coll::rt {

// Memory that grows and is freed with the object alone. Graphs keep the addresses of workspaces;
// and to free waits for all kernels of the GPU's context, of which one of another rank may wait for
// this rank.
class KeptMemory {
public:
  // At least `bytes`, whose content is undefined; null for none where there are none yet.
  Result<char *> reserve(gpu::Gpu &gpu, int64_t bytes);

private:
  std::vector<dl::GpuMemory> kept_; // the last one is the largest
};

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_KEPT_MEMORY_H
