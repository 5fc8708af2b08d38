// launch.h - what the launchers share; included by .cu files only.

#ifndef COLL_RUNTIME_KERNELS_LAUNCH_H
#define COLL_RUNTIME_KERNELS_LAUNCH_H

#include "runtime/base/status.h"

#include <cstddef>
#include <cstdint>

namespace coll::kernels {

// Of a kernel on the current device.
struct PreparedKernel {
  int processors;     // multiprocessors of the device
  size_t sharedBytes; // of each of them, for all its blocks
  bool overlaps;      // its code may be launched `early`: it was made for sm_90 or later

  // Blocks of so much shared memory that a multiprocessor has room for, as far as that goes.
  uint32_t blocksFor(size_t bytes) const {
    constexpr size_t kReserved = 1024; // of a block, for the driver
    return static_cast<uint32_t>(sharedBytes / (bytes + kReserved));
  }
};

// After it was checked that this build has code for the current device, and after `kernel` was
// allowed so much shared memory on it. Cheap from the second call on, which has to ask for the
// same. Any thread.
rt::Result<PreparedKernel> prepareKernel(const void *kernel, size_t sharedBytes);

// Shared memory that a block may have on the current device.
rt::Result<size_t> blockSharedBytes();

// The most threads of a block, in whole warps and up to `threads`, for which the current device has
// the shared memory: bytesOf(threads).
template <typename BytesOf>
rt::Result<uint32_t> fittingThreads(uint32_t threads, BytesOf &&bytesOf) {
  const rt::Result<size_t> most = blockSharedBytes();
  if (!most)
    return most.status();
  while (threads > 32 && bytesOf(threads) > *most)
    threads -= 32;
  return threads;
}

// Launches, and turns the outcome into a Status that names the kernel. `early`: it may take its
// place before what precedes it on the stream has ended, if that lets it; so it has to call
// simt::awaitPrevious() first, and to be one that overlaps.
rt::Status launchKernel(const char *name, const void *kernel, int blocks, int threads,
                        size_t sharedBytes, void **arguments, void *stream, bool early = false);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_LAUNCH_H
