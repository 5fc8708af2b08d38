// communicators.h - the communicators that this process profiles.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_COMMUNICATORS_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_COMMUNICATORS_H

#include "runtime/profiler/nccl_plugin/handles.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace coll::profiler::plugin {

struct CommunicatorInfo {
  uint64_t id = 0;
  std::string name;
  int nodes = 0, ranks = 0, rank = -1; // 0 and -1: not reported (before v4)
  int version = 0;                     // of the ABI
  uint64_t mask = 0;
};

// Number 0 is the communicator of events whose context is unknown. A number is reused once its
// communicator has ended and has been written.
class Communicators {
public:
  // Called by init. Returns 0 if there are already 4,095.
  uint16_t add(CommunicatorInfo info);
  // Called by finalize. False if there is no such communicator, or it has ended.
  bool finish(uint16_t number);
  // Called by any callback, without a lock.
  bool isLive(uint16_t number) const {
    return number < live_.size() && live_[number].load(std::memory_order_acquire);
  }
  // The number of live communicators.
  size_t count() const { return count_.load(std::memory_order_acquire); }

  // Called by the worker: the communicators that have begun or ended since the last call.
  struct Change {
    uint16_t number;
    CommunicatorInfo info;
  };
  std::vector<Change> takeNew();
  std::vector<uint16_t> takeFinished();
  // Called by the worker when a finished communicator has been written.
  void release(uint16_t number);

private:
  std::mutex mutex_;
  std::array<std::atomic<bool>, Handles::kMostCommunicators + 1> live_{};
  std::atomic<size_t> count_{0};
  std::vector<Change> new_;
  std::vector<uint16_t> finished_, free_;
  uint16_t next_ = 1;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_COMMUNICATORS_H
