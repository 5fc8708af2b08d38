#include "runtime/kernels/peer_kernel.cuh"
#include "runtime/kernels/peer_launch.h"
#include "runtime/kernels/peer_tuning.h"
#include "runtime/kernels/slices_packet_device.cuh"

namespace coll::kernels {
namespace {

template <typename Reducer, uint32_t N>
__global__ void __launch_bounds__(kPeerMaxThreads)
    packetSlices(const __grid_constant__ PeerGroup group, const __grid_constant__ PeerPlan plan) {
  if (!peer::isRehearsal(plan))
    peer::slicesByPackets<Reducer, N>(group, plan);
}

} // namespace

const void *packetSlicesKernel(const PeerPlan &plan, uint32_t size) {
  return peer::visitSlices(plan.slices, size, [](auto reducer, auto n) {
    return reinterpret_cast<const void *>(packetSlices<decltype(reducer), decltype(n)::value>);
  });
}

} // namespace coll::kernels
