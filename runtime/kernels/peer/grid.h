// grid.h - by which algorithm a call goes, and in how many blocks and threads.
//
// What no tuning asks for follows from the message, the group and tuning.h, so that all
// members of a call choose alike. Any thread.

#ifndef COLL_RUNTIME_KERNELS_PEER_GRID_H
#define COLL_RUNTIME_KERNELS_PEER_GRID_H

#include "runtime/kernels/peer/plan.h"

#include <cstdint>

namespace coll::kernels {

enum class PeerRoute : uint8_t { WholePackets, SlicedPackets, Rings };

// For slices of a message; `rooted`: one member alone combines. kCollInvalidCall where an algorithm
// was asked for that the message is too large for.
rt::Result<PeerRoute> chooseRoute(const PeerGroup &group, const PeerTuning &tuning, uint64_t bytes,
                                  uint64_t sliceBytes, bool rooted);
// For messages from member to member, each of so many bytes: whole packets or rings.
rt::Result<PeerRoute> chooseExchangeRoute(const PeerGroup &group, const PeerTuning &tuning,
                                          uint64_t bytes);

// What is particular to a kernel that uses rings.
struct RingShape {
  uint32_t roles = 1;  // blocks of a team
  uint32_t lanes = 1;  // how many of a number's lanes teams share out among them
  uint32_t stages = 1; // links that a piece goes over, one after the other
};

// Sets the plan's blocks, threads, teams and pieces for so many vectors. `shape`: of rings.
void setGrid(const PeerGroup &group, const PeerTuning &tuning, PeerRoute route, uint64_t vectors,
             const RingShape &shape, PeerPlan &plan);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_GRID_H
