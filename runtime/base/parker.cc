#include "runtime/base/parker.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace coll::rt {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "a futex is a plain word");

void Parker::park(uint32_t ticket, int64_t timeoutUs) {
  if (timeoutUs <= 0)
    return;
  timespec limit{static_cast<time_t>(timeoutUs / 1'000'000),
                 static_cast<long>(timeoutUs % 1'000'000) * 1000};
  // An unpark() that misses this store has bumped the word before the kernel
  // compares it, so the wait below returns at once.
  sleeping_.store(true, std::memory_order_seq_cst);
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word_), FUTEX_WAIT_PRIVATE, ticket, &limit,
          nullptr, 0);
  sleeping_.store(false, std::memory_order_relaxed);
}

void Parker::wake() {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word_), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr,
          0);
}

} // namespace coll::rt
