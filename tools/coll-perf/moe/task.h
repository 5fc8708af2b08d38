// task.h - the tasks of `coll-perf moe`, and their data.
//
// All data is a function of a seed, the rank and the place, so every rank can compute what it
// should receive.

#ifndef COLL_TOOLS_COLL_PERF_MOE_TASK_H
#define COLL_TOOLS_COLL_PERF_MOE_TASK_H

#include "runtime/exchange/moe/reference.h"

#include <cstdint>
#include <string>
#include <vector>

namespace coll::perf {

using rt::Result;
using rt::Status;

enum class MoeCall {
  Layout,
  Dispatch,       // bf16, along known routes
  DispatchCounts, // bf16, with counting; the host does not wait
  DispatchFp8,    // fp8 with scales, along known routes
  Combine,        // rows where the buffer wants them
  CombineCopied   // rows elsewhere
};
const char *nameOf(MoeCall call);

// The distribution of tokens over experts.
enum class MoeSkew {
  Uniform,
  Few, // three tokens in four use a sixteenth of the experts
  One  // all tokens use one and the same expert
};
const char *nameOf(MoeSkew skew);

struct MoeTask {
  int ranks = 4;
  int nodes = 1;     // that the ranks are divided into
  int tokens = 4096; // of a rank
  int hidden = 7168;
  int topk = 8;
  int experts = 256;
  MoeSkew skew = MoeSkew::Uniform;
  std::vector<int> sms = {24};
  // not empty: measures that mode with these numbers; `tokens` is the largest
  std::vector<int> lowLatencyTokens;
  // The shortest calls come last, when the GPU has reached its full clock.
  std::vector<MoeCall> calls = {MoeCall::Dispatch, MoeCall::DispatchCounts, MoeCall::DispatchFp8,
                                MoeCall::Combine,  MoeCall::CombineCopied,  MoeCall::Layout};
  bool fp8 = true;
  bool check = true;
  bool nccl = false; // also measures NCCL's send and receive
  int iterations = 20;
  int warmup = 5;
  int repeat = 3; // the median of so many counts
  int64_t timeoutUs = 30'000'000;
  uint32_t seed = 1;

  int nodeSize() const { return ranks / nodes; }
  // ", top-8 of 256, skewed to few experts": distinguishes cases.
  std::string routes() const;
  // Scales of a token in fp8: one for 128 values, as models have it.
  int numScales() const { return (hidden + 127) / 128; }
  Status validate() const;

private:
  Status validateLowLatency() const;
};

// The experts of every token of a rank, all different; -1 for the rest if there are fewer than
// top-k.
std::vector<int64_t> moeTopk(const MoeTask &task, int rank);
float moeWeight(const MoeTask &task, int rank, int64_t token, int k);
float moeScale(const MoeTask &task, int rank, int64_t token, int64_t i);
// Writes the bytes of a token's row. As bf16 they are finite, and sums of eight of them are exact
// in f32.
void moeRow(const MoeTask &task, int rank, int64_t token, int64_t rowBytes, char *to);

// A token that a rank receives, and its source.
struct MoeArrival {
  int source;
  int64_t token;
};
std::vector<MoeArrival> moeArrivals(const MoeTask &task, int rank);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_TASK_H
