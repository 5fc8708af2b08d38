// reference.h - the exchange of moe.h on host memory, for all ranks at once.
//
// The kernels are compared with it, so it prefers clarity to speed. Every function takes the calls
// of all ranks, with pointers to host memory, and returns the result of each; kCollInvalidCall
// names rank and argument. It keeps no state between calls. Any thread may call it.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_REFERENCE_H
#define COLL_RUNTIME_EXCHANGE_MOE_REFERENCE_H

#include "runtime/exchange/moe/moe.h"

#include <vector>

namespace coll::rt {

// Like MoeLayout, with owned memory.
struct MoeHostLayout {
  std::vector<int32_t> tokensPerRank, tokensPerNetRank, tokensPerExpert;
  std::vector<uint8_t> isTokenInRank;
};
// The layout of one rank's tokens. `nodeSize`: ranks of a node, for tokensPerNetRank.
Result<MoeHostLayout> moeReferenceLayout(const MoeRouting &routing, int numRanks,
                                         int nodeSize = kMoeNodeRanks);

// Like MoeHandle, with owned memory.
struct MoeHostHandle {
  std::vector<int32_t> rankPrefix, channelPrefix, sendHead, recvSourceIdx;
  std::vector<uint8_t> isTokenInRank;
  int64_t numTokens = 0, numRecv = 0;

  MoeHandle view() const;
};

// Like MoeReceived, with owned memory. With a worst case, arrays have that many rows; the surplus
// rows are zero.
struct MoeHostReceived {
  std::vector<char> x;
  std::vector<float> scales;
  std::vector<int64_t> topkIdx;
  std::vector<float> topkWeights;
  std::vector<int32_t> tokensPerExpert;
  MoeHostHandle handle;
};

struct MoeDispatchCall {
  MoeRouting routing;
  MoeTokens tokens;
};

// calls[r] is rank r's.
Result<std::vector<MoeHostReceived>> moeReferenceDispatch(const std::vector<MoeDispatchCall> &calls,
                                                          const MoeDispatchOptions &options);

// Cached mode: along the routes of an earlier dispatch. Top-k indices and weights are not sent.
Result<std::vector<MoeHostReceived>>
moeReferenceDispatchAgain(const std::vector<MoeTokens> &tokens,
                          const std::vector<MoeHostHandle> &handles);

// Writes every rank's `out` and `outWeights`.
Status moeReferenceCombine(const std::vector<MoeCombine> &calls,
                           const std::vector<MoeHostHandle> &handles);

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_REFERENCE_H
