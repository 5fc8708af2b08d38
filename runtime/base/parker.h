// parker.h - a place where one thread sleeps until another wakes it.
//
//   uint32_t ticket = parker.ticket();
//   if (!condition()) parker.park(ticket, timeoutUs);
//
// An unpark() after ticket() makes park() return at once, so a waker that changes the
// condition and then calls unpark() is never missed. park() may return for no reason.

#ifndef COLL_RUNTIME_BASE_PARKER_H
#define COLL_RUNTIME_BASE_PARKER_H

#include <atomic>
#include <cstdint>

namespace coll::rt {

class alignas(64) Parker {
public:
  uint32_t ticket() const { return word_.load(std::memory_order_seq_cst); }

  // Blocks until unpark() was called since `ticket` was taken, or timeoutUs have
  // passed. Owner only.
  void park(uint32_t ticket, int64_t timeoutUs);

  // From any thread. A system call only where the owner sleeps.
  void unpark() {
    word_.fetch_add(1, std::memory_order_seq_cst);
    if (sleeping_.load(std::memory_order_seq_cst))
      wake();
  }

private:
  void wake();

  std::atomic<uint32_t> word_{0};
  std::atomic<bool> sleeping_{false};
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_PARKER_H
