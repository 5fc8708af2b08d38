// handles.h - contexts and event handles as numbers, which are never dereferenced.
//
// NCCL passes back the handles of parents and contexts, also those that a plugin of another process
// has made (a proxy that serves another rank), and handles whose event was written long ago. So a
// handle is not a pointer: its high bits are this process's mark, which no pointer of user space
// has, nor, with a probability of 32,767 in 32,768, a handle of another process.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_HANDLES_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_HANDLES_H

#include <cstdint>

namespace coll::profiler::plugin {

// Mark (16 bits, the first is set), communicator (12 bits), ring (8 bits), number (28 bits).
class Handles {
public:
  static constexpr uint16_t kMostCommunicators = 4095;
  explicit Handles(uint64_t random) : mark_((random & 0x7fff) | 0x8000) {}

  uint64_t make(uint16_t communicator, uint64_t ring, uint64_t number) const {
    return mark_ << 48 | uint64_t(communicator & 0xfff) << 36 | (ring & 0xff) << 28 |
           (number & 0xfffffff);
  }
  bool isOurs(uint64_t handle) const { return handle >> 48 == mark_; }
  static uint16_t communicator(uint64_t handle) { return handle >> 36 & 0xfff; }
  static uint64_t ring(uint64_t handle) { return handle >> 28 & 0xff; }

private:
  uint64_t mark_;
};

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_HANDLES_H
