// arena.h - buffers for messages in flight, a different one for each, so that caches do not make
// the result too good.

#ifndef COLL_TOOLS_COLL_PERF_NET_ARENA_H
#define COLL_TOOLS_COLL_PERF_NET_ARENA_H

#include <cstdint>
#include <cstring>
#include <sys/mman.h>

namespace coll::perf {

class Arena {
public:
  // The data is null if there is not enough memory. All pages are touched, so that no page fault is
  // measured.
  Arena(uint64_t slots, uint64_t bytes) : stride_((bytes + 4095) & ~uint64_t(4095)) {
    total_ = slots * stride_;
    void *data = mmap(nullptr, total_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED)
      return;
    data_ = static_cast<uint8_t *>(data);
    std::memset(data_, 1, total_);
  }
  ~Arena() {
    if (data_)
      munmap(data_, total_);
  }
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;

  uint8_t *data() const { return data_; }
  uint64_t bytes() const { return total_; }
  uint8_t *slot(uint64_t index) const { return data_ + index * stride_; }
  uint64_t offset(uint64_t index) const { return index * stride_; }

private:
  uint8_t *data_ = nullptr;
  uint64_t stride_, total_ = 0;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_NET_ARENA_H
