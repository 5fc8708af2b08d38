// peer_place.cuh - users' buffers in units of 16 bytes, at any alignment and in rows.
//
// A message is a sequence of vectors of 16 bytes, whatever its buffer looks like: so what
// travels between GPUs is aligned, and only the owner of a buffer deals with its alignment.

#ifndef COLL_RUNTIME_KERNELS_PEER_PLACE_CUH
#define COLL_RUNTIME_KERNELS_PEER_PLACE_CUH

#include "runtime/kernels/peer_plan.h"
#include "runtime/kernels/simt.h"

#include <cstring>

namespace coll::kernels::peer {

using simt::Vec16;
inline constexpr uint32_t kVec = sizeof(Vec16);

COLL_DEVICE uint64_t vectorsOf(uint64_t bytes) { return (bytes + kVec - 1) / kVec; }

// One block of a PeerPlace: `bytes` of it.
struct Buffer {
  char *base;
  uint64_t bytes;
  uint64_t rowBytes; // 0: one row
  uint64_t pitch;
  uint32_t width;

  COLL_DEVICE Buffer(const PeerPlace &place, uint32_t block, uint64_t length)
      : base(place.base + block * place.stride), bytes(length), rowBytes(place.rowBytes),
        pitch(place.pitch), width(place.width) {}

  // Plain memory, aligned to 16.
  COLL_DEVICE Buffer(const char *memory, uint64_t length)
      : base(const_cast<char *>(memory)), bytes(length), rowBytes(0), pitch(0), width(kVec) {}

  // Whether vectors lie in memory as they are, but for the end.
  COLL_DEVICE bool isPlain() const { return width == kVec && rowBytes == 0; }
  COLL_DEVICE char *at(uint64_t offset) const {
    return base + (rowBytes == 0 ? offset : offset / rowBytes * pitch + offset % rowBytes);
  }

  // Bytes beyond the end are zero.
  COLL_DEVICE Vec16 load(uint64_t vector) const {
    const uint64_t offset = vector * kVec;
    if (width == kVec && offset + kVec <= bytes)
      return simt::loadGlobal16(at(offset));
    switch (width) {
    case 4:
      return gather<uint32_t>(offset);
    case 8:
      return gather<uint64_t>(offset);
    case 2:
      return gather<uint16_t>(offset);
    default:
      return gather<uint8_t>(offset);
    }
  }

  // Bytes beyond the end stay as they are.
  COLL_DEVICE void store(uint64_t vector, const Vec16 &value) const {
    const uint64_t offset = vector * kVec;
    if (width == kVec && offset + kVec <= bytes)
      return simt::storeGlobal16(at(offset), value);
    switch (width) {
    case 4:
      return scatter<uint32_t>(offset, value);
    case 8:
      return scatter<uint64_t>(offset, value);
    case 2:
      return scatter<uint16_t>(offset, value);
    default:
      return scatter<uint8_t>(offset, value);
    }
  }

private:
  // Unit by unit; a message ends at a multiple of the width, unless that is 16.
  template <typename Unit>
  COLL_DEVICE Vec16 gather(uint64_t offset) const {
    Unit units[kVec / sizeof(Unit)];
    COLL_UNROLL(16)
    for (uint32_t i = 0; i < kVec / sizeof(Unit); ++i) {
      const uint64_t from = offset + i * sizeof(Unit);
      units[i] = from < bytes ? *reinterpret_cast<const volatile Unit *>(at(from)) : Unit(0);
    }
    Vec16 value;
    memcpy(&value, units, sizeof value);
    return value;
  }
  template <typename Unit>
  COLL_DEVICE void scatter(uint64_t offset, const Vec16 &value) const {
    Unit units[kVec / sizeof(Unit)];
    memcpy(units, &value, sizeof value);
    COLL_UNROLL(16)
    for (uint32_t i = 0; i < kVec / sizeof(Unit); ++i)
      if (const uint64_t to = offset + i * sizeof(Unit); to < bytes)
        *reinterpret_cast<volatile Unit *>(at(to)) = units[i];
  }
};

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_PLACE_CUH
