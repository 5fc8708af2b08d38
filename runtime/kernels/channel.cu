#include "runtime/kernels/channel.h"
#include "runtime/kernels/channel_device.cuh"
#include "runtime/kernels/launch.h"

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint32_t kThreads = kUnpackThreads + channel::kControlThreads;

// Of a block with so many workers.
size_t sharedBytes(uint32_t workers) { return channel::sharedBytes(workers / simt::kWarpThreads); }
rt::Result<uint32_t> workersOfBlock() { return fittingThreads(kUnpackThreads, sharedBytes); }

__global__ void __launch_bounds__(kThreads, 1) channelKernel(rt::ChannelLaunch launch) {
  extern __shared__ __align__(128) char shared[];
  channel::Loop(shared, launch).run();
}

const void *kernel() { return reinterpret_cast<const void *>(channelKernel); }

} // namespace

Status loadChannel() {
  const rt::Result<uint32_t> workers = workersOfBlock();
  return workers ? prepareKernel(kernel(), sharedBytes(*workers)).status() : workers.status();
}

Status launchChannel(const rt::ChannelLaunch &launch, void *stream) {
  COLL_RETURN_IF_ERROR(checkChannel(launch));
  COLL_RETURN_IF_ERROR(loadChannel());
  const rt::Result<uint32_t> workers = workersOfBlock();
  if (!workers)
    return workers.status();
  rt::ChannelLaunch argument = launch;
  void *arguments[] = {&argument};
  return launchKernel("the channel kernel", kernel(),
                      static_cast<int>(launch.numQueues * launch.blocksPerQueue),
                      static_cast<int>(*workers + channel::kControlThreads), sharedBytes(*workers),
                      arguments, stream);
}

} // namespace coll::kernels
