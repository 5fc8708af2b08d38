// low_latency_calls.h - a rank's MoeBuffer in its low-latency mode with data in GPU memory, and the
// calls to measure.

#ifndef COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_CALLS_H
#define COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_CALLS_H

#include "runtime/exchange/moe/buffer.h"
#include "tools/coll-perf/moe/gpu_room.h"
#include "tools/coll-perf/moe/task.h"

#include <array>
#include <memory>
#include <vector>

namespace coll::perf {

// Two calls of the mode, so that the buffer is in the same state before and after each graph of
// them.
struct LowLatencyPair {
  const char *name;
  std::array<bool, 2> isDispatch;
  bool fp8;    // of dispatches
  bool log;    // of combines
  bool hooked; // sends and receives are separate launches

  bool isRound() const { return isDispatch[0] != isDispatch[1]; }
};
// Pairs with bf16 dispatches come first, because a combine alone needs such rows.
const std::vector<LowLatencyPair> &lowLatencyPairs();

class LowLatencyCalls {
public:
  // `transport`: between nodes, null if there is one.
  static Result<std::unique_ptr<LowLatencyCalls>> create(const MoeTask &task, int rank,
                                                         net::Transport *transport);

  rt::MoeBuffer &buffer() { return *buffer_; }
  const GpuRoom &room() const { return room_; }
  rt::dl::CudaStream stream() const { return order_.compute; }
  // Later calls use the first `tokens` tokens of each rank.
  void use(int tokens) { dispatch_.routing.numTokens = combine_.routing.numTokens = tokens; }
  Status call(const LowLatencyPair &pair, int which, int sms);
  Status synchronize();
  // Returns the number of rows that the last dispatch brought.
  Result<int64_t> numReceived();

  // Returns the number of wrong values after dispatches in both formats, and combines of the rows
  // of the bf16 dispatch.
  Result<int64_t> check(int sms);

private:
  LowLatencyCalls(const MoeTask &task, int rank) : task_(task), rank_(rank) {}
  Status open(net::Transport *transport);
  Status fill();
  Result<int64_t> checkReceived(bool fp8);
  Result<int64_t> checkCombined(bool log);
  int64_t checkRow(const char *x, const float *scales, bool fp8, int source, int64_t token) const;
  int numTokens() const { return static_cast<int>(dispatch_.routing.numTokens); }

  const MoeTask &task_;
  const int rank_;
  GpuRoom room_;
  std::unique_ptr<rt::MoeBuffer> buffer_;
  rt::MoeOrder order_;
  rt::MoeLowLatencyShape shape_;
  std::vector<std::vector<int64_t>> topk_; // of all ranks
  rt::MoeLowLatencyRows rows_;
  rt::MoeLowLatencyDispatch dispatch_;
  rt::MoeLowLatencyCombine combine_;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_LOW_LATENCY_CALLS_H
