// device_memory.h - the device transport's record of registered memory.

#ifndef COLL_RUNTIME_NET_GPU_DEVICE_MEMORY_H
#define COLL_RUNTIME_NET_GPU_DEVICE_MEMORY_H

#include "runtime/net/gpu/gpu.h"
#include "runtime/net/transport.h"

namespace coll::net {

struct DeviceMemory final : Memory {
  RemoteKey remoteKey() const override { return inner ? inner->remoteKey() : RemoteKey(); }

  // Whether a segment lies inside.
  bool holds(const Segment &segment) const {
    auto at = reinterpret_cast<uint64_t>(segment.data), begin = reinterpret_cast<uint64_t>(data);
    return everything ||
           (at >= begin && at - begin <= bytes && segment.bytes <= bytes - (at - begin));
  }
  // The address of the segment's bytes in the transport below. Only if `inner`.
  void *innerData(const Segment &segment) const {
    return innerBase + (static_cast<uint8_t *>(segment.data) - data);
  }

  MemoryKind kind = MemoryKind::Host;
  uint8_t *data = nullptr;
  uint64_t bytes = 0;
  bool everything = false;      // all memory of the GPU
  Memory *inner = nullptr;      // in the transport below; null if it cannot access the memory
  uint8_t *innerBase = nullptr; // `data` as the transport below addresses it
  std::shared_ptr<Gpu> gpu;     // for MemoryKind::Cuda
};

inline const DeviceMemory *deviceMemory(const Segment &segment) {
  return static_cast<const DeviceMemory *>(segment.memory);
}
inline bool isCuda(const Segment &segment) {
  return segment.memory && deviceMemory(segment)->kind == MemoryKind::Cuda;
}

} // namespace coll::net

#endif // COLL_RUNTIME_NET_GPU_DEVICE_MEMORY_H
