// copy_device.cuh - the kernel behind copy.h.
//
// 1. Blocks take units in turn, so that all blocks are at about the same place of the table, whose
//    order is that of the permutation. Local units are spread evenly among the others.
// 2. A unit is looked up in the table; every thread does so by itself, without a barrier.
// 3. The unit's words are distributed over neighbouring threads; a thread loads a batch, then
//    stores it.

#ifndef COLL_RUNTIME_KERNELS_RESHARD_COPY_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_RESHARD_COPY_DEVICE_CUH

#include "runtime/kernels/reshard/copy.h"
#include "runtime/kernels/reshard/tuning.h"
#include "runtime/kernels/simt/simt.h"

namespace coll::kernels {

template <typename Word>
COLL_DEVICE Word loadWord(const char *from) {
  return *reinterpret_cast<const Word *>(from);
}
template <>
COLL_DEVICE simt::Vec16 loadWord<simt::Vec16>(const char *from) {
  return simt::loadGlobal16(from);
}
template <typename Word>
COLL_DEVICE void storeWord(char *to, Word word) {
  *reinterpret_cast<Word *>(to) = word;
}
template <>
COLL_DEVICE void storeWord<simt::Vec16>(char *to, simt::Vec16 word) {
  simt::storeGlobal16(to, word);
}

// The place of a word, from the entry's addresses.
struct WordPlace {
  int64_t src, dst;
};

COLL_DEVICE WordPlace placeOf(const ReshardEntry &entry, uint32_t row, uint32_t column) {
  WordPlace place;
  place.src = place.dst = static_cast<int64_t>(static_cast<uint64_t>(column) * entry.width);
  for (uint32_t loop = entry.numLoops; loop-- > 0;) {
    uint32_t at = row;
    if (loop != 0) {
      row = at / entry.count[loop];
      at -= row * entry.count[loop];
    }
    place.src += static_cast<int64_t>(at) * entry.srcStride[loop];
    place.dst += static_cast<int64_t>(at) * entry.dstStride[loop];
  }
  return place;
}

template <typename Word, uint32_t batch, uint32_t unitWords>
COLL_DEVICE void copyUnit(const ReshardEntry &entry, uint64_t unit) {
  const uint64_t begin = unit * unitWords;
  const uint64_t rest = entry.items - begin;
  const auto words = static_cast<uint32_t>(rest < unitWords ? rest : unitWords);
  const uint32_t perRow = entry.perRow;
  const auto row = static_cast<uint32_t>(begin / perRow);
  const auto column = static_cast<uint32_t>(begin - uint64_t{row} * perRow);
  const uint32_t threads = simt::blockThreads();
  for (uint32_t first = simt::threadIndex(); first < words; first += threads * batch) {
    Word held[batch];
    int64_t to[batch];
    COLL_UNROLL()
    for (uint32_t i = 0; i < batch; ++i) {
      const uint32_t word = first + i * threads;
      if (word < words) {
        const uint32_t at = column + word, down = at / perRow;
        const WordPlace place = placeOf(entry, row + down, at - down * perRow);
        to[i] = place.dst;
        held[i] = loadWord<Word>(entry.src + place.src);
      }
    }
    COLL_UNROLL()
    for (uint32_t i = 0; i < batch; ++i)
      if (first + i * threads < words)
        storeWord<Word>(entry.dst + to[i], held[i]);
  }
}

// The last entry whose first unit is at or before `unit`.
COLL_DEVICE uint32_t findEntry(const ReshardEntry *entries, uint32_t count, uint64_t unit) {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = (low + high) / 2;
    if (entries[middle].firstUnit <= unit)
      low = middle;
    else
      high = middle;
  }
  return low;
}

template <typename Word>
COLL_DEVICE void copyNarrowUnit(const ReshardEntry &entry, uint64_t unit) {
  // More than four words of eight bytes would not fit into the registers.
  constexpr uint32_t batch = sizeof(Word) == 8 ? kReshardBatch : kReshardNarrowBatch;
  copyUnit<Word, batch, kReshardNarrowUnit>(entry, unit);
}

COLL_DEVICE void copyReshardUnit(const ReshardEntry &entry, uint64_t unit) {
  switch (entry.width) {
  case 16:
    return copyUnit<simt::Vec16, kReshardBatch, kReshardUnit>(entry, unit);
  case 8:
    return copyNarrowUnit<uint64_t>(entry, unit);
  case 4:
    return copyNarrowUnit<uint32_t>(entry, unit);
  case 2:
    return copyNarrowUnit<uint16_t>(entry, unit);
  default:
    return copyNarrowUnit<uint8_t>(entry, unit);
  }
}

COLL_DEVICE void reshardCopyKernel(const ReshardCopy &copy) {
  const ReshardCounts &counts = copy.counts;
  const uint64_t units = counts.remoteUnits + counts.localUnits;
  const uint64_t step = uint64_t{copy.parts} * simt::gridBlocks();
  for (uint64_t turn = copy.part + uint64_t{copy.parts} * simt::blockIndex(); turn < units;
       turn += step) {
    // The number of local units before this turn, and before the next.
    const uint64_t local = turn * counts.localUnits / units;
    const bool isLocal = (turn + 1) * counts.localUnits / units != local;
    const uint64_t unit = isLocal ? local : turn - local;
    const ReshardEntry *entries = copy.entries + (isLocal ? counts.remoteEntries : 0);
    const uint32_t count = isLocal ? counts.localEntries : counts.remoteEntries;
    const ReshardEntry &entry = entries[findEntry(entries, count, unit)];
    copyReshardUnit(entry, unit - entry.firstUnit);
  }
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_RESHARD_COPY_DEVICE_CUH
