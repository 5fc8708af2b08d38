#include "runtime/kernels/peer/kernel.cuh"
#include "runtime/kernels/peer/launch.h"
#include "runtime/kernels/peer/slices_ring_device.cuh"
#include "runtime/kernels/peer/tuning.h"

namespace coll::kernels {
namespace {

template <typename Reducer, uint32_t N, bool kPlain>
__global__ void __launch_bounds__(kRingMaxThreads, 1)
    ringSlices(const __grid_constant__ PeerGroup group, const __grid_constant__ PeerPlan plan) {
  __shared__ peer::RingScratch scratch;
  if (peer::begins(plan))
    peer::slicesByRings<Reducer, N, kPlain>(group, plan, reinterpret_cast<char *>(&scratch));
}

} // namespace

const void *ringSlicesKernel(const PeerPlan &plan, uint32_t size) {
  return peer::visitSums(plan.slices, size, [](auto reducer, auto n, auto plain) {
    return reinterpret_cast<const void *>(
        ringSlices<decltype(reducer), decltype(n)::value, decltype(plain)::value>);
  });
}

} // namespace coll::kernels
