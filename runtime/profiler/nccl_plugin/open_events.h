// open_events.h - the events of one communicator that have not been written yet: a pool of fixed
// size, found by handle, in the order in which they started.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_OPEN_EVENTS_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_OPEN_EVENTS_H

#include "runtime/profiler/nccl_plugin/record.h"

#include <unordered_map>
#include <vector>

namespace coll::profiler::plugin {

// How long a proxy step was in each kind of state.
struct Waits {
  uint64_t gpuNs = 0, peerNs = 0, transferNs = 0, flushNs = 0;
  void add(const Waits &other) {
    gpuNs += other.gpuNs;
    peerNs += other.peerNs;
    transferNs += other.transferNs;
    flushNs += other.flushNs;
  }
};

struct OpenEvent {
  Record start;
  uint64_t stopNs = 0; // 0: has not stopped
  uint64_t lastActivityNs = 0, lastChildNs = 0;
  int32_t openChildren = 0, proxies = 0, kernels = 0;
  Waits waits;
  int16_t state = -1;
  uint64_t stateNs = 0, bytes = 0;
  uint64_t gpuStart = 0, gpuStop = 0; // stamps; of a collective, the first and the last
  uint64_t waitedUntilNs = 0;         // of a proxy op: peer waits before this time are counted
  uint32_t older = 0, newer = 0;      // places in the pool
};

class OpenEvents {
public:
  // Places are stable until remove(). kMost + 1 of them, of which 0 is none.
  static constexpr uint32_t kMost = 8192;

  OpenEvents() : pool_(1) {}
  bool full() const { return byId_.size() >= kMost; }
  bool nearlyFull() const { return byId_.size() >= kMost / 4 * 3; }
  size_t size() const { return byId_.size(); }
  uint32_t add(const Record &start);
  uint32_t find(uint64_t id) const {
    auto found = byId_.find(id);
    return found == byId_.end() ? 0 : found->second;
  }
  OpenEvent &operator[](uint32_t place) { return pool_[place]; }
  void remove(uint32_t place);
  uint32_t oldest() const { return oldest_; }

private:
  std::vector<OpenEvent> pool_;
  std::vector<uint32_t> free_;
  std::unordered_map<uint64_t, uint32_t> byId_;
  uint32_t oldest_ = 0, newest_ = 0;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_OPEN_EVENTS_H
