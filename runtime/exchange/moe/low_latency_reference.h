// low_latency_reference.h - the exchange of low_latency.h on host memory, for all ranks at
// once.
//
// Like reference.h, it is what the kernels are compared with. Indices that the GPU would report are
// errors here, which name rank and token.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_REFERENCE_H
#define COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_REFERENCE_H

#include "runtime/exchange/moe/low_latency.h"

#include <vector>

namespace coll::rt {

// Like MoeLowLatencyRows, with owned memory; zero where nothing arrived.
struct MoeLowLatencyHostRows {
  std::vector<char> x;
  std::vector<float> scales;
  std::vector<int32_t> counts;
  std::vector<uint64_t> ranges;
  std::vector<uint32_t> sources;

  // A view of this object's memory.
  MoeLowLatencyRows view();
};
// Memory for what a rank may receive.
MoeLowLatencyHostRows moeLowLatencyRoom(const MoeLowLatencyShape &shape, int numRanks,
                                        CollDtype dtype);

// Converts a row of bf16 to its fp8 form in messages.
void moeToFp8(const uint16_t *row, int64_t hidden, char *to, float *scales);

// calls[r] is rank r's; all have the same dtype. Adds to every rank's `expertTokens`.
Result<std::vector<MoeLowLatencyHostRows>>
moeReferenceDispatch(const std::vector<MoeLowLatencyDispatch> &calls,
                     const MoeLowLatencyShape &shape);

// Writes every rank's `out`. `rows`: of the dispatch.
Status moeReferenceCombine(const std::vector<MoeLowLatencyCombine> &calls,
                           const std::vector<MoeLowLatencyRows> &rows,
                           const MoeLowLatencyShape &shape);

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_LOW_LATENCY_REFERENCE_H
