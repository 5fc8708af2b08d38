// shared_segment.h - POSIX shared memory without a name: only a process that receives the
// descriptor can open it, and nothing remains when the processes end.

#ifndef COLL_RUNTIME_EXCHANGE_TENSOR_SHARED_SEGMENT_H
#define COLL_RUNTIME_EXCHANGE_TENSOR_SHARED_SEGMENT_H

#include "runtime/base/fd.h"
#include "runtime/base/status.h"

#include <cstdint>

namespace coll::rt::exchange {

class SharedSegment {
public:
  SharedSegment() = default;
  SharedSegment(SharedSegment &&other) noexcept { *this = std::move(other); }
  SharedSegment &operator=(SharedSegment &&other) noexcept;
  ~SharedSegment();

  // New memory of at least `bytes` bytes, all 0, aligned to a page.
  static Result<SharedSegment> create(int64_t bytes);
  // Maps another process's segment; the descriptor is not needed afterwards. kCollInvalidCall if it
  // is smaller than `least`.
  static Result<SharedSegment> open(const Fd &fd, int64_t least);

  char *data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  const Fd &fd() const { return fd_; } // of a segment that was created
  bool holds(const void *data) const { return data_ && data >= data_ && data < data_ + bytes_; }

private:
  Status map(int fd, int64_t bytes);

  Fd fd_;
  char *data_ = nullptr;
  int64_t bytes_ = 0;
};

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_TENSOR_SHARED_SEGMENT_H
