// channel.h - starts the persistent kernel of a communicator.
//
// runtime/base/channel_layout.h is the layout that host and kernel share, port.h the host's side of
// the queues, test/support/emulation/channel.h the same kernel on host threads.
//
// A launch occupies numQueues * blocksPerQueue multiprocessors until the host posts Exit to every
// queue. Meanwhile calls that wait for the whole GPU (freeing memory, loading a kernel for the
// first time, cudaDeviceSynchronize) wait for the launch, so the host must post Exit when there is
// nothing to do.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_CHANNEL_H
#define COLL_RUNTIME_KERNELS_CHANNEL_CHANNEL_H

#include "runtime/base/channel_layout.h"
#include "runtime/base/status.h"

namespace coll::kernels {

// Ok if the numbers of the launch are within bounds and no pointer is null.
rt::Status checkChannel(const rt::ChannelLaunch &launch);

// Loads the kernels into the current context; kCollUnsupported without CUDA, or if the GPU is too
// old. Call it when a communicator is created: a first launch may wait for persistent kernels that
// already run.
rt::Status loadChannel();

// Starts the kernel on `stream` (a CUstream of the current context; non-blocking, so that the
// legacy default stream does not wait for it). Does not block. Launches on one stream run one after
// the other, so the next may be started when Exit of the previous one has been posted.
rt::Status launchChannel(const rt::ChannelLaunch &launch, void *stream);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_CHANNEL_CHANNEL_H
