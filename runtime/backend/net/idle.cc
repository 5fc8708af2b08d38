#include "runtime/backend/net/idle.h"

#include <algorithm>
#include <sched.h>
#include <sys/prctl.h>

namespace coll::rt::network {

namespace {

constexpr int64_t kMinSleepUs = 10;
constexpr int64_t kMaxSleepUs = 1000;

// Makes sleeps of this thread exact; by default they may end 50 us late.
void makeSleepsExact() {
  thread_local bool done = false;
  if (!done)
    prctl(PR_SET_TIMERSLACK, 1000);
  done = true;
}

} // namespace

void Idle::pause() {
  Clock::time_point now = Clock::now();
  if (isNew_) {
    isNew_ = false;
    start_ = now;
  }
  int64_t waited = std::chrono::duration_cast<std::chrono::microseconds>(now - start_).count();
  // Yielding lets the transport's threads run if cores are few.
  if (waited < spinUs_)
    sched_yield();
  else {
    makeSleepsExact();
    parker_.announce();
    // A wake() between the owner's last check and the announcement wakes no thread.
    if (woken_.exchange(false, std::memory_order_relaxed))
      return parker_.retract();
    parker_.park(std::clamp(waited / 8, kMinSleepUs, kMaxSleepUs));
  }
}

} // namespace coll::rt::network
