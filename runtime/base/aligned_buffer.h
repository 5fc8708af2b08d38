// aligned_buffer.h - memory at a 64-byte boundary, owned.

#ifndef COLL_RUNTIME_BASE_ALIGNED_BUFFER_H
#define COLL_RUNTIME_BASE_ALIGNED_BUFFER_H

#include "runtime/base/status.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <unistd.h>

namespace coll::rt {

// Memory of this machine: no single request may exceed it.
inline int64_t physicalMemoryBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

class AlignedBuffer {
public:
  static constexpr int64_t kAlignment = 64;

  AlignedBuffer() = default;
  // At least `bytes`, and never null. The content is undefined.
  static Result<AlignedBuffer> create(int64_t bytes) {
    if (bytes < 0)
      return Status::invalid("no buffer has " + std::to_string(bytes) + " bytes");
    if (bytes > physicalMemoryBytes())
      return Status(kCollDevice, "no memory for " + std::to_string(bytes) + " bytes");
    int64_t rounded = (bytes / kAlignment + 1) * kAlignment;
    AlignedBuffer buffer;
    buffer.data_.reset(
        static_cast<char *>(std::aligned_alloc(kAlignment, static_cast<size_t>(rounded))));
    if (!buffer.data_)
      return Status(kCollDevice, "out of memory for " + std::to_string(bytes) + " bytes");
    return buffer;
  }

  char *data() const { return data_.get(); }

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> data_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_ALIGNED_BUFFER_H
