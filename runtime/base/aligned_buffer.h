// aligned_buffer.h - owned memory at a 64-byte boundary.

#ifndef COLL_RUNTIME_BASE_ALIGNED_BUFFER_H
#define COLL_RUNTIME_BASE_ALIGNED_BUFFER_H

#include "runtime/base/machine.h"
#include "runtime/base/memory_use.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace coll::rt {

class AlignedBuffer {
public:
  static constexpr int64_t kAlignment = 64;

  // The bytes that a buffer of `bytes` bytes allocates.
  static constexpr int64_t allocatedBytes(int64_t bytes) {
    return (bytes / kAlignment + 1) * kAlignment;
  }

  AlignedBuffer() = default;
  // At least `bytes`, and never null. The content is undefined.
  static Result<AlignedBuffer> create(int64_t bytes) {
    if (bytes < 0)
      return Status::invalid("a buffer cannot have " + std::to_string(bytes) + " bytes");
    if (const MemoryLimit limit = memoryLimit(); bytes > limit.bytes)
      return Status(kCollDevice, "no memory for " + std::to_string(bytes) + " bytes: " +
                                     limit.name + " is " + std::to_string(limit.bytes) + " bytes");
    const int64_t rounded = allocatedBytes(bytes);
    AlignedBuffer buffer;
    buffer.data_.reset(
        static_cast<char *>(std::aligned_alloc(kAlignment, static_cast<size_t>(rounded))));
    if (!buffer.data_)
      return Status(kCollDevice, "out of memory for " + std::to_string(bytes) + " bytes");
    buffer.share_ = MemoryUse::Share(rounded);
    return buffer;
  }

  char *data() const { return data_.get(); }

private:
  struct Free {
    void operator()(char *memory) const { std::free(memory); }
  };
  std::unique_ptr<char, Free> data_;
  MemoryUse::Share share_;
};

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_ALIGNED_BUFFER_H
