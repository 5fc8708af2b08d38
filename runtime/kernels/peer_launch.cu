#include "runtime/kernels/peer_launch.h"

#include "runtime/kernels/exchange_device.cuh"
#include "runtime/kernels/launch.h"
#include "runtime/kernels/peer_kernel.cuh"
#include "runtime/kernels/peer_tuning.h"

#include <set>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

template <uint32_t N>
__global__ void __launch_bounds__(kPeerMaxThreads)
    packetExchange(const __grid_constant__ PeerGroup group, const __grid_constant__ PeerPlan plan) {
  if (!peer::isRehearsal(plan))
    peer::exchangeByPackets<N>(group, plan);
}

__global__ void __launch_bounds__(kPeerMaxThreads)
    ringExchange(const __grid_constant__ PeerGroup group, const __grid_constant__ PeerPlan plan) {
  __shared__ peer::RingScratch scratch;
  if (!peer::isRehearsal(plan))
    peer::exchangeByRings(group, plan, reinterpret_cast<char *>(&scratch));
}

__global__ void peerBarrier(const __grid_constant__ PeerGroup group,
                            const __grid_constant__ PeerPlan plan) {
  if (!peer::isRehearsal(plan))
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
      return address(ringExchange);
    return peer::visitSize(size,
                           [](auto n) { return address(packetExchange<decltype(n)::value>); });
  case PeerPlan::Kind::Barrier:
    return address(peerBarrier);
  case PeerPlan::Kind::Nothing:
    break;
  }
  return nullptr;
}

Status launch(const char *name, const void *kernel, uint32_t blocks, uint32_t threads,
              void **arguments, void *stream) {
  COLL_RETURN_IF_ERROR(prepareKernel(kernel, 0).status());
  return launchKernel(name, kernel, static_cast<int>(blocks), static_cast<int>(threads), 0,
                      arguments, stream);
}

} // namespace

Status rehearsePeerKernels(const PeerGroup &group, void *stream) {
  std::set<const void *> kernels;
  PeerPlan plan;
  for (bool packets : {false, true}) {
    plan.packets = packets;
    for (PeerPlan::Kind kind : {PeerPlan::Kind::Exchange, PeerPlan::Kind::Barrier}) {
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
  PeerGroup groupArgument = group;
  PeerPlan rehearsal;
  void *arguments[] = {&groupArgument, &rehearsal};
  for (const void *kernel : kernels)
    COLL_RETURN_IF_ERROR(launch("a rehearsal", kernel, 1, 32, arguments, stream));
  return Status::okay();
}

Status launchPeerPlan(const char *name, const PeerGroup &group, const Result<PeerPlan> &plan,
                      void *stream) {
  if (!plan)
    return plan.status().annotate(name);
  const void *kernel = kernelOf(*plan, group.size);
  if (!kernel)
    return Status::okay();
  PeerGroup groupArgument = group;
  PeerPlan planArgument = *plan;
  void *arguments[] = {&groupArgument, &planArgument};
  return launch(name, kernel, plan->blocks, plan->threads, arguments, stream);
}

} // namespace coll::kernels
