#include "runtime/profiler/nccl_plugin/rings.h"

#include <mutex>
#include <new>
#include <sys/syscall.h>
#include <unistd.h>

namespace coll::profiler::plugin {

namespace {

// Returns the ring when its thread ends.
struct Mine {
  Rings::Entry *entry = nullptr;
  bool isAsked = false;
  ~Mine() {
    if (entry)
      entry->thread.store(0, std::memory_order_release);
  }
};
thread_local Mine mineOfThread;

std::mutex claimMutex; // once per thread, never per event

} // namespace

__thread Rings::Entry *Rings::mine_ = nullptr;

Rings::Entry *Rings::claimOnce() {
  Mine &mine = mineOfThread;
  if (!mine.isAsked) {
    mine.isAsked = true;
    mine_ = mine.entry = claim();
  }
  return mine.entry;
}

Rings::Entry *Rings::claim() {
  const int thread = static_cast<int>(syscall(SYS_gettid));
  std::lock_guard<std::mutex> lock(claimMutex);
  const size_t size = size_.load(std::memory_order_relaxed);
  for (size_t i = 0; i < size; ++i)
    if (entries_[i].thread.load(std::memory_order_acquire) == 0) {
      entries_[i].thread.store(thread, std::memory_order_release);
      return &entries_[i];
    }
  if (size == kMost)
    return nullptr;
  Entry &entry = entries_[size];
  try {
    entry.kernels = std::make_unique<OpenKernels>();
    entry.ring = std::make_unique<DropOldestRing>(slots_);
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
  entry.number = static_cast<int>(size) + 1;
  entry.thread.store(thread, std::memory_order_release);
  size_.store(size + 1, std::memory_order_release);
  return &entry;
}

} // namespace coll::profiler::plugin
