#include "runtime/base/parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace coll::rt {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain word");

void Parker::park(int64_t timeoutUs) {
  if (timeoutUs > 0) {
    timespec limit{static_cast<time_t>(timeoutUs / 1'000'000),
                   static_cast<long>(timeoutUs % 1'000'000) * 1000};
    // An unpark() in between has changed the word, so the wait returns at once.
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word_), FUTEX_WAIT_PRIVATE, kSleeps, &limit,
            nullptr, 0);
  }
  retract();
}

void Parker::wake() {
  // One of several wakers makes the system call.
  if (word_.exchange(kAwake, std::memory_order_relaxed) == kSleeps)
    syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word_), FUTEX_WAKE_PRIVATE, 1, nullptr,
            nullptr, 0);
}

} // namespace coll::rt
