// platform.h - what GPU buffers of the net backend need of the outside: the driver and
// the channel kernel. Tests put a fake driver and the kernel's emulation in their place.

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
  // As kernels::loadChannel and kernels::launchChannel, in the current context.
  std::function<Status()> load;
  std::function<Status(const ChannelLaunch &, dl::CudaStream)> launch;
};

// The machine's own, or what a test has set. Any thread.
const GpuPlatform &gpuPlatform();

// Replaces the platform while the object lives; no backend may be alive when it begins or
// ends.
using ScopedGpuPlatform = Replacement<GpuPlatform>;

// The GPU that owns the memory, or -1 for memory that the CPU can touch.
int gpuOf(const void *data);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_GPU_PLATFORM_H
