// low_latency.h - the low-latency token exchange of a mixture of experts: launchers.
//
// For few tokens, when the time of a round is that of its steps: nothing is counted beforehand, and
// no member waits before it sends. A token is sent to each of its experts separately, into a grid
// that has room for the worst case, and comes back from each separately. A round is two calls,
// *dispatch* and *combine*, of two phases each: *send*, which waits for no data, and *receive*. The
// phases are one launch or two; between two launches nothing of the exchange runs on this GPU.
//
// **Two buffers.** Every call uses one of a member's two buffers, and calls use them in turns. A
// buffer is lowLatencyArea(shape).bytes of GPU memory, aligned to 512, which every other member
// maps; its first `rows` bytes are zero at the start. Nothing in it is ever cleaned: a word that
// announces an arrival contains the number of the call, counted by the GPUs, so graphs may be
// replayed. **Order between members.** A send waits only until all members have received the
// buffer's previous content, from two calls ago. Members may be in different phases, and may make
// one launch or two independently. **Order of rows.** Received rows are sorted by expert, then by
// source, then by their place there. **Several nodes.** Ranks of other nodes are reached through
// pinned memory (low_latency_far.h): they are sources and targets like the others, but not members.
// **Bounds.** Indices that are out of range, or twice in a token, count as -1 and are reported;
// data from a peer or a handle is checked before it is used as an address.
//
// The rules of peer/group.h hold for deadlines and errors, and those of moe.h for launchers. If a
// launch has both phases, all blocks of the call are on the GPU at once.

#ifndef COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_H
#define COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_H

#include "runtime/kernels/moe/low_latency_far.h"
#include "runtime/kernels/moe/moe.h"

#include <cstdint>

namespace coll::kernels {

// Values that share a scale in fp8, or a range in the log format.
inline constexpr uint32_t kLowLatencyGroup = 128;
inline constexpr uint32_t kLowLatencyTokens = 1024;     // of a member, at most
inline constexpr uint32_t kLowLatencyExperts = 1 << 15; // of all, at most: kernels keep them as i16

// The same on all members, in all calls.
struct LowLatencyShape {
  uint32_t maxTokens = 0; // of a member
  uint32_t hidden = 0;    // values of a row; a multiple of 128
  uint32_t numTopk = 0;   // experts of a token, at most
  uint32_t numExperts = 0;
};
rt::Status checkLowLatencyShape(const LowLatencyShape &shape, uint32_t numRanks);

// Offsets in a buffer. Words are u64: the call's number, then a value. To clear a buffer between
// calls, for another shape, keep its state, which continues to count.
inline constexpr uint64_t kLowLatencyStateBytes = 512;
struct LowLatencyArea {
  uint64_t state;    // low_latency::State
  uint64_t counts;   // [local expert][source]: rows that will arrive
  uint64_t arrivals; // [local expert][source][maxTokens]: a row has arrived, and its origin
  uint64_t returns;  // [maxTokens][numTopk]: an expert's row has arrived
  uint64_t rows;     // [local expert][source][maxTokens][hidden] bf16, or fp8 and scales
  uint64_t back;     // [maxTokens][numTopk][hidden] bf16, or in the log format
  uint64_t bytes;    // in all
};
LowLatencyArea lowLatencyArea(const LowLatencyShape &shape);

enum LowLatencyPhase : uint32_t { kLowLatencySend = 1, kLowLatencyReceive = 2 };

// The arguments of both calls.
struct LowLatencyCall {
  LowLatencyShape shape;
  uint32_t phases = kLowLatencySend | kLowLatencyReceive;
  char *buffers[kMaxPeers] = {}; // of every member, as addresses of this GPU
  LowLatencyFar far;
  // This member's tokens.
  const int64_t *topkIdx = nullptr; // [numTokens][numTopk]
  uint32_t numTokens = 0;
  uint32_t numTopk = 1;
  MoeGrid grid;
};

// The result of a dispatch, in this member's memory. `rows`: number of ranks times maxTokens.
struct LowLatencyRows {
  void *x = nullptr;          // [local expert][rows][hidden]
  float *scales = nullptr;    // [local expert][rows][hidden / 128], of fp8
  int32_t *counts = nullptr;  // [local expert]: rows that arrived
  uint64_t *ranges = nullptr; // [local expert][source]: first row << 32 | their number
  uint32_t *sources =
      nullptr; // [local expert][rows]: place among the token's experts << 16 | token
};

struct LowLatencyDispatchArgs {
  LowLatencyCall call;
  const void *x = nullptr;   // [numTokens][hidden] bf16, aligned to 16
  bool fp8 = false;          // rows are sent as e4m3fn, with a scale for each 128 values
  LowLatencyRows out;        // of the receiving phase
  int32_t *stats = nullptr;  // [local expert]: incremented by the rows that arrived; or null
  uint64_t *error = nullptr; // as MoeLayoutArgs::error; of the sending phase
};
rt::Status launchLowLatencyDispatch(const PeerGroup &group, const LowLatencyDispatchArgs &args,
                                    void *stream);

struct LowLatencyCombineArgs {
  LowLatencyCall call;     // topkIdx as in the dispatch
  const void *x = nullptr; // [local expert][rows][hidden] bf16, as the dispatch had its rows
  LowLatencyRows from;     // of the dispatch: ranges and sources
  bool log = false;        // rows are sent in the log format (low_latency_format_device.cuh)
  const float *topkWeights = nullptr; // [numTokens][numTopk]
  void *out = nullptr;                // [numTokens][hidden] bf16
};
rt::Status launchLowLatencyCombine(const PeerGroup &group, const LowLatencyCombineArgs &args,
                                   void *stream);

// See rehearseMoeKernels.
rt::Status rehearseLowLatencyKernels(const PeerGroup &group, void *stream);

rt::Status checkLowLatencyDispatch(const PeerGroup &group, const LowLatencyDispatchArgs &args);
rt::Status checkLowLatencyCombine(const PeerGroup &group, const LowLatencyCombineArgs &args);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_H
