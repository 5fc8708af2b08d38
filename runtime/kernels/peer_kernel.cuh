// peer_kernel.cuh - which device code does a plan: the same choice on GPU and host.

#ifndef COLL_RUNTIME_KERNELS_PEER_KERNEL_CUH
#define COLL_RUNTIME_KERNELS_PEER_KERNEL_CUH

#include "runtime/kernels/channel_types.cuh"
#include "runtime/kernels/peer_plan.h"
#include "runtime/kernels/peer_reduce.cuh"

#include <type_traits>

namespace coll::kernels::peer {

// Launched to have been launched: there is nothing to do.
COLL_DEVICE bool isRehearsal(const PeerPlan &plan) { return plan.kind == PeerPlan::Kind::Nothing; }

// Calls visit(std::integral_constant<uint32_t, N>) for the smallest N that code is made for.
template <typename Visit>
auto visitSize(uint32_t size, Visit &&visit) {
  if (size == 2)
    return visit(std::integral_constant<uint32_t, 2>());
  if (size == 4)
    return visit(std::integral_constant<uint32_t, 4>());
  return visit(std::integral_constant<uint32_t, kMaxPeers>());
}

// Calls visit(Reducer, N) as types. Only sums have code of their own for sizes.
template <typename Visit>
auto visitSlices(const SlicePlan &plan, uint32_t size, Visit &&visit) {
  const auto bySize = [&](auto reducer) {
    return visitSize(size, [&](auto n) { return visit(reducer, n); });
  };
  const auto anySize = [&](auto reducer) {
    return visit(reducer, std::integral_constant<uint32_t, kMaxPeers>());
  };
  if ((plan.contributors & (plan.contributors - 1)) == 0)
    return anySize(FirstReducer());
  const bool sums = plan.reduction == kCollSum || plan.reduction == kCollAvg;
  if (sums && plan.dtype == kCollF32)
    return bySize(SumReducer<channel::PlainType<float>>());
  if (sums && plan.dtype == kCollBf16)
    return bySize(SumReducer<channel::BfloatType>());
  if (sums && plan.dtype == kCollF16)
    return bySize(SumReducer<channel::HalfType>());
  return anySize(AnyReducer());
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_KERNEL_CUH
