// rings.h - one ring per thread that reports events.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RINGS_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RINGS_H

#include "runtime/profiler/nccl_plugin/ring.h"

#include <array>

namespace coll::profiler::plugin {

// At most 255 threads report at once; the events of others are counted as lost. A thread gets its
// ring (one allocation) with its first event; the ring of a thread that has ended goes to the next.
class Rings {
public:
  static constexpr size_t kMost = 255;
  struct Entry {
    std::unique_ptr<DropOldestRing> ring;
    std::atomic<int> thread{0}; // of the kernel; 0: free
    uint64_t counter = 0;       // of events, by the producer
    int number = 0;
  };

  explicit Rings(size_t slots) : slots_(slots) {}

  // The calling thread's; null where there is none left. Called with one object per process.
  Entry *mine();
  // By the consumer: the entries that are in use or were.
  size_t size() const { return size_.load(std::memory_order_acquire); }
  Entry &operator[](size_t number) { return entries_[number]; }
  // Events that no ring took, since the last call.
  uint64_t takeLost() { return lost_.exchange(0, std::memory_order_relaxed); }

private:
  Entry *claim();

  const size_t slots_;
  std::array<Entry, kMost> entries_;
  std::atomic<size_t> size_{0};
  std::atomic<uint64_t> lost_{0};
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RINGS_H
