#include "runtime/kernels/channel/channel.h"
#include "runtime/kernels/channel/kernel.cuh"
#include "runtime/kernels/launch.h"

namespace coll::kernels {

using rt::Status;

namespace {

// Shared memory of a block with `workers` worker warps.
size_t sharedBytes(uint32_t workers) { return channel::sharedBytes(workers / simt::kWarpThreads); }
rt::Result<uint32_t> workersOfBlock() { return fittingThreads(kUnpackThreads, sharedBytes); }

const void *kernel(bool compress) {
  return compress ? compressingChannelKernel()
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
