// relay.h - the token exchange across nodes: launchers for a GPU's own rows.
//
// Between nodes rows are sent as runs of tokens in one piece. *Gather* builds a run from a rank's
// tokens, for example in pinned memory that a network sends from; *merge* adds the sums that came
// back from other nodes to those of this node.
//
// One GPU alone: no peers, no waits. Launchers validate, do not block and do not allocate.
// kCollInvalidCall: arguments; kCollUnsupported: no CUDA in this build; kCollDevice: CUDA failed.

#ifndef COLL_RUNTIME_KERNELS_MOE_RELAY_H
#define COLL_RUNTIME_KERNELS_MOE_RELAY_H

#include "runtime/base/status.h"

#include <cstdint>

namespace coll::kernels {

// A run of tokens in a message: arrays one after the other, each aligned to 16.
struct MoeRun {
  uint64_t rows;        // [count][rowBytes]
  uint64_t topkIdx;     // [count][numTopk] i64, as the source has them
  uint64_t topkWeights; // [count][numTopk] f32
  uint64_t scales;      // [count][numScales] f32
  uint64_t bytes;       // in all
};
// The data of each token. `numTopk` 0: no indices, no weights.
struct MoeRecord {
  uint32_t rowBytes = 0; // a multiple of 16
  uint32_t numTopk = 0;
  uint32_t numScales = 0;
};
MoeRun moeRun(const MoeRecord &record, uint32_t count);

struct MoeGatherArgs {
  MoeRecord record;
  const int32_t *tokens = nullptr; // [count]
  uint32_t count = 0;
  const void *x = nullptr;            // [token][rowBytes], aligned to 16
  const int64_t *topkIdx = nullptr;   // [token][numTopk]
  const float *topkWeights = nullptr; // [token][numTopk], or null: 0
  const float *scales = nullptr;      // numScales a token
  int64_t scaleTokenStride = 0;       // in elements
  int64_t scaleStride = 0;            // in elements
  char *to = nullptr;                 // moeRun(record, count).bytes, aligned to 16
  uint32_t blocks = 0;                // 0: moeRelayBlocks(count)
};
rt::Status launchMoeGather(const MoeGatherArgs &args, void *stream);

inline constexpr uint32_t kMoeNoNode = UINT32_MAX;
struct MoeMergeArgs {
  uint32_t rowBytes = 0; // of bf16; a multiple of 16
  uint32_t numTopk = 0;  // weights of a token; 0: none
  uint32_t numTokens = 0;
  uint32_t numNodes = 1;
  // This node, whose sums are in `out` and `outWeights`. kMoeNoNode: all sums are in `rows`.
  uint32_t node = 0;
  const int32_t *places = nullptr; // [numTokens][numNodes]: row of the node's sum, or -1
  const void *rows = nullptr;      // [row][rowBytes], aligned to 16
  const float *weights = nullptr;  // [row][numTopk]
  const void *bias[2] = {};        // [numTokens][rowBytes], or null
  void *out = nullptr;             // [numTokens][rowBytes]
  float *outWeights = nullptr;     // [numTokens][numTopk]
  uint32_t blocks = 0;             // 0: moeRelayBlocks(numTokens)
};
// Adds in f32, biases first, then nodes in their order, and rounds once.
rt::Status launchMoeMerge(const MoeMergeArgs &args, void *stream);

// Launches each kernel once without effect, because a first launch may wait until the GPU is idle.
rt::Status rehearseMoeRelay(void *stream);

// Whether the arguments are valid.
rt::Status checkMoeGather(const MoeGatherArgs &args);
rt::Status checkMoeMerge(const MoeMergeArgs &args);

inline constexpr uint32_t kMoeRelayThreads = 256;
// Blocks for this many tokens, a warp each: enough for PCIe, few enough to leave room for other
// kernels.
uint32_t moeRelayBlocks(uint32_t tokens);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_MOE_RELAY_H
