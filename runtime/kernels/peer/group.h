// group.h - the GPUs of one node that reach each other's memory, as the kernels see them.
//
// The members of a group, up to 8 GPUs, have a *workspace* each: GPU memory of
// workspaceLayout(size).bytes, aligned to 512, zero where the host starts, mapped by every
// other member (peer access in one process; CUDA IPC or VMM handles between processes). The
// kernels move data through the workspaces; users' buffers are read and written by their own
// GPU only, unless a call names its peers' buffers (peerDst).
//
// **Contract.**
//   - All members make the same calls of a group in the same order, each on one stream at a
//     time: a call begins when the last one has ended on this GPU. Members may arrive at any
//     time: a call waits for the others. No member leaves a call before all have entered it.
//   - The host numbers nothing: counters live in the workspace, so a captured graph may be
//     replayed, as long as all members replay it.
//   - Every wait in a kernel ends by `timeoutNs` of the GPU's clock, by PeerControl::abort, or
//     by a peer that failed. The first failure goes to PeerControl::error (error_word.h; the
//     detail is the peer's position) and the group is dead: calls in flight end at once, later
//     ones do nothing, until the workspaces of *all* members have been initialised again.
//   - Calls that differ between members (kind, type, count, root, algorithm) end in
//     KernelError::PeerMismatch on all.
//   - Reductions combine in rank order, whatever the size: results are those of
//     base/reduce.h and do not change from run to run or between algorithms.
//   - A payload may hold any bits.
//
// The calls: collectives.h. A kernel of one's own on a group: device.cuh.

#ifndef COLL_RUNTIME_KERNELS_PEER_GROUP_H
#define COLL_RUNTIME_KERNELS_PEER_GROUP_H

#include "runtime/base/status.h"

#include <cstdint>

namespace coll::kernels {

inline constexpr uint32_t kMaxPeers = 8;

// Of any kernel on a group: the epoch is kept per block.
inline constexpr uint32_t kPeerMaxBlocks = 512;
// Numbers of rings between two members.
inline constexpr uint32_t kRingBlocks = 152;

// What host and kernels of one member say to each other: pinned memory, mapped for the GPU.
// The host zeroes it before the workspace is initialised.
struct alignas(64) PeerControl {
  uint64_t error; // the kernels': 0, or an error word
  uint32_t abort; // the host's: not 0 ends every wait of this member, and its peers' in turn
  uint32_t unused;
};

// Offsets in a workspace, and sizes, in bytes. The same for all members.
struct WorkspaceLayout {
  uint64_t state;       // PeerState (state.h): counters, tokens of entry, flags
  uint64_t packets;     // [parity 2][source][packetBytes]: 16-byte packets; the data is the flag
  uint64_t packetBytes; // for one source; a multiple of 512
  uint64_t escapes;     // [parity 2][source][packetBytes / 16] words: see packet_device.cuh
  uint64_t rings;       // [lane 2][block ringBlocks][source][slot][slotBytes]
  uint64_t slotBytes;
  uint32_t slots;      // of a ring
  uint32_t ringBlocks; // of a kernel that uses the rings, at most
  uint64_t bytes;      // in all
};

// What a workspace is laid out for. Less memory than by default serves groups that move less, or
// less often; the same for all members.
struct WorkspaceSizes {
  uint64_t packetArea; // bytes of packets from all sources, in one parity
  uint32_t ringBlocks; // 1 to kRingBlocks
  uint64_t ringBytes;  // of the rings from all sources of one block and lane; 512 * slots * size
                       // at least
  uint32_t slots;      // of a ring, 2 at least
};
WorkspaceSizes defaultWorkspaceSizes();

// 1 <= size <= kMaxPeers. By default about 190 MiB: 40 for packets, the rest for rings.
WorkspaceLayout workspaceLayout(uint32_t size,
                                const WorkspaceSizes &sizes = defaultWorkspaceSizes());

// Blocks of a member's kernel that are sure to run at once, where `sharers` members have the GPU
// together, this one included. Kernels of a group wait for each other, so each has to have all its
// blocks on the GPU. Three fill a multiprocessor that is free; where kernels share it, blocks lie
// as they came, and two of any kind are what every multiprocessor takes.
constexpr uint32_t residentBlocks(uint32_t multiprocessors, uint32_t sharers) {
  return sharers <= 1 ? 3 * multiprocessors : 2 * multiprocessors / sharers;
}

// One member's view. The host fills it; kernels take it by value.
struct PeerGroup {
  uint32_t rank = 0; // position in the group
  uint32_t size = 1;
  char *workspace[kMaxPeers] = {}; // of every member, as addresses that this GPU uses
  PeerControl *control = nullptr;  // this member's, as an address that this GPU uses
  uint64_t timeoutNs = 0;          // longest wait of a kernel
  uint32_t maxBlocks = 0;      // residentBlocks(…); 0: those of an H100. The same for all members
  WorkspaceLayout layout = {}; // workspaceLayout(size, …)
};

// A group that launchers take: sizes in range, no null, aligned, with a consistent layout.
rt::Status checkPeerGroup(const PeerGroup &group);

// Puts this member's workspace in its first state. All members have to have finished it, and
// the host to have waited for that, before any member's first call.
rt::Status initPeerWorkspace(const PeerGroup &group, void *stream);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_GROUP_H
