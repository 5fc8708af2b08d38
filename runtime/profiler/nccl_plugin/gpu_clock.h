// gpu_clock.h - the offset of the GPU's globaltimer from CLOCK_MONOTONIC, estimated from callbacks.
//
// A stamp is seen after it was taken, so seen − stamp is an upper bound of the offset host − GPU. A
// kernel starts after its collective was enqueued, so enqueued − start is a lower bound. The offset
// is the smallest upper bound of about the last two seconds (a clock may drift), its error the
// distance to the largest lower bound.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_GPU_CLOCK_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_GPU_CLOCK_H

#include <algorithm>
#include <cstdint>
#include <limits>

namespace coll::profiler::plugin {

class GpuClock {
public:
  // False if the clocks contradict each other: one of them jumped, and the bounds are reset.
  bool sawStamp(uint64_t stamp, uint64_t seenNs) {
    rotate(seenNs);
    const int64_t offset = static_cast<int64_t>(seenNs - stamp);
    current_.upper = std::min(current_.upper, offset);
    return check();
  }
  bool sawStart(uint64_t stamp, uint64_t enqueuedNs) {
    current_.lower = std::max(current_.lower, static_cast<int64_t>(enqueuedNs - stamp));
    return check();
  }

  bool known() const { return upper() != kNone; }
  uint64_t toHost(uint64_t stamp) const { return stamp + static_cast<uint64_t>(upper()); }
  int64_t offsetNs() const { return upper(); }
  // -1: there is no lower bound.
  int64_t errorNs() const {
    const int64_t lower = std::max(current_.lower, last_.lower);
    return lower == -kNone ? -1 : std::max<int64_t>(0, upper() - lower);
  }

private:
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  static constexpr uint64_t kWindowNs = 1'000'000'000;
  static constexpr int64_t kToleranceNs = 1'000'000;
  struct Bounds {
    int64_t upper = kNone, lower = -kNone;
  };
  int64_t upper() const { return std::min(current_.upper, last_.upper); }
  void rotate(uint64_t ns) {
    if (ns - windowStart_ < kWindowNs)
      return;
    last_ = current_;
    current_ = Bounds();
    windowStart_ = ns;
  }
  bool check() {
    const int64_t lower = std::max(current_.lower, last_.lower);
    if (!known() || lower == -kNone || upper() - lower > -kToleranceNs)
      return true;
    current_ = last_ = Bounds();
    return false;
  }

  Bounds current_, last_;
  uint64_t windowStart_ = 0;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_GPU_CLOCK_H
