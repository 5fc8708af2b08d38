// platform.h - the driver and the channel kernel that GPU buffers of the net backend need. Tests
// replace them by a fake driver and the kernel's emulation.

#ifndef COLL_RUNTIME_BACKEND_NET_GPU_PLATFORM_H
#define COLL_RUNTIME_BACKEND_NET_GPU_PLATFORM_H

#include "runtime/base/channel_layout.h"
#include "runtime/base/replacement.h"
#include "runtime/dl/gpu_memory.h"

#include <functional>

namespace coll::rt::network {

using dl::GpuContext;
using dl::GpuMemory;

struct GpuPlatform {
  const dl::Cuda *cuda = nullptr; // null: there is no GPU
  // kernels::loadChannel and kernels::launchChannel, in the current context.
  std::function<Status()> load;
  std::function<Status(const ChannelLaunch &, dl::CudaStream)> launch;
};

// The machine's, or a test's. Any thread may call it.
const GpuPlatform &gpuPlatform();

// Replaces the platform while the object lives; no backend may be alive when it begins or
// ends.
using ScopedGpuPlatform = Replacement<GpuPlatform>;

// The GPU that owns the memory, or -1 for memory that the CPU can touch.
int gpuOf(const void *data);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_GPU_PLATFORM_H
