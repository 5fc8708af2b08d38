// device.cuh - the root update's kernel, for GPU and host: selects the code of a call.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_DEVICE_CUH

#include "runtime/kernels/root_update/alone_device.cuh"
#include "runtime/kernels/root_update/packet_device.cuh"
#include "runtime/kernels/root_update/ring_device.cuh"

namespace coll::kernels::root_update {

// Calls visit(gradient type, parameter type, kRanks of Root) for a call and returns its result.
// Pairs of different types have kernels only for one rank and for any number of ranks, which saves
// compile time.
template <typename Visit>
auto visitTypes(const RootUpdate &update, uint32_t ranks, Visit &&visit) {
  using One = std::integral_constant<uint32_t, 1>;
  using Any = std::integral_constant<uint32_t, kMaxPeers>;
  const auto withRanks = [&](auto type) {
    if (ranks == 1)
      return visit(type, type, One());
    if (ranks == 2)
      return visit(type, type, std::integral_constant<uint32_t, 2>());
    if (ranks == 4)
      return visit(type, type, std::integral_constant<uint32_t, 4>());
    return visit(type, type, Any());
  };
  if (update.gradientType == update.parameterType)
    return update.gradientType == kCollF32 ? withRanks(F32()) : withRanks(Bf16());
  const auto mixed = [&](auto gradient, auto parameter) {
    return ranks == 1 ? visit(gradient, parameter, One()) : visit(gradient, parameter, Any());
  };
  return update.gradientType == kCollF32 ? mixed(F32(), Bf16()) : mixed(Bf16(), F32());
}

template <typename Optimizer, typename Gradient, typename Parameter, uint32_t kRanks>
COLL_DEVICE void update(const Arguments &args, const Optimizer &optimizer, char *shared) {
  if constexpr (kRanks == 1)
    AloneUpdate<Optimizer, Gradient, Parameter>(args, optimizer, shared).run();
  else if (args.packets)
    PacketUpdate<Optimizer, Gradient, Parameter, kRanks>(args, optimizer, shared).run();
  else
    RingUpdate<Optimizer, Gradient, Parameter, kRanks>(args, optimizer, shared).run();
}

// Run by one thread.
COLL_DEVICE void nextStep(UpdateStep *step) { ++step->step; }

} // namespace coll::kernels::root_update

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_DEVICE_CUH
