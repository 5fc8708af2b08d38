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
  int nodes = 0, ranks = 0, rank = -1; // 0 and -1: not told (before v4)
  int version = 0;                     // of the ABI
  uint64_t mask = 0;
};

// Number 0 is the communicator of events whose context is not known. A number is used again once
// its communicator has ended and been written.
class Communicators {
public:
  // By init: 0 where there are 4,095 already.
  uint16_t add(CommunicatorInfo info);
  // By finalize. False where it is none, or has ended.
  bool finish(uint16_t number);
  // By any callback; no lock.
  bool isLive(uint16_t number) const {
    return number < live_.size() && live_[number].load(std::memory_order_acquire);
  }
  // How many are live.
  size_t count() const { return count_.load(std::memory_order_acquire); }

  // By the worker: what began since the last call, and what ended.
  struct Change {
    uint16_t number;
    CommunicatorInfo info;
  };
  std::vector<Change> takeNew();
  std::vector<uint16_t> takeFinished();
  // By the worker, when a finished one has been written.
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
