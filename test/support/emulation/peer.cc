#include "test/support/emulation/peer.h"

#include "runtime/kernels/peer/exchange_device.cuh"
#include "runtime/kernels/peer/init_device.cuh"
#include "runtime/kernels/peer/kernel.cuh"
#include "runtime/kernels/peer/relay_device.cuh"
#include "runtime/kernels/peer/slices_packet_device.cuh"
#include "runtime/kernels/peer/slices_ring_device.cuh"

namespace coll::kernels {

namespace {

void runSlices(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  peer::visitSlices(plan.slices, group.size, [&](auto reducer, auto n, auto plain) {
    constexpr uint32_t kSize = decltype(n)::value;
    constexpr bool kPlain = decltype(plain)::value;
    if (plan.packets)
      peer::slicesByPackets<decltype(reducer), kSize, kPlain>(group, plan);
    else
      peer::slicesByRings<decltype(reducer), kSize, kPlain>(group, plan, shared);
  });
}

void runPlan(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  switch (plan.kind) {
  case PeerPlan::Kind::Slices:
    return runSlices(group, plan, shared);
  case PeerPlan::Kind::Exchange:
    return peer::visitPlaces(plan.exchange.plain, group.size, [&](auto n, auto plain) {
      constexpr bool kPlain = decltype(plain)::value;
      if (plan.packets)
        peer::exchangeByPackets<decltype(n)::value, kPlain>(group, plan);
      else
        peer::exchangeByRings<kPlain>(group, plan, shared);
    });
  case PeerPlan::Kind::Relay:
    return plan.exchange.plain ? peer::relay<true>(group, plan, shared)
                               : peer::relay<false>(group, plan, shared);
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
