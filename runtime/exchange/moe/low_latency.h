// low_latency.h - the arguments and results of the low-latency exchange of tokens.
//
// For few tokens. Ranks neither count beforehand nor wait before they send: a token is sent to each
// of its experts separately, into a place reserved for the worst case, and comes back from each
// separately. Rows that arrive are sorted by expert, then by source rank, then by the token's place
// there, so results do not depend on timing.
//
// **Dropped, wrong.** As in moe.h; indices that are out of range or twice in a token
// count as -1 and are reported. **Sums.** combine adds weight times row in f32, in the
// order of a token's experts, each with one rounding, and rounds once more to bf16. A
// token without experts gets zeros. **fp8.** dispatch may convert rows to e4m3fn on the
// way, with an f32 scale for each 128 values; multiplying by it restores them. **Log
// format.** combine may send 10 bits a value: sign, and the logarithm in 510 steps from
// the smallest to the largest magnitude of each 128 values, over at most 32 octaves;
// smaller values become zero. An infinity or a NaN makes its 128 values NaN.
//
// The types are the same for GPU memory (buffer.h) and host memory
// (low_latency_reference.h). None owns memory.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_H
#define COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_H

#include "runtime/exchange/moe/moe.h"

namespace coll::rt {

// The values that all calls of a buffer, on all ranks, have in common.
struct MoeLowLatencyShape {
  int64_t maxTokens = 0; // of a rank, 1 to 1,024
  int64_t hidden = 0;    // a multiple of 128
  int numTopk = 0;       // experts of a token, at most; 1 to kMoeMaxTopk
  int numExperts = 0;    // of all ranks; a multiple of their number

  int64_t numScales() const { return hidden / 128; }
  // The number of rows for which an expert has room.
  int64_t rowsOfExpert(int numRanks) const { return maxTokens * numRanks; }
};
Status checkMoeShape(const MoeLowLatencyShape &shape, int numRanks);

// The result of a dispatch: memory of the caller, which combine reads. With R ranks and L experts
// on each:
struct MoeLowLatencyRows {
  void *x = nullptr;           // [L][R * maxTokens][hidden], bf16 or fp8; aligned to 16
  float *scales = nullptr;     // [L][R * maxTokens][hidden / 128], of fp8
  int32_t *counts = nullptr;   // [L]: rows of x that arrived
  uint64_t *ranges = nullptr;  // [L][R]: a source's first row << 32 | their number
  uint32_t *sources = nullptr; // [L][R * maxTokens]: place among the token's experts << 16 | token
};

struct MoeLowLatencyDispatch {
  MoeRouting routing;              // up to maxTokens
  const void *x = nullptr;         // [numTokens][hidden] bf16, aligned to 16
  CollDtype dtype = kCollBf16;     // of the rows that arrive; or kCollF8E4M3FN
  int32_t *expertTokens = nullptr; // [L]: incremented by the number of rows that arrived; or null
  int numSms = 0;                  // blocks; 0: by default
};
Status checkMoeDispatch(const MoeLowLatencyDispatch &call, const MoeLowLatencyRows &rows,
                        const MoeLowLatencyShape &shape, int numRanks);

struct MoeLowLatencyCombine {
  MoeRouting routing;                 // of the dispatch
  const void *x = nullptr;            // [L][R * maxTokens][hidden] bf16, aligned to 16
  const float *topkWeights = nullptr; // [numTokens][numTopk]
  bool log = false;                   // rows are sent in the log format
  void *out = nullptr;                // [numTokens][hidden] bf16, aligned to 16
  int numSms = 0;
};
Status checkMoeCombine(const MoeLowLatencyCombine &call, const MoeLowLatencyRows &rows,
                       const MoeLowLatencyShape &shape, int numRanks);

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_H
