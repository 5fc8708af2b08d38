// replacement.h - a test's substitute for an object of which a process has one.
//
// A T has at most one replacement at a time, which lives as long as the object; code that would
// create or find the T calls current() first. No thread may use a T while its replacement begins or
// ends.

#ifndef COLL_RUNTIME_BASE_REPLACEMENT_H
#define COLL_RUNTIME_BASE_REPLACEMENT_H

#include <atomic>
#include <utility>

namespace coll::rt {

template <typename T>
class Replacement {
public:
  explicit Replacement(T value) : value_(std::move(value)) {
    current_.store(&value_, std::memory_order_release);
  }
  ~Replacement() { current_.store(nullptr, std::memory_order_release); }
  Replacement(const Replacement &) = delete;
  Replacement &operator=(const Replacement &) = delete;

  // Null if there is no replacement. May be called from any thread.
  static const T *current() { return current_.load(std::memory_order_acquire); }

private:
  static inline std::atomic<const T *> current_{nullptr};

  T value_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_REPLACEMENT_H
