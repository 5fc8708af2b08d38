#include "runtime/kernels/peer/launch.h"

#include "runtime/kernels/launch.h"
#include "runtime/kernels/peer/exchange_device.cuh"
#include "runtime/kernels/peer/kernel.cuh"
#include "runtime/kernels/peer/relay_device.cuh"
#include "runtime/kernels/peer/tuning.h"

#include <set>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

template <uint32_t N, bool kPlain>
__global__ void __launch_bounds__(kPeerMaxThreads, kPacketBlocksPerProcessor)
    packetExchange(const __grid_constant__ PeerGroup group, const __grid_constant__ PeerPlan plan) {
  if (peer::begins(plan))
    peer::exchangeByPackets<N, kPlain>(group, plan);
}

template <bool kPlain>
__global__ void __launch_bounds__(kRingMaxThreads, 1)
    ringExchange(const __grid_constant__ PeerGroup group, const __grid_constant__ PeerPlan plan) {
  __shared__ peer::RingScratch scratch;
  if (peer::begins(plan))
    peer::exchangeByRings<kPlain>(group, plan, reinterpret_cast<char *>(&scratch));
}

template <bool kPlain>
__global__ void __launch_bounds__(kRingMaxThreads, 1)
    ringRelay(const __grid_constant__ PeerGroup group, const __grid_constant__ PeerPlan plan) {
  __shared__ peer::RingScratch scratch;
  if (peer::begins(plan))
    peer::relay<kPlain>(group, plan, reinterpret_cast<char *>(&scratch));
}

__global__ void peerBarrier(const __grid_constant__ PeerGroup group,
                            const __grid_constant__ PeerPlan plan) {
  if (peer::begins(plan))
    peer::meetPeers(group, plan);
}

template <typename... Arguments>
const void *address(void (*kernel)(Arguments...)) {
  return reinterpret_cast<const void *>(kernel);
}

const void *kernelOf(const PeerPlan &plan, uint32_t size) {
  switch (plan.kind) {
  case PeerPlan::Kind::Slices:
    return plan.packets ? packetSlicesKernel(plan, size) : ringSlicesKernel(plan, size);
  case PeerPlan::Kind::Exchange:
    if (!plan.packets)
      return plan.exchange.plain ? address(ringExchange<true>) : address(ringExchange<false>);
    return peer::visitPlaces(plan.exchange.plain, size, [](auto n, auto plain) {
      return address(packetExchange<decltype(n)::value, decltype(plain)::value>);
    });
  case PeerPlan::Kind::Relay:
    return plan.exchange.plain ? address(ringRelay<true>) : address(ringRelay<false>);
  case PeerPlan::Kind::Barrier:
    return address(peerBarrier);
  case PeerPlan::Kind::Nothing:
    break;
  }
  return nullptr;
}

Status launch(const char *name, const void *kernel, const PeerGroup &group, const PeerPlan &plan,
              void *stream) {
  const Result<PreparedKernel> prepared = prepareKernel(kernel, 0);
  if (!prepared)
    return prepared.status();
  PeerGroup groupArgument = group;
  PeerPlan planArgument = plan;
  void *arguments[] = {&groupArgument, &planArgument};
  return launchKernel(name, kernel, static_cast<int>(plan.blocks), static_cast<int>(plan.threads),
                      0, arguments, stream, plan.early && prepared->overlaps);
}

} // namespace

Status rehearsePeerKernels(const PeerGroup &group, void *stream) {
  std::set<const void *> kernels;
  PeerPlan plan;
  for (int i = 0; i < 4; ++i) {
    plan.packets = i % 2 != 0;
    plan.slices.plain = plan.exchange.plain = i / 2 != 0;
    for (PeerPlan::Kind kind :
         {PeerPlan::Kind::Exchange, PeerPlan::Kind::Relay, PeerPlan::Kind::Barrier}) {
      plan.kind = kind;
      kernels.insert(kernelOf(plan, group.size));
    }
    plan.kind = PeerPlan::Kind::Slices;
    for (uint32_t contributors : {1u, 3u})
      for (CollDtype dtype : {kCollF32, kCollBf16, kCollF16, kCollI32}) {
        plan.slices.contributors = contributors;
        plan.slices.dtype = dtype;
        plan.slices.reduction = kCollSum;
        kernels.insert(kernelOf(plan, group.size));
      }
  }
  for (const void *kernel : kernels)
    COLL_RETURN_IF_ERROR(launch("a rehearsal", kernel, group, PeerPlan(), stream));
  return Status::okay();
}

Status launchPeerPlan(const char *name, const PeerGroup &group, const Result<PeerPlan> &plan,
                      void *stream) {
  if (!plan)
    return plan.status().annotate(name);
  const void *kernel = kernelOf(*plan, group.size);
  if (!kernel)
    return Status::okay();
  return launch(name, kernel, group, *plan, stream);
}

} // namespace coll::kernels
