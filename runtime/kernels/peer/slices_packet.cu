#include "runtime/kernels/peer/kernel.cuh"
#include "runtime/kernels/peer/launch.h"
#include "runtime/kernels/peer/slices_packet_device.cuh"
#include "runtime/kernels/peer/tuning.h"

namespace coll::kernels {
namespace {

template <typename Reducer, uint32_t N, bool kPlain>
__global__ void __launch_bounds__(kPeerMaxThreads, kPacketBlocksPerProcessor)
    packetSlices(const __grid_constant__ PeerGroup group, const __grid_constant__ PeerPlan plan) {
  if (peer::begins(plan))
    peer::slicesByPackets<Reducer, N, kPlain>(group, plan);
}

} // namespace

const void *packetSlicesKernel(const PeerPlan &plan, uint32_t size) {
  return peer::visitSlices(plan.slices, size, [](auto reducer, auto n, auto plain) {
    return reinterpret_cast<const void *>(
        packetSlices<decltype(reducer), decltype(n)::value, decltype(plain)::value>);
  });
}

} // namespace coll::kernels
