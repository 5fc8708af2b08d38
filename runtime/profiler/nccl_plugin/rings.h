// rings.h - one ring per thread that reports events.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RINGS_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RINGS_H

#include "runtime/profiler/nccl_plugin/open_kernels.h"
#include "runtime/profiler/nccl_plugin/ring.h"

#include <array>

namespace coll::profiler::plugin {

// At most 255 threads report at once; the events of others are counted as lost. A thread gets its
// ring (an allocation) with its first event; when the thread ends, the next one gets the ring.
class Rings {
public:
  static constexpr size_t kMost = 255;
  struct Entry {
    std::unique_ptr<DropOldestRing> ring;
    std::unique_ptr<OpenKernels> kernels;
    std::atomic<int> thread{0}; // of the kernel; 0: free
    uint64_t counter = 0;       // of events, by the producer
    uint64_t endedKernel = 0;   // the last handle that ended with its stop's stamp
    int number = 0;
  };

  explicit Rings(size_t slots) : slots_(slots) {}

  // The calling thread's entry; null if none is left. Called with one object per process.
  Entry *mine() { return __builtin_expect(mine_ != nullptr, 1) ? mine_ : claimOnce(); }
  // Called by the consumer: the entries that are or were in use.
  size_t size() const { return size_.load(std::memory_order_acquire); }
  Entry &operator[](size_t number) { return entries_[number]; }
  // The entry whose thread has made a handle; null if there is none. Any thread may call it.
  Entry *ofNumber(uint64_t number) {
    return number == 0 || number > size() ? nullptr : &entries_[number - 1];
  }
  // Called by a thread without an entry.
  void lose() { lost_.fetch_add(1, std::memory_order_relaxed); }
  // The number of events without a ring since the last call.
  uint64_t takeLost() { return lost_.exchange(0, std::memory_order_relaxed); }

private:
  // Without this model, a library that is loaded late would call a function to find the variable,
  // which takes longer than the rest of a callback.
  static __thread Entry *mine_ __attribute__((tls_model("initial-exec")));

  Entry *claimOnce();
  Entry *claim();

  const size_t slots_;
  std::array<Entry, kMost> entries_;
  std::atomic<size_t> size_{0};
  std::atomic<uint64_t> lost_{0};
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_RINGS_H
