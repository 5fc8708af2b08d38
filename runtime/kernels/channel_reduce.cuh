// channel_reduce.cuh - copies and reductions by one block, for GPU and host.
//
// Addresses that agree modulo 16 move by 16 bytes, several loads in flight per thread;
// the host places staged data so that they do. Others move by the widest unit that fits.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_REDUCE_CUH
#define COLL_RUNTIME_KERNELS_CHANNEL_REDUCE_CUH

#include "runtime/base/channel_layout.h"
#include "runtime/kernels/channel_types.cuh"
#include "runtime/kernels/page_copy_device.cuh"

#include <cstring>

namespace coll::kernels::channel {

using rt::ChannelItem;

// Which part of an item a block does.
struct Share {
  uint32_t index;
  uint32_t of;
};

// A part [begin, end) of an item's elements or bytes.
struct Range {
  uint64_t begin;
  uint64_t end;
};

inline constexpr uint64_t kGrainBytes = 4096;

// In whole grains, so that parts stay as aligned as the whole.
COLL_DEVICE Range rangeOf(Share share, uint64_t n, uint64_t grain) {
  uint64_t each = ((n + grain - 1) / grain + share.of - 1) / share.of * grain;
  uint64_t begin = each * share.index < n ? each * share.index : n;
  return {begin, begin + each < n ? begin + each : n};
}

inline constexpr int kCopyUnroll = 8; // loads in flight per thread

// Vectors; all addresses are aligned.
COLL_DEVICE void copyVectors(char *to, char *to2, const char *from, uint64_t bytes) {
  const uint64_t stride = uint64_t{simt::blockThreads()} * sizeof(simt::Vec16);
  const uint64_t first = uint64_t{simt::threadIndex()} * sizeof(simt::Vec16);
  for (uint64_t at = first; at < bytes; at += stride * kCopyUnroll) {
    simt::Vec16 held[kCopyUnroll];
    COLL_UNROLL(8)
    for (int u = 0; u < kCopyUnroll; ++u)
      if (at + u * stride < bytes)
        held[u] = simt::loadGlobal16(from + at + u * stride);
    COLL_UNROLL(8)
    for (int u = 0; u < kCopyUnroll; ++u)
      if (at + u * stride < bytes) {
        simt::storeGlobal16(to + at + u * stride, held[u]);
        if (to2)
          simt::storeGlobal16(to2 + at + u * stride, held[u]);
      }
  }
}

// Smaller units, where addresses do not agree; at most a few bytes elsewhere.
template <typename Unit>
COLL_DEVICE void copyUnits(char *dst, char *dst2, const char *src, uint64_t bytes) {
  const Unit *from = reinterpret_cast<const Unit *>(src);
  Unit *to = reinterpret_cast<Unit *>(dst), *to2 = reinterpret_cast<Unit *>(dst2);
  for (uint64_t i = simt::threadIndex(); i < bytes / sizeof(Unit); i += simt::blockThreads()) {
    Unit held = from[i];
    to[i] = held;
    if (to2)
      to2[i] = held;
  }
}

COLL_CHANNEL_CALL void copyShare(const ChannelItem &item, Share share) {
  Range part = rangeOf(share, item.bytes, kGrainBytes);
  char *to = static_cast<char *>(item.dst) + part.begin;
  char *to2 = item.dst2 ? static_cast<char *>(item.dst2) + part.begin : nullptr;
  const char *from = static_cast<const char *>(item.src[0]) + part.begin;
  const uint64_t bytes = part.end - part.begin;
  uint32_t apart = misalignment(to) ^ misalignment(from);
  if (to2)
    apart |= misalignment(to) ^ misalignment(to2);
  if (apart != 0) {
    if (((apart | misalignment(to) | bytes) & 3u) == 0)
      copyUnits<uint32_t>(to, to2, from, bytes);
    else
      copyUnits<uint8_t>(to, to2, from, bytes);
    return;
  }
  uint64_t head = (16u - misalignment(to)) & 15u;
  head = head < bytes ? head : bytes;
  const uint64_t body = (bytes - head) & ~uint64_t{15}, done = head + body;
  copyUnits<uint8_t>(to, to2, from, head);
  copyVectors(to + head, to2 ? to2 + head : nullptr, from + head, body);
  copyUnits<uint8_t>(to + done, to2 ? to2 + done : nullptr, from + done, bytes - done);
}

// Rows in one sequence of units, so that short rows keep all threads busy too.
template <typename Unit>
COLL_DEVICE void copyRowUnits(const ChannelItem &item, Share share) {
  constexpr int kUnroll = 4;
  const uint64_t perRow = item.bytes / sizeof(Unit);
  const Range part = rangeOf(share, perRow * item.rows, kGrainBytes / sizeof(Unit));
  const char *from = static_cast<const char *>(item.src[0]);
  char *to = static_cast<char *>(item.dst);
  const uint64_t stride = simt::blockThreads();
  for (uint64_t at = part.begin + simt::threadIndex(); at < part.end; at += stride * kUnroll) {
    Unit held[kUnroll];
    COLL_UNROLL(4)
    for (int u = 0; u < kUnroll; ++u)
      if (const uint64_t i = at + u * stride; i < part.end)
        held[u] = *reinterpret_cast<const Unit *>(from + i / perRow * item.srcPitch +
                                                  i % perRow * sizeof(Unit));
    COLL_UNROLL(4)
    for (int u = 0; u < kUnroll; ++u)
      if (const uint64_t i = at + u * stride; i < part.end)
        *reinterpret_cast<Unit *>(to + i / perRow * item.dstPitch + i % perRow * sizeof(Unit)) =
            held[u];
  }
}

COLL_CHANNEL_CALL void copyRowsShare(const ChannelItem &item, Share share) {
  if (item.bytes == 0)
    return;
  const uint64_t odd = item.bytes | item.dstPitch | item.srcPitch | misalignment(item.dst) |
                       misalignment(item.src[0]);
  if (odd % 16 == 0)
    copyRowUnits<simt::Vec16>(item, share);
  else if (odd % 4 == 0)
    copyRowUnits<uint32_t>(item, share);
  else
    copyRowUnits<uint8_t>(item, share);
}

// One kind of reduction over a block's share of an item.
template <typename Type, typename Op>
struct Reducer {
  using Stored = typename Type::Stored;
  using Acc = typename Type::Acc;
  static constexpr uint32_t kElems = sizeof(simt::Vec16) / sizeof(Stored); // of a vector
  static constexpr int kUnroll = sizeof(Stored) == 1 ? 2 : 4;

  const ChannelItem &item;
  const void *const *sources;

  COLL_DEVICE Acc finish(Acc value) const {
    if constexpr (std::is_floating_point_v<Acc>)
      return item.divisor ? value / static_cast<Acc>(item.divisor) : value;
    else
      return value;
  }

  COLL_DEVICE void elements(uint64_t begin, uint64_t end) const {
    for (uint64_t i = begin + simt::threadIndex(); i < end; i += simt::blockThreads()) {
      Acc acc = Type::load(static_cast<const Stored *>(sources[0])[i]);
      for (uint32_t s = 1; s < item.numSources; ++s)
        acc = Op::apply(acc, Type::load(static_cast<const Stored *>(sources[s])[i]));
      Stored value = Type::store(finish(acc));
      static_cast<Stored *>(item.dst)[i] = value;
      if (item.dst2)
        static_cast<Stored *>(item.dst2)[i] = value;
    }
  }

  COLL_DEVICE simt::Vec16 load(uint32_t source, uint64_t i) const {
    return simt::loadGlobal16(static_cast<const Stored *>(sources[source]) + i);
  }

  // The elements of a vector.
  struct Parts {
    Stored at[kElems];
  };
  COLL_DEVICE static Parts split(const simt::Vec16 &vector) {
    Parts parts;
    memcpy(&parts, &vector, sizeof(parts));
    return parts;
  }

  COLL_DEVICE void store(uint64_t i, const Acc *acc) const {
    Parts parts;
    COLL_UNROLL(16)
    for (uint32_t k = 0; k < kElems; ++k)
      parts.at[k] = Type::store(finish(acc[k]));
    simt::Vec16 out;
    memcpy(&out, &parts, sizeof(out));
    simt::storeGlobal16(static_cast<Stored *>(item.dst) + i, out);
    if (item.dst2)
      simt::storeGlobal16(static_cast<Stored *>(item.dst2) + i, out);
  }

  // Two sources, the common case: all loads are in flight together, one of them over the bus.
  COLL_DEVICE void pairs(uint64_t begin, uint64_t end) const {
    const uint64_t stride = uint64_t{simt::blockThreads()} * kElems;
    for (uint64_t i = begin + simt::threadIndex() * kElems; i < end; i += stride * kUnroll) {
      simt::Vec16 first[kUnroll], second[kUnroll];
      COLL_UNROLL(4)
      for (int u = 0; u < kUnroll; ++u)
        if (i + u * stride < end) {
          first[u] = load(0, i + u * stride);
          second[u] = load(1, i + u * stride);
        }
      COLL_UNROLL(4)
      for (int u = 0; u < kUnroll; ++u) {
        if (i + u * stride >= end)
          continue;
        const Parts a = split(first[u]), b = split(second[u]);
        Acc acc[kElems];
        COLL_UNROLL(16)
        for (uint32_t k = 0; k < kElems; ++k)
          acc[k] = Op::apply(Type::load(a.at[k]), Type::load(b.at[k]));
        store(i + u * stride, acc);
      }
    }
  }

  COLL_DEVICE void many(uint64_t begin, uint64_t end) const {
    const uint64_t stride = uint64_t{simt::blockThreads()} * kElems;
    for (uint64_t i = begin + simt::threadIndex() * kElems; i < end; i += stride) {
      Parts next = split(load(0, i));
      Acc acc[kElems];
      COLL_UNROLL(16)
      for (uint32_t k = 0; k < kElems; ++k)
        acc[k] = Type::load(next.at[k]);
      for (uint32_t s = 1; s < item.numSources; ++s) {
        next = split(load(s, i));
        COLL_UNROLL(16)
        for (uint32_t k = 0; k < kElems; ++k)
          acc[k] = Op::apply(acc[k], Type::load(next.at[k]));
      }
      store(i, acc);
    }
  }

  COLL_DEVICE bool alike() const {
    const uint32_t at = misalignment(item.dst);
    uint32_t apart = item.dst2 ? at ^ misalignment(item.dst2) : 0;
    for (uint32_t s = 0; s < item.numSources; ++s)
      apart |= at ^ misalignment(sources[s]);
    return apart == 0;
  }

  COLL_DEVICE void run(Share share) const {
    Range part = rangeOf(share, item.bytes / sizeof(Stored), kGrainBytes / sizeof(Stored));
    if (!alike()) {
      elements(part.begin, part.end);
      return;
    }
    uint64_t head = part.begin + ((16u - misalignment(item.dst)) & 15u) / sizeof(Stored);
    head = head < part.end ? head : part.end;
    const uint64_t tail = head + (part.end - head) / kElems * kElems;
    elements(part.begin, head);
    if (item.numSources == 2)
      pairs(head, tail);
    else
      many(head, tail);
    elements(tail, part.end);
  }
};

template <typename Type, typename Op>
COLL_CHANNEL_CALL void reduceAs(const ChannelItem &item, const void *const *sources, Share share) {
  Reducer<Type, Op>{item, sources}.run(share);
}

// False for a type, reduction or count that does not exist.
COLL_DEVICE bool reduceShare(const ChannelItem &item, const void *const *sources, Share share) {
  if (item.numSources == 0 || item.numSources > rt::kChannelMaxSources)
    return false;
  return visitReduction(item.dtype, item.reduction, [&](auto type, auto op) {
    reduceAs<decltype(type), decltype(op)>(item, sources, share);
  });
}

} // namespace coll::kernels::channel

#endif // COLL_RUNTIME_KERNELS_CHANNEL_REDUCE_CUH
