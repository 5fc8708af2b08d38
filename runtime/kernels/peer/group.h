// group.h - the GPUs of one node that access each other's memory, as the kernels see them.
//
// The members of a group, up to 8 GPUs, have a *workspace* each: GPU memory of
// workspaceLayout(size).bytes, aligned to 512, zero at the start, and mapped by every other member
// (peer access in one process; CUDA IPC or VMM handles between processes). The kernels move data
// through the workspaces. Users' buffers are only accessed by their own GPU, unless a call names
// its peers' buffers (peerDst).
//
// **Contract.**
//   - All members make the same calls of a group in the same order, each on one stream at a
//     time: a call begins when the previous one has ended on this GPU. Members may arrive at any
//     time: a call waits for the others. No member leaves a call before all have entered it.
//   - The host counts nothing: counters are in the workspace, so a captured graph may be
//     replayed, as long as all members replay it.
//   - A wait in a kernel ends after `timeoutNs` of the GPU's clock, when PeerControl::abort is set,
//     or when a peer fails. The first failure is stored in PeerControl::error (error_word.h; the
//     detail is the peer's position) and the group has failed: calls in flight end at once, later
//     ones do nothing, until the workspaces of *all* members have been initialised again.
//   - Calls that differ between members (kind, type, count, root, algorithm) end in
//     KernelError::PeerMismatch on all members.
//   - Reductions combine in rank order for any size: results are those of
//     base/reduce.h and do not change from run to run or between algorithms.
//   - A payload may contain any bits.
//
// The calls are in collectives.h. device.cuh helps to write another kernel on a group.

#ifndef COLL_RUNTIME_KERNELS_PEER_GROUP_H
#define COLL_RUNTIME_KERNELS_PEER_GROUP_H

#include "runtime/base/status.h"

#include <cstdint>

namespace coll::kernels {

inline constexpr uint32_t kMaxPeers = 8;

// Limit for any kernel on a group, because the epoch is kept per block.
inline constexpr uint32_t kPeerMaxBlocks = 512;
// Number of rings between two members.
inline constexpr uint32_t kRingBlocks = 152;

// Shared by host and kernels of one member: pinned memory, mapped for the GPU. The host zeroes it
// before the workspace is initialised.
struct alignas(64) PeerControl {
  uint64_t error; // written by kernels: 0, or an error word
  uint32_t abort; // written by the host: not 0 ends all waits of this member, then its peers'
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

// Sizes of a workspace. Less memory than by default serves groups that move less, or less often;
// the same for all members.
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

// Blocks of a member's kernel that are sure to run at the same time if `sharers` members share the
// GPU, including this one. Kernels of a group wait for each other, so all blocks of each have to be
// resident. A free multiprocessor takes three; if kernels share it, blocks are placed in the order
// of arrival, and every multiprocessor takes two of any kind.
constexpr uint32_t residentBlocks(uint32_t multiprocessors, uint32_t sharers) {
  return sharers <= 1 ? 3 * multiprocessors : 2 * multiprocessors / sharers;
}

// One member's view. The host fills it; kernels receive it by value.
struct PeerGroup {
  uint32_t rank = 0; // position in the group
  uint32_t size = 1;
  char *workspace[kMaxPeers] = {}; // of every member, as addresses that this GPU uses
  PeerControl *control = nullptr;  // this member's, as an address that this GPU uses
  uint64_t timeoutNs = 0;          // longest wait of a kernel
  uint32_t maxBlocks = 0;      // residentBlocks(…); 0: those of an H100. The same for all members
  WorkspaceLayout layout = {}; // workspaceLayout(size, …)
};

// Ok if launchers accept the group: sizes in range, no null, aligned, with a consistent layout.
rt::Status checkPeerGroup(const PeerGroup &group);

// Initialises this member's workspace. Before any member's first call, all members must have
// finished it, and the host must have waited for that.
rt::Status initPeerWorkspace(const PeerGroup &group, void *stream);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_GROUP_H
