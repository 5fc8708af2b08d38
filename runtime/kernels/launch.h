// launch.h - code that the launchers share; included by .cu files only.

#ifndef COLL_RUNTIME_KERNELS_LAUNCH_H
#define COLL_RUNTIME_KERNELS_LAUNCH_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>

namespace coll::kernels {

// A kernel's properties on the current device.
struct PreparedKernel {
  int processors;     // multiprocessors of the device
  size_t sharedBytes; // of each of them, for all its blocks
  bool overlaps;      // its code may be launched `early`: it was compiled for sm_90 or later

  // How many blocks with this much shared memory fit on a multiprocessor, considering shared memory
  // alone.
  uint32_t blocksFor(size_t bytes) const {
    constexpr size_t kReserved = 1024; // of a block, for the driver
    return static_cast<uint32_t>(sharedBytes / (bytes + kReserved));
  }
};

// Checks that this build has code for the current device, and allows `kernel` this much shared
// memory on it. Cheap from the second call on; all calls must request the same size. Any thread may
// call it.
rt::Result<PreparedKernel> prepareKernel(const void *kernel, size_t sharedBytes);

// The compute capability of the current device: 90 for 9.0.
rt::Result<int> computeCapability();

// Shared memory that a block may have on the current device.
rt::Result<size_t> blockSharedBytes();

// The largest number of threads of a block, in complete warps and at most `threads`, for which the
// current device has the shared memory bytesOf(threads).
template <typename BytesOf>
rt::Result<uint32_t> fittingThreads(uint32_t threads, BytesOf &&bytesOf) {
  const rt::Result<size_t> most = blockSharedBytes();
  if (!most)
    return most.status();
  while (threads > 32 && bytesOf(threads) > *most)
    threads -= 32;
  return threads;
}

// Launches, and converts the outcome into a Status that names the kernel. `early`: the kernel may
// start before the work before it on the stream has ended, if that work allows it. Such a kernel
// must call simt::awaitPrevious() first, and its code must support overlap.
rt::Status launchKernel(const char *name, const void *kernel, int blocks, int threads,
                        size_t sharedBytes, void **arguments, void *stream, bool early = false);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_LAUNCH_H
