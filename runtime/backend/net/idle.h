// idle.h - what a rank does between two polls.

#ifndef COLL_RUNTIME_BACKEND_NET_IDLE_H
#define COLL_RUNTIME_BACKEND_NET_IDLE_H

#include "runtime/base/parker.h"

#include <atomic>
#include <chrono>

namespace coll::rt::network {

// Polls for spinUs after progress, then sleeps for an eighth of the time that it has waited, at
// most 1 ms. So a wait ends late by at most an eighth, and costs little processor time even if many
// ranks share a core.
class Idle {
public:
  explicit Idle(int64_t spinUs) : spinUs_(spinUs) {}
  // There was progress: the wait begins anew.
  void reset() { isNew_ = true; }
  // Polls or sleeps for a while, longer each time. Only the owner calls it.
  void pause();
  // Ends a sleep, or prevents the next one. Any thread may call it.
  void wake() {
    woken_.store(true, std::memory_order_relaxed);
    parker_.unpark();
  }

private:
  using Clock = std::chrono::steady_clock;

  Parker parker_;
  std::atomic<bool> woken_{false}; // since the last pause()
  int64_t spinUs_;
  bool isNew_ = true;
  Clock::time_point start_;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_IDLE_H
