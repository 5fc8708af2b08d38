#include "runtime/kernels/peer_emulation.h"

#include "runtime/kernels/exchange_device.cuh"
#include "runtime/kernels/peer_init_device.cuh"
#include "runtime/kernels/peer_kernel.cuh"
#include "runtime/kernels/slices_packet_device.cuh"
#include "runtime/kernels/slices_ring_device.cuh"

namespace coll::kernels {

namespace {

void runSlices(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  peer::visitSlices(plan.slices, group.size, [&](auto reducer, auto n) {
    constexpr uint32_t kSize = decltype(n)::value;
    if (plan.packets)
      peer::slicesByPackets<decltype(reducer), kSize>(group, plan);
    else
      peer::slicesByRings<decltype(reducer), kSize>(group, plan, shared);
  });
}

void runPlan(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  switch (plan.kind) {
  case PeerPlan::Kind::Slices:
    return runSlices(group, plan, shared);
  case PeerPlan::Kind::Exchange:
    if (!plan.packets)
      return peer::exchangeByRings(group, plan, shared);
    return peer::visitSize(
        group.size, [&](auto n) { peer::exchangeByPackets<decltype(n)::value>(group, plan); });
  case PeerPlan::Kind::Barrier:
    return peer::meetPeers(group, plan);
  case PeerPlan::Kind::Nothing:
    return;
  }
}

} // namespace

void emulateWorkspaceInit(const PeerGroup &group) {
  simt::run({2, 64, 0}, [&](char *) { peer::initWorkspace(group); });
}

simt::Grid emulatedGrid(const PeerGroup &group, const PeerPlan &plan) {
  return {{plan.blocks, plan.threads, sizeof(peer::RingScratch)},
          [&group, plan](char *shared) { runPlan(group, plan, shared); }};
}

} // namespace coll::kernels
