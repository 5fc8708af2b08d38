// moe.h - the token exchange of a mixture of experts between the GPUs of a peer group: launchers.
//
// runtime/exchange/moe/moe.h specifies the targets of tokens, and the order in which they arrive. A
// round is four launches on each member: *layout* counts (this GPU alone), *notify* exchanges the
// members' counts and finds every token's place, *dispatch* stores rows directly into those places
// in the peers' buffers, *combine* reads rows back out of the peers' buffers and adds them up.
//
// **Buffers.** Besides its workspace a member has a receive buffer, moeArea(shape).bytes of GPU
// memory aligned to 512, which every other member maps; dispatch fills it. Combine reads the peers'
// rows out of memory of the same kind: the receive buffer itself, or another one.
//
// **Order between members.** A call accesses a member's memory only after that member has entered
// the same call, and before the call ends there. So earlier work of its stream is done, and later
// work may reuse the memory.
//
// **Bounds.** Places are checked against the shape's capacity before a row is stored or read, so a
// wrong handle touches nothing outside the buffers. If there are more tokens for a member than its
// buffer holds, the group ends with KernelError::MoeCapacity on all members, before a row moves.
//
// The rules of peer/group.h hold: order of calls, deadlines, errors. Launchers validate, do not
// block, do not allocate, and may be captured. kCollInvalidCall: arguments; kCollUnsupported: no
// CUDA in this build, or no code for this GPU; kCollDevice: CUDA failed.

#ifndef COLL_RUNTIME_KERNELS_MOE_MOE_H
#define COLL_RUNTIME_KERNELS_MOE_MOE_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"
#include "runtime/kernels/peer/group.h"

#include <cstdint>

namespace coll::kernels {

inline constexpr uint32_t kMoeTopk = 32; // indices of a token, at most

// Launch sizes of a kernel; 0: the value in tuning.h.
struct MoeGrid {
  uint32_t blocks = 0;
  uint32_t threads = 0; // of a block; a multiple of 32
};

// --- layout: this GPU alone

struct MoeLayoutArgs {
  const int64_t *topkIdx = nullptr; // [numTokens][numTopk]
  uint32_t numTokens = 0;
  uint32_t numTopk = 1;
  uint32_t numExperts = 1;
  uint32_t numRanks = 1;
  int32_t *tokensPerRank = nullptr;   // [numRanks]
  int32_t *tokensPerExpert = nullptr; // [numExperts]
  uint8_t *isTokenInRank = nullptr;   // [numTokens][rankStride]
  int32_t *tokensOfAny = nullptr;     // [1]: tokens for any of these ranks; or null
  // Set if these ranks are some of more ranks: the number of their first expert, the experts of all
  // ranks, and the number of all ranks. 0: these are all ranks.
  uint32_t firstExpert = 0;
  uint32_t allExperts = 0;
  uint32_t rankStride = 0;
  // Receives KernelError::MoeIndex, with token and place, if an index is out of range (then it
  // counts as -1) or twice in a token (then both count). Not null: pinned, or GPU memory.
  uint64_t *error = nullptr;
  uint32_t threads = 0;
};
rt::Status launchMoeLayout(const MoeLayoutArgs &args, void *stream);

// --- notify

// The counts that the kernel reports: to the host, in pinned memory that the GPU maps, or to later
// kernels, in GPU memory. A host that waits for them sets all to -1 before the launch; the kernel
// stores the experts' counts, then the total.
struct MoeCounters {
  static constexpr uint32_t kMaxExperts = 1024; // of one rank
  int32_t received;
  int32_t unused[15];
  int32_t perExpert[kMaxExperts]; // of this rank's experts, aligned
};

struct MoeNotifyArgs {
  const int32_t *tokensPerRank = nullptr;   // of the layout
  const int32_t *tokensPerExpert = nullptr; // of the layout
  const uint8_t *isTokenInRank = nullptr;   // of the layout
  uint32_t numTokens = 0;
  uint32_t numExperts = 1;          // all members: the same
  uint32_t numChannels = 1;         // of this member's channelPrefix
  uint32_t expertAlignment = 1;     // counts of experts are rounded up to a multiple
  uint32_t capacity = 0;            // tokens that a member can receive; all members: the same
  int32_t *rankPrefix = nullptr;    // [source][target]
  int32_t *channelPrefix = nullptr; // [target][channel]
  int32_t *sendHead = nullptr;      // [numTokens][numRanks]
  MoeCounters *counters = nullptr;  // or null
  uint32_t threads = 0;
};
rt::Status launchMoeNotify(const PeerGroup &group, const MoeNotifyArgs &args, void *stream);

// --- dispatch

// The layout of rows and of the buffers that receive them; the same on all members.
struct MoeShape {
  uint32_t rowBytes = 0;   // of a token; a multiple of 16
  uint32_t numScales = 0;  // floats that go with a row
  uint32_t numTopk = 0;    // indices and weights that go with a row
  uint32_t numExperts = 0; // of all members; needed only if there are indices
  uint32_t capacity = 0;   // rows of a buffer
};
// Offsets in a receive buffer.
struct MoeArea {
  uint64_t rows;        // [capacity][rowBytes]
  uint64_t scales;      // [capacity][numScales] f32
  uint64_t topkIdx;     // [capacity][numTopk] i64: number among the receiver's experts, or -1
  uint64_t topkWeights; // [capacity][numTopk] f32: 0 where the index is -1
  uint64_t sourceIdx;   // [capacity] i32: the token's number at its source
  uint64_t bytes;       // in all
};
MoeArea moeArea(const MoeShape &shape);
// The most rows for which moeArea() is at most `bytes`; `shape` without its capacity.
uint32_t moeCapacity(MoeShape shape, uint64_t bytes);

struct MoeDispatchArgs {
  MoeShape shape;
  char *buffers[kMaxPeers] = {}; // receive buffers, as addresses of this GPU
  uint32_t numTokens = 0;
  const void *x = nullptr;             // [numTokens][rowBytes], aligned to 16
  const int64_t *topkIdx = nullptr;    // [numTokens][numTopk]; null on all members: none are sent
  const float *topkWeights = nullptr;  // [numTokens][numTopk], or null: weights are 0
  const float *scales = nullptr;       // numScales a token
  int64_t scaleTokenStride = 0;        // in elements
  int64_t scaleStride = 0;             // in elements
  int64_t firstExpert = 0;             // number of the members' first expert in topkIdx
  const int32_t *sourceIdx = nullptr;  // [numTokens]: their numbers; null: their places here
  const int32_t *rankPrefix = nullptr; // of a notify; all members use the same notify
  const int32_t *sendHead = nullptr;   // of that notify
  MoeGrid grid;                        // blocks: the same on all members
};
rt::Status launchMoeDispatch(const PeerGroup &group, const MoeDispatchArgs &args, void *stream);

// --- combine

struct MoeCombineArgs {
  CollDtype dtype = kCollBf16; // of rows and sums: bf16, f16 or f32
  uint32_t rowBytes = 0;       // a multiple of 16
  uint32_t numTopk = 0;        // weights that come back with a row; 0: none
  uint32_t capacity = 0;       // rows that are in each member's memory
  uint32_t variant = 0; // identifies the place of rows; all members have to agree on the number
  // Of every member, as addresses of this GPU.
  const char *rows[kMaxPeers] = {};         // [capacity][rowBytes], aligned to 16
  const float *topkWeights[kMaxPeers] = {}; // [capacity][numTopk]
  uint32_t numTokens = 0;
  const int32_t *rankPrefix = nullptr; // of the dispatch
  const int32_t *sendHead = nullptr;   // of the dispatch
  const void *bias[2] = {};            // [numTokens][rowBytes], or null
  void *out = nullptr;                 // [numTokens][rowBytes]
  float *outWeights = nullptr;         // [numTokens][numTopk]
  MoeGrid grid;                        // blocks: the same on all members
};
rt::Status launchMoeCombine(const PeerGroup &group, const MoeCombineArgs &args, void *stream);

// Launches each kernel once without effect, because a first launch may wait until the GPU is idle.
// After initPeerWorkspace, before any member's first call.
rt::Status rehearseMoeKernels(const PeerGroup &group, void *stream);

// Whether the arguments are valid.
rt::Status checkMoeLayout(const MoeLayoutArgs &args);
rt::Status checkMoeNotify(const PeerGroup &group, const MoeNotifyArgs &args);
rt::Status checkMoeDispatch(const PeerGroup &group, const MoeDispatchArgs &args);
rt::Status checkMoeCombine(const PeerGroup &group, const MoeCombineArgs &args);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_MOE_MOE_H
