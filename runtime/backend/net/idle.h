// idle.h - what a rank does between two looks at what it waits for.

#ifndef COLL_RUNTIME_BACKEND_NET_IDLE_H
#define COLL_RUNTIME_BACKEND_NET_IDLE_H

#include "runtime/base/parker.h"

#include <atomic>
#include <chrono>

namespace coll::rt::network {

// Polls for spinUs after something has moved, then sleeps: an eighth of the time that
// it has waited, 1 ms at most. So a wait is late by an eighth, and costs little processor
// time however many ranks share a core.
class Idle {
public:
  explicit Idle(int64_t spinUs) : spinUs_(spinUs) {}
  // Something has moved: the wait begins anew.
  void reset() { isNew_ = true; }
  // Returns after a moment, which grows. Owner only.
  void pause();
  // Ends a sleep, or takes the place of the next one. Any thread.
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
