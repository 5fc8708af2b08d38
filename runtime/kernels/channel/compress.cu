#include "runtime/kernels/channel/kernel.cuh"

namespace coll::kernels {

const void *compressingChannelKernel() {
  return reinterpret_cast<const void *>(channelKernel<true>);
}

} // namespace coll::kernels
