// state.h - counters and flags at the start of a member's workspace. Zero at first.

#ifndef COLL_RUNTIME_KERNELS_PEER_STATE_H
#define COLL_RUNTIME_KERNELS_PEER_STATE_H

#include "runtime/kernels/peer/group.h"

#include <cstdint>

namespace coll::kernels {

// The hops of a call have separate rings, so that each ring is consumed in the order in which it is
// filled.
inline constexpr uint32_t kRingLanes = 2;

// A ring between two members' blocks of one number, counted in slots since the workspace was
// initialised. Counts wrap.
struct RingCounts {
  uint32_t arrived;  // in this member's ring: stored by the source, released after the data
  uint32_t credited; // slots that this member pushed: stored by the target when a slot is free
  uint32_t pushed;   // by this member to that peer; only its own kernels use it
  uint32_t taken;    // from this member's ring; only its own kernels use it
};

struct alignas(128) PeerState {
  // Calls so far. Block b reads epoch[b] and raises epoch[i] for all i = b modulo the grid, so
  // grids may differ from call to call, and no block waits for another.
  uint32_t epoch[kPeerMaxBlocks];
  // Not 0: the group has failed; see whoFailed().
  uint32_t failed;
  uint32_t unused;
  // When this member last asked its host whether to give up, by the GPU's clock.
  uint64_t asked;
  uint64_t padding[14];
  // Stored by member i when it enters a call: epoch << 32 | hash of the call. By parity of the
  // epoch, because no member is two calls ahead.
  uint64_t entered[2][kMaxPeers];
  RingCounts rings[kRingLanes][kRingBlocks][kMaxPeers];
};

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_STATE_H
