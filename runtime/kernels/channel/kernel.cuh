// kernel.cuh - the channel kernel, without compression and with it. They are in two files, because
// each takes the assembler minutes.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_KERNEL_CUH
#define COLL_RUNTIME_KERNELS_CHANNEL_KERNEL_CUH

#include "runtime/kernels/channel/channel_device.cuh"

namespace coll::kernels {

inline constexpr uint32_t kChannelThreads = kUnpackThreads + channel::kControlThreads;

template <bool compress>
__global__ void __launch_bounds__(kChannelThreads, 1) channelKernel(rt::ChannelLaunch launch) {
  extern __shared__ __align__(128) char shared[];
  channel::Loop<compress>(shared, launch).run();
}

// channelKernel<true>, in compress.cu.
const void *compressingChannelKernel();

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_CHANNEL_KERNEL_CUH
