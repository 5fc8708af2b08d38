// place.cuh - users' buffers in units of 16 bytes, at any alignment and in rows.
//
// A message is a sequence of vectors of 16 bytes, for any form of its buffer: data between GPUs is
// always aligned, and only the owner of a buffer handles the buffer's alignment.

#ifndef COLL_RUNTIME_KERNELS_PEER_PLACE_CUH
#define COLL_RUNTIME_KERNELS_PEER_PLACE_CUH

#include "runtime/kernels/peer/plan.h"
#include "runtime/kernels/simt/simt.h"

#include <cstring>
#include <type_traits>

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

  // Whether vectors `first` to `first + count` are contiguous and aligned in memory.
  COLL_DEVICE bool isPlain(uint64_t first, uint64_t count) const {
    return width == kVec && rowBytes == 0 && (first + count) * kVec <= bytes;
  }
  COLL_DEVICE char *at(uint64_t offset) const {
    return base + (rowBytes == 0 ? offset : offset / rowBytes * pitch + offset % rowBytes);
  }

  // Bytes beyond the end are zero.
  COLL_DEVICE Vec16 load(uint64_t vector) const;
  // Bytes beyond the end are not changed.
  COLL_DEVICE void store(uint64_t vector, const Vec16 &value) const;
};

// The same if all of a PeerPlace is aligned, in one row, and complete vectors long.
struct PlainBuffer {
  char *base;

  COLL_DEVICE PlainBuffer(const PeerPlace &place, uint32_t block, uint64_t)
      : base(place.base + block * place.stride) {}
  COLL_DEVICE explicit PlainBuffer(const char *memory) : base(const_cast<char *>(memory)) {}

  COLL_DEVICE bool isPlain(uint64_t, uint64_t) const { return true; }
  COLL_DEVICE char *at(uint64_t offset) const { return base + offset; }
  COLL_DEVICE Vec16 load(uint64_t vector) const { return simt::loadGlobal16(base + vector * kVec); }
  COLL_DEVICE void store(uint64_t vector, const Vec16 &value) const {
    simt::storeGlobal16(base + vector * kVec, value);
  }
};

template <bool kPlain>
using BufferOf = std::conditional_t<kPlain, PlainBuffer, Buffer>;

// Moves unit by unit; a message ends at a multiple of the width, unless that is 16.
template <typename Unit>
COLL_DEVICE_CALL void gatherUnits(const Buffer &from, uint64_t offset, Vec16 *value) {
  Unit units[kVec / sizeof(Unit)];
  COLL_NO_UNROLL()
  for (uint32_t i = 0; i < kVec / sizeof(Unit); ++i) {
    const uint64_t at = offset + i * sizeof(Unit);
    units[i] = at < from.bytes ? *reinterpret_cast<const volatile Unit *>(from.at(at)) : Unit(0);
  }
  memcpy(value, units, sizeof *value);
}
template <typename Unit>
COLL_DEVICE_CALL void scatterUnits(const Buffer &to, uint64_t offset, const Vec16 &value) {
  Unit units[kVec / sizeof(Unit)];
  memcpy(units, &value, sizeof value);
  COLL_NO_UNROLL()
  for (uint32_t i = 0; i < kVec / sizeof(Unit); ++i)
    if (const uint64_t at = offset + i * sizeof(Unit); at < to.bytes)
      *reinterpret_cast<volatile Unit *>(to.at(at)) = units[i];
}

// The slow cases are separate functions, because a kernel loads and stores in many places.
COLL_DEVICE_CALL void loadSlowly(const Buffer &from, uint64_t offset, Vec16 *value) {
  switch (from.width) {
  case 8:
    return gatherUnits<uint64_t>(from, offset, value);
  case 4:
    return gatherUnits<uint32_t>(from, offset, value);
  case 2:
    return gatherUnits<uint16_t>(from, offset, value);
  default:
    return gatherUnits<uint8_t>(from, offset, value);
  }
}
COLL_DEVICE_CALL void storeSlowly(const Buffer &to, uint64_t offset, const Vec16 &value) {
  switch (to.width) {
  case 8:
    return scatterUnits<uint64_t>(to, offset, value);
  case 4:
    return scatterUnits<uint32_t>(to, offset, value);
  case 2:
    return scatterUnits<uint16_t>(to, offset, value);
  default:
    return scatterUnits<uint8_t>(to, offset, value);
  }
}

COLL_DEVICE Vec16 Buffer::load(uint64_t vector) const {
  const uint64_t offset = vector * kVec;
  if (width == kVec && offset + kVec <= bytes)
    return simt::loadGlobal16(at(offset));
  const Buffer self = *this; // taking its address would keep all of it in memory
  Vec16 value;
  loadSlowly(self, offset, &value);
  return value;
}
COLL_DEVICE void Buffer::store(uint64_t vector, const Vec16 &value) const {
  const uint64_t offset = vector * kVec;
  if (width == kVec && offset + kVec <= bytes)
    return simt::storeGlobal16(at(offset), value);
  const Buffer self = *this;
  const Vec16 copy = value;
  storeSlowly(self, offset, copy);
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_PLACE_CUH
