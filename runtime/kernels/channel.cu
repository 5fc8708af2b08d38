#include "runtime/kernels/channel.h"
#include "runtime/kernels/channel_device.cuh"
#include "runtime/kernels/launch.h"

namespace coll::kernels {

using rt::Status;

namespace {

constexpr uint32_t kThreads = kUnpackThreads + channel::kControlThreads;
constexpr size_t kSharedBytes = channel::sharedBytes(kUnpackThreads / simt::kWarpThreads);

__global__ void __launch_bounds__(kThreads, 1) channelKernel(rt::ChannelLaunch launch) {
  extern __shared__ __align__(128) char shared[];
  channel::Loop(shared, launch).run();
}

const void *kernel() { return reinterpret_cast<const void *>(channelKernel); }

} // namespace

Status loadChannel() { return prepareKernel(kernel(), kSharedBytes).status(); }

Status launchChannel(const rt::ChannelLaunch &launch, void *stream) {
  COLL_RETURN_IF_ERROR(checkChannel(launch));
  COLL_RETURN_IF_ERROR(loadChannel());
  rt::ChannelLaunch argument = launch;
  void *arguments[] = {&argument};
  return launchKernel("the channel kernel", kernel(),
                      static_cast<int>(launch.numQueues * launch.blocksPerQueue), kThreads,
                      kSharedBytes, arguments, stream);
}

} // namespace coll::kernels
