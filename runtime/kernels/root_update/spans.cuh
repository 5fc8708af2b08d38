// spans.cuh - the places of the root update's elements, and functions that move them.
//
// Threads work on *units*: as many neighbouring elements as fill 16 bytes of the narrowest
// type. A unit belongs to one span at most, since spans begin at multiples of kUpdateGrain.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_SPANS_CUH
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_SPANS_CUH

#include "runtime/kernels/root_update/plan.h"
#include "runtime/kernels/simt/simt.h"

#include <cstring>

namespace coll::kernels::root_update {

COLL_DEVICE bool isAligned16(const void *address) {
  return reinterpret_cast<uintptr_t>(address) % sizeof(simt::Vec16) == 0;
}

// n elements in registers: whole vectors.
template <typename T, uint32_t n>
struct alignas(16) Elements {
  static constexpr uint32_t kVectors = n * sizeof(T) / sizeof(simt::Vec16);
  static_assert(kVectors * sizeof(simt::Vec16) == n * sizeof(T));
  T at[n];
};

// From and to 16-byte aligned global memory.
template <typename T, uint32_t n>
COLL_DEVICE Elements<T, n> loadVectors(const void *from) {
  simt::Vec16 vectors[Elements<T, n>::kVectors];
  COLL_UNROLL()
  for (uint32_t i = 0; i < Elements<T, n>::kVectors; ++i)
    vectors[i] = simt::loadGlobal16(static_cast<const char *>(from) + i * sizeof(simt::Vec16));
  Elements<T, n> to;
  memcpy(&to, vectors, sizeof(to));
  return to;
}
template <typename T, uint32_t n>
COLL_DEVICE void storeVectors(void *to, Elements<T, n> from) {
  simt::Vec16 vectors[Elements<T, n>::kVectors];
  memcpy(vectors, &from, sizeof(from));
  COLL_UNROLL()
  for (uint32_t i = 0; i < Elements<T, n>::kVectors; ++i)
    simt::storeGlobal16(static_cast<char *>(to) + i * sizeof(simt::Vec16), vectors[i]);
}

// The first `count` elements of a unit, aligned or not; a load sets the others to 0.
template <bool kWhole, uint32_t n, typename T>
COLL_DEVICE Elements<T, n> load(const T *from, uint32_t count) {
  if constexpr (kWhole) {
    return loadVectors<T, n>(from);
  } else {
    const bool vectors = count == n && isAligned16(from);
    Elements<T, n> to = {};
    if (vectors)
      to = loadVectors<T, n>(from);
    COLL_UNROLL()
    for (uint32_t i = 0; i < n; ++i)
      if (!vectors && i < count)
        to.at[i] = from[i];
    return to;
  }
}
template <bool kWhole, typename T, uint32_t n>
COLL_DEVICE void store(T *to, Elements<T, n> from, uint32_t count) {
  if constexpr (kWhole) {
    storeVectors(to, from);
  } else {
    if (count == n && isAligned16(to))
      return storeVectors(to, from);
    COLL_UNROLL()
    for (uint32_t i = 0; i < n; ++i)
      if (i < count)
        to[i] = from.at[i];
  }
}

// Positions [begin, end) of a root's list.
struct Range {
  uint64_t begin;
  uint64_t end;
};

// Walks forward through a root's list.
class Cursor {
public:
  // Starts at the first span that ends after `position`.
  COLL_DEVICE Cursor(const RootTable &table, uint32_t root, uint64_t position)
      : spans_(table.spans ? table.spans : table.shards), next_(table.first[root]),
        last_(table.first[root + 1]) {
    uint32_t high = last_;
    while (next_ < high) {
      const uint32_t middle = next_ + (high - next_) / 2;
      if (spans_[middle].position + spans_[middle].count <= position)
        next_ = middle + 1;
      else
        high = middle;
    }
    step();
  }

  // The number of elements of a unit at `position`: 0 in a gap.
  COLL_DEVICE uint32_t seek(uint64_t position, uint32_t unit) {
    while (position >= span_.position + span_.count && next_ < last_)
      step();
    if (position < span_.position || position >= span_.position + span_.count)
      return 0;
    const uint64_t left = span_.position + span_.count - position;
    return left < unit ? static_cast<uint32_t>(left) : unit;
  }

  // Whether the range is inside the current span.
  COLL_DEVICE bool covers(Range range) const {
    return range.begin >= span_.position && range.end <= span_.position + span_.count;
  }

  // Offset of the element at `position`, which is in the current span.
  COLL_DEVICE uint64_t gradient(uint64_t position) const {
    return position - span_.position + span_.gradient;
  }
  COLL_DEVICE uint64_t parameter(uint64_t position) const {
    return position - span_.position + span_.parameter;
  }
  COLL_DEVICE uint64_t state(uint64_t position) const {
    return position - span_.position + span_.state;
  }

private:
  COLL_DEVICE void step() {
    if (next_ < last_)
      span_ = spans_[next_++];
  }

  const UpdateSpan *spans_;
  uint32_t next_, last_;
  UpdateSpan span_ = {};
};

} // namespace coll::kernels::root_update

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_SPANS_CUH
