// grid.h - chooses the algorithm, the blocks and the threads of a call.
//
// Without a tuning they are derived from the message, the group and tuning.h, so that all members
// of a call make the same choice. Any thread may call it.

#ifndef COLL_RUNTIME_KERNELS_PEER_GRID_H
#define COLL_RUNTIME_KERNELS_PEER_GRID_H

#include "runtime/kernels/peer/plan.h"

#include <cstdint>

namespace coll::kernels {

enum class PeerRoute : uint8_t { WholePackets, SlicedPackets, Rings };

// For slices of a message; `rooted`: only one member combines. kCollInvalidCall if the message is
// too large for a requested algorithm.
rt::Result<PeerRoute> chooseRoute(const PeerGroup &group, const PeerTuning &tuning, uint64_t bytes,
                                  uint64_t sliceBytes, bool rooted);
// For messages from member to member of this size: packets in one hop, or rings.
rt::Result<PeerRoute> chooseExchangeRoute(const PeerGroup &group, const PeerTuning &tuning,
                                          uint64_t bytes);

// Properties of a kernel that uses rings.
struct RingShape {
  uint32_t roles = 1;  // blocks of a team
  uint32_t lanes = 1;  // the lanes of a ring number that the teams divide among themselves
  uint32_t stages = 1; // links that a piece crosses, one after the other
};

// Sets the plan's blocks, threads, teams and pieces for this many vectors. `shape`: for rings.
void setGrid(const PeerGroup &group, const PeerTuning &tuning, PeerRoute route, uint64_t vectors,
             const RingShape &shape, PeerPlan &plan);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_GRID_H
