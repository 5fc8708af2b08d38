// memory_use.h - the bytes of buffers that this process' ranks hold now, and their peak.
//
// Counts AlignedBuffers and the copies that collectives make. Any thread may ask at any time.

#ifndef COLL_RUNTIME_BASE_MEMORY_USE_H
#define COLL_RUNTIME_BASE_MEMORY_USE_H

#include <atomic>
#include <cstdint>
#include <utility>

namespace coll::rt {

class MemoryUse {
public:
  static int64_t now() { return now_.load(std::memory_order_relaxed); }
  // Since the process started, or since the last restartPeak().
  static int64_t peak() { return peak_.load(std::memory_order_relaxed); }
  static void restartPeak() { peak_.store(now(), std::memory_order_relaxed); }

  // Counts bytes while it lives.
  class Share {
  public:
    Share() = default;
    explicit Share(int64_t bytes) : bytes_(bytes) { add(bytes_); }
    Share(Share &&other) noexcept : bytes_(std::exchange(other.bytes_, 0)) {}
    Share &operator=(Share &&other) noexcept {
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      if (bytes_ != 0)
        add(-bytes_);
    }

  private:
    int64_t bytes_ = 0;
  };

private:
  static void add(int64_t bytes) {
    const int64_t sum = now_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    int64_t peak = peak_.load(std::memory_order_relaxed);
    while (sum > peak && !peak_.compare_exchange_weak(peak, sum, std::memory_order_relaxed)) {
    }
  }

  inline static std::atomic<int64_t> now_{0}, peak_{0};
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_MEMORY_USE_H
