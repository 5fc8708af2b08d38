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

template <bool compress>
__global__ void __launch_bounds__(kThreads, 1) channelKernel(rt::ChannelLaunch launch) {
  extern __shared__ __align__(128) char shared[];
  channel::Loop<compress>(shared, launch).run();
}

const void *kernel(bool compress) {
  return compress ? reinterpret_cast<const void *>(channelKernel<true>)
                  : reinterpret_cast<const void *>(channelKernel<false>);
}

Status load(bool compress, uint32_t workers) {
  return prepareKernel(kernel(compress), sharedBytes(workers)).status();
}

} // namespace

Status loadChannel() {
  const rt::Result<uint32_t> workers = workersOfBlock();
  if (!workers)
    return workers.status();
  COLL_RETURN_IF_ERROR(load(/*compress=*/false, *workers));
  return load(/*compress=*/true, *workers);
}

Status launchChannel(const rt::ChannelLaunch &launch, void *stream) {
  COLL_RETURN_IF_ERROR(checkChannel(launch));
  const rt::Result<uint32_t> workers = workersOfBlock();
  if (!workers)
    return workers.status();
  COLL_RETURN_IF_ERROR(load(launch.compress, *workers));
  rt::ChannelLaunch argument = launch;
  void *arguments[] = {&argument};
  return launchKernel("the channel kernel", kernel(launch.compress),
                      static_cast<int>(launch.numQueues * launch.blocksPerQueue),
                      static_cast<int>(*workers + channel::kControlThreads), sharedBytes(*workers),
                      arguments, stream);
}

} // namespace coll::kernels
