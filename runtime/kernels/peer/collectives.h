// collectives.h - the collectives of a peer group: launchers of the kernels.
//
// group.h says which members take part, in which order, and how a call ends. Each launcher
// validates, puts at most one kernel on `stream` (a CUstream of the current context), neither
// blocks nor allocates, and may be captured. A call that moves no bytes launches nothing. Any
// thread may call it, one at a time for a group.
//
// kCollInvalidCall: arguments; kCollUnsupported: no CUDA, or a GPU that is too old; kCollDevice:
// the launch failed. Later failures are in PeerControl::error.

#ifndef COLL_RUNTIME_KERNELS_PEER_COLLECTIVES_H
#define COLL_RUNTIME_KERNELS_PEER_COLLECTIVES_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"
#include "runtime/kernels/peer/group.h"

#include <cstdint>

namespace coll::kernels {

enum class PeerAlgorithm : uint8_t {
  Auto,    // by size: tuning.h
  OneShot, // packets to all peers; every member reduces everything
  TwoShot, // packets; each member reduces a slice and sends it to the others
  Pipe     // rings of slots with flags, or directly into peers' buffers; any size
};

// 0: the value in tuning.h. All members of a call use the same.
struct PeerTuning {
  PeerAlgorithm algorithm = PeerAlgorithm::Auto;
  uint32_t blocks = 0;
  uint32_t threads = 0; // of a block; a multiple of 32
};

// Counts are in elements. Buffers may be null if they have no elements, and may have any alignment.
// src may be dst, or the place in dst (in src) of this member's own block.
struct ReduceArgs {
  const void *src = nullptr;
  void *dst = nullptr;
  uint64_t outer = 1; // reduce_scatter: src is [outer][size][count], dst [outer][count]
  uint64_t count = 0;
  CollDtype dtype = kCollF32;
  CollReduction reduction = kCollSum;
  uint32_t root = 0;             // reduce: only its dst is written
  void *peerDst[kMaxPeers] = {}; // all_reduce: every member's dst as an address of this GPU, if
                                 // all members know them; else all null. [rank] is dst
  uint64_t dstPlace = 0;         // with peerDst: identifies that place; the same on all members
  PeerTuning tuning = {};
};

// Writes the result to every member's dst.
rt::Status launchAllReduce(const PeerGroup &group, const ReduceArgs &args, void *stream);
// Writes block `rank` of the result.
rt::Status launchReduceScatter(const PeerGroup &group, const ReduceArgs &args, void *stream);
rt::Status launchReduce(const PeerGroup &group, const ReduceArgs &args, void *stream);

// A block is rows * rowBytes bytes. The side that has one block is [rows][rowBytes]; the side
// that has a block per member is [rows][size][rowBytes].
struct CopyArgs {
  const void *src = nullptr;
  void *dst = nullptr;
  // all_to_all: may differ between src and dst; the same bytes in the same order
  uint64_t srcRows = 1;
  uint64_t srcRowBytes = 0;
  uint64_t dstRows = 1;
  uint64_t dstRowBytes = 0;
  uint32_t root = 0;
  void *peerDst[kMaxPeers] = {}; // as in ReduceArgs; not for permute
  uint64_t dstPlace = 0;
  PeerTuning tuning = {};
};

rt::Status launchAllGather(const PeerGroup &group, const CopyArgs &args, void *stream);
// Sends block j of src to member j; block i of dst comes from member i.
rt::Status launchAllToAll(const PeerGroup &group, const CopyArgs &args, void *stream);
// Copies the root's src to every member's dst.
rt::Status launchBroadcast(const PeerGroup &group, const CopyArgs &args, void *stream);
// The root's dst has a block per member; the others' is not used.
rt::Status launchGather(const PeerGroup &group, const CopyArgs &args, void *stream);
// The root's src has a block per member; the others' is not used.
rt::Status launchScatter(const PeerGroup &group, const CopyArgs &args, void *stream);

// `pairs` has numPairs x {source, target} positions, no source and no target twice; the same on all
// members. A member that is not a target gets zeros. For send and receive between two GPUs, use a
// permute of a group of those two, so that the others need not take part.
rt::Status launchPermute(const PeerGroup &group, const CopyArgs &args, const int32_t *pairs,
                         uint32_t numPairs, void *stream);

// Ends when all members have entered it.
rt::Status launchPeerBarrier(const PeerGroup &group, void *stream);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_COLLECTIVES_H
