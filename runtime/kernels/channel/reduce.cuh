// reduce.cuh - reductions and copies of rows by one block, for GPU and host.
//
// Addresses that are equal modulo 16 are moved by 16 bytes, with several loads in flight per
// thread; the host places staged data so that they are. Others are moved by the widest unit that
// fits.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_REDUCE_CUH
#define COLL_RUNTIME_KERNELS_CHANNEL_REDUCE_CUH

#include "runtime/base/channel_layout.h"
#include "runtime/kernels/channel/types.cuh"
#include "runtime/kernels/pages/page_copy_device.cuh"

#include <cstring>

namespace coll::kernels::channel {

using rt::ChannelItem;

// The last warps of a block are its fetcher and its publisher (channel_device.cuh).
inline constexpr uint32_t kControlThreads = 2 * simt::kWarpThreads;
COLL_DEVICE uint32_t workerThreads() { return simt::blockThreads() - kControlThreads; }

// The part of an item that a block does.
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

// Divides the range at multiples of `grain`, so that parts are as aligned as the item.
COLL_DEVICE Range rangeOf(Share share, uint64_t n, uint64_t grain) {
  uint64_t each = ((n + grain - 1) / grain + share.of - 1) / share.of * grain;
  uint64_t begin = each * share.index < n ? each * share.index : n;
  return {begin, begin + each < n ? begin + each : n};
}

// Treats the rows as one sequence of units, so that short rows keep all threads busy too.
template <typename Unit>
COLL_DEVICE void copyRowUnits(const ChannelItem &item, Share share) {
  constexpr int kUnroll = 4;
  const uint64_t perRow = item.bytes / sizeof(Unit);
  const Range part = rangeOf(share, perRow * item.rows, kGrainBytes / sizeof(Unit));
  const char *from = static_cast<const char *>(item.src[0]);
  char *to = static_cast<char *>(item.dst);
  const uint64_t stride = workerThreads();
  for (uint64_t at = part.begin + simt::threadIndex(); at < part.end; at += stride * kUnroll) {
    Unit held[kUnroll];
    COLL_UNROLL()
    for (int u = 0; u < kUnroll; ++u)
      if (const uint64_t i = at + u * stride; i < part.end)
        held[u] = *reinterpret_cast<const Unit *>(from + i / perRow * item.srcPitch +
                                                  i % perRow * sizeof(Unit));
    COLL_UNROLL()
    for (int u = 0; u < kUnroll; ++u)
      if (const uint64_t i = at + u * stride; i < part.end)
        *reinterpret_cast<Unit *>(to + i / perRow * item.dstPitch + i % perRow * sizeof(Unit)) =
            held[u];
  }
}

COLL_DEVICE_CALL void copyRowsShare(const ChannelItem &item, Share share) {
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

// One reduction of a block's share of an item.
template <typename Type, typename Op>
struct Reducer {
  using Stored = typename Type::Stored;
  using Acc = typename Type::Acc;
  static constexpr uint32_t kElems = sizeof(simt::Vec16) / sizeof(Stored); // of a vector
  static constexpr int kUnroll = sizeof(Stored) == 1 ? 2 : 4;

  const ChannelItem &item;
  const void *const *sources;

  COLL_DEVICE Acc finish(Acc value) const {
    if constexpr (std::is_same_v<Op, SumOp>)
      return item.divisor ? divide(value, item.divisor) : value;
    else
      return value;
  }

  COLL_DEVICE void elements(uint64_t begin, uint64_t end) const {
    for (uint64_t i = begin + simt::threadIndex(); i < end; i += workerThreads()) {
      Acc acc = Type::load(static_cast<const Stored *>(sources[0])[i]);
      for (uint32_t s = 1; s < item.numSources; ++s)
        acc = Op::apply(acc, Type::load(static_cast<const Stored *>(sources[s])[i]));
      static_cast<Stored *>(item.dst)[i] = Type::store(finish(acc));
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
    COLL_UNROLL()
    for (uint32_t k = 0; k < kElems; ++k)
      parts.at[k] = Type::store(finish(acc[k]));
    simt::Vec16 out;
    memcpy(&out, &parts, sizeof(out));
    simt::storeGlobal16(static_cast<Stored *>(item.dst) + i, out);
  }

  // Two sources, the common case: all loads are in flight together, one of them over the bus.
  COLL_DEVICE void pairs(uint64_t begin, uint64_t end) const {
    const uint64_t stride = uint64_t{workerThreads()} * kElems;
    for (uint64_t i = begin + simt::threadIndex() * kElems; i < end; i += stride * kUnroll) {
      simt::Vec16 first[kUnroll], second[kUnroll];
      COLL_UNROLL()
      for (int u = 0; u < kUnroll; ++u)
        if (i + u * stride < end) {
          first[u] = load(0, i + u * stride);
          second[u] = load(1, i + u * stride);
        }
      COLL_UNROLL()
      for (int u = 0; u < kUnroll; ++u) {
        if (i + u * stride >= end)
          continue;
        const Parts a = split(first[u]), b = split(second[u]);
        Acc acc[kElems];
        COLL_UNROLL()
        for (uint32_t k = 0; k < kElems; ++k)
          acc[k] = Op::apply(Type::load(a.at[k]), Type::load(b.at[k]));
        store(i + u * stride, acc);
      }
    }
  }

  COLL_DEVICE void many(uint64_t begin, uint64_t end) const {
    const uint64_t stride = uint64_t{workerThreads()} * kElems;
    for (uint64_t i = begin + simt::threadIndex() * kElems; i < end; i += stride) {
      Parts next = split(load(0, i));
      Acc acc[kElems];
      COLL_UNROLL()
      for (uint32_t k = 0; k < kElems; ++k)
        acc[k] = Type::load(next.at[k]);
      for (uint32_t s = 1; s < item.numSources; ++s) {
        next = split(load(s, i));
        COLL_UNROLL()
        for (uint32_t k = 0; k < kElems; ++k)
          acc[k] = Op::apply(acc[k], Type::load(next.at[k]));
      }
      store(i, acc);
    }
  }

  COLL_DEVICE bool equallyMisaligned() const {
    const uint32_t at = misalignment(item.dst);
    uint32_t apart = 0;
    for (uint32_t s = 0; s < item.numSources; ++s)
      apart |= at ^ misalignment(sources[s]);
    return apart == 0;
  }

  COLL_DEVICE void run(Share share) const {
    Range part = rangeOf(share, item.bytes / sizeof(Stored), kGrainBytes / sizeof(Stored));
    if (!equallyMisaligned()) {
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
COLL_DEVICE_CALL void reduceAs(const ChannelItem &item, const void *const *sources, Share share) {
  Reducer<Type, Op>{item, sources}.run(share);
}

// Requires that the item's type, reduction and number of sources are valid.
COLL_DEVICE void reduceShare(const ChannelItem &item, const void *const *sources, Share share) {
  visitReduction(item.dtype, item.reduction, [&](auto type, auto op) {
    reduceAs<decltype(type), decltype(op)>(item, sources, share);
  });
}

} // namespace coll::kernels::channel

#endif // COLL_RUNTIME_KERNELS_CHANNEL_REDUCE_CUH
