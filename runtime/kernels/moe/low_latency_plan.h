// low_latency_plan.h - the kernel arguments that the host derives from a call of low_latency.h, and
// the state that kernels keep. Internal to runtime/kernels.

#ifndef COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_PLAN_H
#define COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_PLAN_H

#include "runtime/kernels/moe/low_latency.h"

#include <cstdint>

namespace coll::kernels::low_latency {

// The bytes reserved for a row: those of bf16, which is the widest type.
constexpr uint64_t rowBytes(uint32_t hidden) { return uint64_t{hidden} * 2; }

// At the start of a buffer. Calls of a buffer are numbered from 1.
struct alignas(128) State {
  uint32_t sent;     // the last call that this member has sent; only its own kernels use it
  uint32_t received; // the last call that it has received; only its own kernels use it
  uint32_t left;     // blocks that have finished the running kernel
  uint32_t written;  // blocks that have written everything that they send
  uint32_t arrived;  // the last call whose messages from other nodes have all arrived
  uint32_t unused[27];
  uint64_t said[kMaxPeers];  // by each member that sends: call << 32 | a hash of the call
  uint32_t taken[kMaxPeers]; // the last call that this member has received, by that member
};

struct Dispatch {
  LowLatencyDispatchArgs args;
  LowLatencyArea area;
  uint32_t what;
};
struct Combine {
  LowLatencyCombineArgs args;
  LowLatencyArea area;
  uint32_t what;
};
// Fills in `call.grid` and `call.far`. `what` differs if members' calls do.
Dispatch planDispatch(const PeerGroup &group, const LowLatencyDispatchArgs &args);
Combine planCombine(const PeerGroup &group, const LowLatencyCombineArgs &args);

// Shared memory of a block: tables, then the experts of all tokens (i16).
struct alignas(128) Scratch {
  char *rows[kMoeTopk];      // the targets, or sources, of a token's rows; or null
  uint64_t *words[kMoeTopk]; // the words that announce them; or null
  float weights[kMoeTopk];
  uint32_t counts[kLowLatencyRanks]; // rows of an expert, by source
  uint32_t begins[kLowLatencyRanks]; // the first of them in the message from, or to, another node
};
uint64_t dispatchSharedBytes(const LowLatencyShape &shape);
uint64_t combineSharedBytes();

} // namespace coll::kernels::low_latency

#endif // COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_PLAN_H
