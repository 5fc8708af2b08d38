// replacement.h - what tests put in the place of something that a process has once.
//
// A T has at most one replacement at a time, which lives as long as the object; whoever would
// make or find the T itself asks current() first. Nobody may use a T when its replacement
// begins or ends.

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

  // Null: there is none. Any thread.
  static const T *current() { return current_.load(std::memory_order_acquire); }

private:
  static inline std::atomic<const T *> current_{nullptr};

  T value_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_REPLACEMENT_H
