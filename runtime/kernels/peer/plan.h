// plan.h - the work of each member in a collective, for kernels and emulation.
//
// A launcher converts its arguments into a Plan (planAllReduce, …) on the host. The kernels know
// only three kinds of work:
//
//   slices     *Contributors* send slice j of their message to its *owner*; the owner combines
//              the slices in rank order and sends the result to the *keepers*. all_reduce,
//              reduce_scatter, reduce and a small broadcast are slices, with one, some or all
//              members in each role. A slice may be the whole message: then every owner combines
//              all of it.
//   exchange   Messages go from member to member unchanged. all_gather, all_to_all, gather,
//              scatter and permute.
//   relay      One message goes through all members, one after the other. A large broadcast.

#ifndef COLL_RUNTIME_KERNELS_PEER_PLAN_H
#define COLL_RUNTIME_KERNELS_PEER_PLAN_H

#include "runtime/kernels/peer/collectives.h"

#include <cstdint>

namespace coll::kernels {

// Blocks in memory: block j is rows of rowBytes, `pitch` apart, the first at base + j * stride.
struct PeerPlace {
  char *base = nullptr;
  uint64_t stride = 0;
  uint64_t rowBytes = 0; // 0: one row of any length
  uint64_t pitch = 0;
  uint32_t width = 16; // bytes of the widest access that is aligned everywhere: 16, 8, 4, 2 or 1
};

// Sets of members are bit masks.
struct SlicePlan {
  PeerPlace src;       // block j: slice j
  PeerPlace dst;       // block j: slice j
  bool plain;          // both are aligned to 16 everywhere, without rows, and complete vectors long
  uint64_t sliceBytes; // of each, except for the last ones, which end with the message
  uint64_t bytes;      // of the message
  bool whole;          // every owner has the complete message: sliceBytes == bytes
  uint32_t contributors;
  uint32_t owners;
  uint32_t keepers;    // members whose dst receives slices of other owners
  uint32_t ownKeepers; // owners that store their own slice
  bool copyOwn;        // this member copies src to dst by itself (a root that keeps its message)
  uint32_t dtype;
  uint32_t reduction;
  uint32_t divisor;           // of avg; else 0
  char *directDst[kMaxPeers]; // keepers' dst, if owners write there directly
  bool direct;
};

struct ExchangePlan {
  PeerPlace src;    // block j: for member j. In a relay: the root's message
  PeerPlace dst;    // block i: from member i. In a relay: the message
  bool plain;       // as in SlicePlan
  uint64_t bytes;   // of each message
  uint32_t targets; // of this member's messages; may include itself. In a relay: the next member
  uint32_t sources; // in a relay: the previous member
  bool zero;        // this member's dst, one block, gets zeros
  char *directDst[kMaxPeers]; // the targets' dst, if this member writes there directly
  bool direct;
};

struct PeerPlan {
  enum class Kind : uint8_t { Nothing, Slices, Exchange, Relay, Barrier } kind = Kind::Nothing;
  bool packets = false; // false: rings
  uint32_t what = 0;    // the same for all members that make the same call
  uint32_t blocks = 1;
  uint32_t threads = 32;
  bool early = false;      // the next kernel may start on the GPU before this one ends
  uint32_t teams = 0;      // rings: of blocks with a role each
  uint64_t pieceBytes = 0; // rings: bytes that a team pushes between two flags; a multiple of 16
  SlicePlan slices = {};
  ExchangePlan exchange = {};
};

// Converts valid arguments; kCollInvalidCall for others. Any thread may call it.
rt::Result<PeerPlan> planAllReduce(const PeerGroup &group, const ReduceArgs &args);
rt::Result<PeerPlan> planReduceScatter(const PeerGroup &group, const ReduceArgs &args);
rt::Result<PeerPlan> planReduce(const PeerGroup &group, const ReduceArgs &args);
rt::Result<PeerPlan> planAllGather(const PeerGroup &group, const CopyArgs &args);
rt::Result<PeerPlan> planAllToAll(const PeerGroup &group, const CopyArgs &args);
rt::Result<PeerPlan> planBroadcast(const PeerGroup &group, const CopyArgs &args);
rt::Result<PeerPlan> planGather(const PeerGroup &group, const CopyArgs &args);
rt::Result<PeerPlan> planScatter(const PeerGroup &group, const CopyArgs &args);
rt::Result<PeerPlan> planPermute(const PeerGroup &group, const CopyArgs &args, const int32_t *pairs,
                                 uint32_t numPairs);
rt::Result<PeerPlan> planPeerBarrier(const PeerGroup &group);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_PLAN_H
