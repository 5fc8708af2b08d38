#include "runtime/kernels/peer/grid.h"

#include "runtime/kernels/peer/args.h"
#include "runtime/kernels/peer/tuning.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

uint64_t slotVectors(const PeerGroup &group) { return group.layout.slotBytes / kVectorBytes; }

uint32_t maxBlocks(const PeerGroup &group) {
  return group.maxBlocks != 0 ? group.maxBlocks : residentBlocks(kMultiprocessors, 1);
}

// At most this many, or the requested number.
uint32_t within(uint32_t most, uint64_t wanted, uint32_t asked) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(asked != 0 ? asked : wanted, 1, std::max(1u, most)));
}

void setPacketGrid(const PeerGroup &group, const PeerTuning &tuning, uint64_t vectors,
                   PeerPlan &plan) {
  plan.packets = true;
  plan.threads = kPacketThreads;
  for (const PacketGrid &grid : kPacketGrids)
    if (vectors <= grid.vectors) {
      plan.threads = grid.threads;
      break;
    }
  if (tuning.threads != 0)
    plan.threads = std::min(tuning.threads, kPeerMaxThreads);
  // One more block exchanges tokens with the peers.
  const uint32_t most = std::max(2u, maxBlocks(group) * 2 / 3);
  plan.blocks = within(most - 1, ceilDiv(vectors, plan.threads), tuning.blocks) + 1;
  // Two of them occupy no more than one large kernel.
  plan.early = plan.blocks <= maxBlocks(group) / 3;
}

// The minimum number of rounds in which a team moves `each` vectors. A piece crosses `stages`
// links, one after the other, which are all busy from the second round on. Short rounds fill them
// sooner, but each round has a fixed cost. Minimises (rounds + stages - 1) * (link time + cost).
uint64_t pipelinedRounds(uint64_t each, uint32_t stages) {
  const uint64_t square = (stages - 1) * each / kRoundCostVectors;
  const auto best = static_cast<uint64_t>(std::sqrt(static_cast<double>(square)));
  return std::min(best, each / kRingMinVectors);
}

void setRingGrid(const PeerGroup &group, const PeerTuning &tuning, uint64_t vectors,
                 const RingShape &shape, PeerPlan &plan) {
  const auto [roles, lanes, stages] = shape;
  plan.packets = false;
  // A multiprocessor has room for two blocks of kRingThreads, or one of twice as many threads.
  const uint32_t small = maxBlocks(group) * 2 / 3;
  const bool fills = roles * lanes == 1 && small >= 2 * kMultiprocessors;
  plan.threads = fills ? kRingMaxThreads : kRingThreads;
  if (tuning.threads != 0)
    plan.threads = tuning.threads;
  const uint32_t resident = plan.threads > kRingThreads ? small / 2 : small;
  const uint32_t most =
      std::min({lanes * group.layout.ringBlocks, lanes * kMaxTeams, resident / roles});
  plan.teams = within(most, ceilDiv(vectors, kRingMinVectors), tuning.blocks);
  plan.blocks = plan.teams * roles;
  // Rounds of equal size, in complete warps.
  const uint64_t each = ceilDiv(vectors, plan.teams);
  const uint64_t rounds =
      std::max({uint64_t{1}, ceilDiv(each, slotVectors(group)), pipelinedRounds(each, stages)});
  const uint64_t piece = ceilDiv(ceilDiv(each, rounds), 32) * 32;
  plan.pieceBytes = std::min(piece, slotVectors(group)) * kVectorBytes;
}

// The largest message for which packets are chosen by default, and the number of hops of its
// slices.
struct PacketUse {
  uint64_t whole, sliced;
  uint32_t hops;
};

// A requested algorithm is used if the message fits.
Result<PeerRoute> choose(const PeerGroup &group, const PeerTuning &tuning, uint64_t bytes,
                         uint64_t sliceBytes, const PacketUse &use) {
  const bool wholeFits = bytes <= group.layout.packetBytes;
  const bool slicedFits = sliceBytes * use.hops <= group.layout.packetBytes;
  const Status doesNotFit = Status::invalid("a message of " + std::to_string(bytes) +
                                            " bytes is too large for this algorithm");
  switch (tuning.algorithm) {
  case PeerAlgorithm::OneShot:
    return wholeFits ? Result(PeerRoute::WholePackets) : doesNotFit;
  case PeerAlgorithm::TwoShot:
    return slicedFits ? Result(PeerRoute::SlicedPackets) : doesNotFit;
  case PeerAlgorithm::Pipe:
    return PeerRoute::Rings;
  case PeerAlgorithm::Auto:
    break;
  }
  if (wholeFits && bytes <= use.whole)
    return PeerRoute::WholePackets;
  return slicedFits && bytes <= use.sliced ? PeerRoute::SlicedPackets : PeerRoute::Rings;
}

} // namespace

Result<PeerRoute> chooseRoute(const PeerGroup &group, const PeerTuning &tuning, uint64_t bytes,
                              uint64_t sliceBytes, bool rooted) {
  const PacketLimits limits = packetLimits(group.size);
  return choose(group, tuning, bytes, sliceBytes,
                {rooted ? limits.rooted : limits.whole, limits.sliced, 2});
}

Result<PeerRoute> chooseExchangeRoute(const PeerGroup &group, const PeerTuning &tuning,
                                      uint64_t bytes) {
  return choose(group, tuning, bytes, bytes, {packetLimits(group.size).exchange, 0, 1});
}

void setGrid(const PeerGroup &group, const PeerTuning &tuning, PeerRoute route, uint64_t vectors,
             const RingShape &shape, PeerPlan &plan) {
  if (route == PeerRoute::Rings)
    setRingGrid(group, tuning, vectors, shape, plan);
  else
    setPacketGrid(group, tuning, vectors, plan);
}

} // namespace coll::kernels
