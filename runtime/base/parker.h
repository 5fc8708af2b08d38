// parker.h - a place where one thread sleeps until another wakes it.
//
//   parker.announce();
//   if (condition()) parker.retract(); else parker.park(timeoutUs);
//
// A waker changes the condition and then calls unpark(): either the owner sees the change after
// announce(), or the waker sees the announcement. park() may return without a reason.

#ifndef COLL_RUNTIME_BASE_PARKER_H
#define COLL_RUNTIME_BASE_PARKER_H

#include <atomic>
#include <cstdint>

namespace coll::rt {

class alignas(64) Parker {
public:
  // Owner only: from now on an unpark() ends the next park().
  void announce() {
    word_.store(kSleeps, std::memory_order_relaxed);
    fence();
  }
  void retract() { word_.store(kAwake, std::memory_order_relaxed); }

  // Owner only. Blocks until timeoutUs have passed or unpark() is called, or was called since
  // announce().
  void park(int64_t timeoutUs);

  // May be called from any thread. While the owner is awake it costs a fence and a load.
  void unpark() {
    fence();
    unparkFenced();
  }
  // As unpark(), after a fence() that follows the change: for many owners at once.
  void unparkFenced() {
    if (word_.load(std::memory_order_relaxed) == kSleeps)
      wake();
  }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan" // this fence publishes no data
#endif
  static void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

private:
  static constexpr uint32_t kAwake = 0, kSleeps = 1;

  void wake();

  std::atomic<uint32_t> word_{kAwake};
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_PARKER_H
