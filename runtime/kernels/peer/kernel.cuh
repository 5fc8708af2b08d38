// kernel.cuh - selects the device code of a plan, in the same way on GPU and host.

#ifndef COLL_RUNTIME_KERNELS_PEER_KERNEL_CUH
#define COLL_RUNTIME_KERNELS_PEER_KERNEL_CUH

#include "runtime/kernels/channel/types.cuh"
#include "runtime/kernels/peer/plan.h"
#include "runtime/kernels/peer/reduce.cuh"

#include <type_traits>

namespace coll::kernels::peer {

// The beginning of every kernel. False if this is a rehearsal launch without work. Afterwards all
// earlier work of the stream has ended.
COLL_DEVICE bool begins(const PeerPlan &plan) {
  if (plan.kind == PeerPlan::Kind::Nothing)
    return false;
  simt::awaitPrevious();
  // Not earlier: otherwise the kernels after the next one would start too, and fill the GPU.
  if (plan.early)
    simt::letNextLaunch();
  return true;
}

// Calls visit(std::integral_constant<uint32_t, N>) for the smallest fitting N for which there is
// code.
template <typename Visit>
auto visitSize(uint32_t size, Visit &&visit) {
  if (size == 2)
    return visit(std::integral_constant<uint32_t, 2>());
  if (size == 4)
    return visit(std::integral_constant<uint32_t, 4>());
  return visit(std::integral_constant<uint32_t, kMaxPeers>());
}

// Calls visit(N, kPlain) as types. Only plain buffers have code for each size.
template <typename Visit>
auto visitPlaces(bool plain, uint32_t size, Visit &&visit) {
  if (!plain)
    return visit(std::integral_constant<uint32_t, kMaxPeers>(), std::false_type());
  return visitSize(size, [&](auto n) { return visit(n, std::true_type()); });
}

// Calls visit(Reducer, N, kPlain) as types, if there are several contributors. Sums have separate
// code.
template <typename Visit>
auto visitSums(const SlicePlan &plan, uint32_t size, Visit &&visit) {
  const auto places = [&](auto reducer) {
    return visitPlaces(plan.plain, size,
                       [&](auto n, auto plain) { return visit(reducer, n, plain); });
  };
  const bool sums = plan.reduction == kCollSum || plan.reduction == kCollAvg;
  if (sums && plan.dtype == kCollF32)
    return places(SumReducer<channel::PlainType<float>>());
  if (sums && plan.dtype == kCollBf16)
    return places(SumReducer<channel::BfloatType>());
  if (sums && plan.dtype == kCollF16)
    return places(SumReducer<channel::HalfType>());
  return visit(AnyReducer(), std::integral_constant<uint32_t, kMaxPeers>(), std::false_type());
}

template <typename Visit>
auto visitSlices(const SlicePlan &plan, uint32_t size, Visit &&visit) {
  if ((plan.contributors & (plan.contributors - 1)) != 0)
    return visitSums(plan, size, visit);
  return visitPlaces(plan.plain, size,
                     [&](auto n, auto plain) { return visit(FirstReducer(), n, plain); });
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_KERNEL_CUH
