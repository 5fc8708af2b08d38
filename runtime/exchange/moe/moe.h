// moe.h - the arguments and results of the token exchange of a mixture of experts.
//
// Experts are distributed over ranks in equal, contiguous runs: expert e is at rank e / (numExperts
// / numRanks). *Dispatch* brings each token once to every rank that has one of its experts;
// *combine* brings one row per token back from each of these and adds them up.
//
// **Order.** A rank receives tokens sorted by source rank, then by their place there. **Dropped.**
// A top-k index of -1 is no expert; a token whose indices are all -1 is sent nowhere, and its
// combined row is zero, or the sum of the biases. Indices that are out of range, or twice in a
// token, are errors that name rank, token and index. **Sums.** combine adds in f32 in rank order,
// biases first, and rounds once; a sum of one row is that row. The experts' ranks have already
// weighted the rows; top-k weights are sent both ways beside them.
//
// Arguments and results are the same for GPU memory (buffer.h) and host memory (reference.h:
// functions over all ranks at once, without a buffer's life cycle). No type here owns memory,
// except a handle's way. Counts are in elements unless a name says bytes.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_MOE_H
#define COLL_RUNTIME_EXCHANGE_MOE_MOE_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace coll::kernels {
struct MoeCounters; // kernels/moe/moe.h
} // namespace coll::kernels

namespace coll::rt {

inline constexpr int kMoeMaxTopk = 32;
// Default number of ranks of a node: rank r is number r % 8 of node r / 8.
inline constexpr int kMoeNodeRanks = 8;
// Largest number of ranks of a buffer: each is connected to all others.
inline constexpr int kMoeMaxRanks = 4096;

struct MoeWay; // routes.h

// How a call uses the GPU. The same on all ranks.
struct MoeConfig {
  int numSms = 24; // blocks, one a multiprocessor; even

  // Contiguous runs of tokens that channelPrefix distinguishes.
  int numChannels() const { return numSms / 2; }
};
Status checkMoeConfig(const MoeConfig &config);

// The experts of a rank's tokens.
struct MoeRouting {
  const int64_t *topkIdx = nullptr; // [numTokens][numTopk]
  int64_t numTokens = 0;
  int numTopk = 0;    // 1 to kMoeMaxTopk
  int numExperts = 0; // of all ranks; a multiple of their number
};
Status checkMoeRouting(const MoeRouting &routing, int numRanks);

// The numbers of tokens by destination, in the caller's memory.
struct MoeLayout {
  int32_t *tokensPerRank = nullptr;    // [numRanks]
  int32_t *tokensPerNetRank = nullptr; // [nodes], or null
  int32_t *tokensPerExpert = nullptr;  // [numExperts]
  uint8_t *isTokenInRank = nullptr;    // [numTokens][numRanks], 0 or 1
};
Status checkMoeLayout(const MoeLayout &layout, int64_t numTokens);

// A rank's tokens.
struct MoeTokens {
  const void *x = nullptr; // [numTokens][hidden], contiguous, aligned to 16
  int64_t hidden = 0;
  CollDtype dtype = kCollBf16;        // any; rows of 16 n bytes, which are only moved
  const float *topkWeights = nullptr; // [numTokens][numTopk], or null
  const float *scales = nullptr;      // numScales a token, or null
  int64_t numScales = 0;              // as many on all ranks
  int64_t scaleTokenStride = 0;       // from a token's scale to the next token's
  int64_t scaleStride = 0;            // from a scale to the token's next one
};
// `routing` has passed its check.
Status checkMoeTokens(const MoeTokens &tokens, const MoeRouting &routing);

// The result of counting in a dispatch: combine needs it, and a later dispatch along the same
// routes may use it instead of counting (*cached mode*). Row i of a prefix matrix is the sum over
// ranks, or channels, 0 to i.
struct MoeHandle {
  const int32_t *rankPrefix = nullptr;    // [source][target]: tokens from ranks up to source
  const int32_t *channelPrefix = nullptr; // [target][channel]: of this rank's tokens
  const int32_t *sendHead = nullptr;      // [numTokens][numRanks]: place among this rank's
                                          // tokens for that rank, or -1
  const int32_t *recvSourceIdx = nullptr; // [received]: the token's number at its source
  const uint8_t *isTokenInRank = nullptr; // as in MoeLayout
  int64_t numTokens = 0;                  // of this rank
  int64_t numRecv = -1;                   // tokens received, or -1: only the GPU knows
  std::shared_ptr<const MoeWay> way;      // identifies the buffer; with several nodes, the routes
};

struct MoeDispatchOptions {
  MoeConfig config;
  int expertAlignment = 1;     // counts of experts are rounded up to a multiple
  int64_t worstCaseTokens = 0; // not 0: results are made for this many, and the host does not wait
  // GPU memory of the caller that receives the counts of a dispatch with a worst case on one node;
  // or null.
  kernels::MoeCounters *counters = nullptr;
};
// Checks everything except the config, which has its own check.
Status checkMoeOptions(const MoeDispatchOptions &options);

// The tokens that a rank received.
struct MoeReceived {
  const void *x = nullptr;          // [received][hidden]
  const float *scales = nullptr;    // [received][numScales]
  const int64_t *topkIdx = nullptr; // [received][numTopk]: number among this rank's experts, or -1
  const float *topkWeights = nullptr; // [received][numTopk]: 0 where topkIdx is -1
  // of this rank's experts, aligned; empty if the host did not wait, and in cached mode
  std::vector<int32_t> tokensPerExpert;
  // tokens that arrive at this rank over the network, for ranks of its node; -1 with one node, or
  // with a worst case
  int64_t numRelayed = -1;
  MoeHandle handle;
};

// The rows that a rank gives back, and where the results are written.
struct MoeCombine {
  const void *x = nullptr;            // [handle.numRecv][hidden], aligned to 16
  int64_t numRows = 0;                // of x: handle.numRecv, or the worst case
  int64_t hidden = 0;                 // rows of 16 n bytes
  CollDtype dtype = kCollBf16;        // of rows, biases and sums; on one node also f16 and f32
  const float *topkWeights = nullptr; // [numRows][numTopk], or null
  int numTopk = 0;
  const void *bias[2] = {};    // [handle.numTokens][hidden] each, or null
  void *out = nullptr;         // [handle.numTokens][hidden]
  float *outWeights = nullptr; // [handle.numTokens][numTopk] where topkWeights is not null
};
Status checkMoeCombine(const MoeCombine &combine, const MoeHandle &handle);

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_MOE_H
