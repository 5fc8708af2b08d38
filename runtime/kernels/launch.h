// launch.h - what the launchers share; included by .cu files only.

#ifndef COLL_RUNTIME_KERNELS_LAUNCH_H
#define COLL_RUNTIME_KERNELS_LAUNCH_H

#include "runtime/base/status.h"

#include <cstddef>

namespace coll::kernels {

// Multiprocessors of the current device, after it was checked that it has sm_90's
// instructions, and after `kernel` was allowed so much shared memory on it. Cheap from the
// second call on. Any thread.
rt::Result<int> prepareKernel(const void *kernel, size_t sharedBytes);

// Launches, and turns the outcome into a Status that names the kernel. `early`: it may take its
// place before what precedes it on the stream has ended, if that lets it; so it has to call
// simt::awaitPrevious() first.
rt::Status launchKernel(const char *name, const void *kernel, int blocks, int threads,
                        size_t sharedBytes, void **arguments, void *stream, bool early = false);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_LAUNCH_H
