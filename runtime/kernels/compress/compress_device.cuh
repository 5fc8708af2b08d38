// compress_device.cuh - compressed messages (runtime/base/compressed_layout.h), compressed and
// expanded by a team of warps.
//
// A warp takes every n-th page. For each it
//   1. loads the page, or its compressed form, into one of two stages of shared memory by bulk
//      copies, a page ahead;
//   2. makes the other form in a third stage: lane c converts column c, which has 32 neighbouring
//      bytes of the warp in each of 128 steps, so that lanes exchange nothing but the sum of the
//      columns' lengths;
//   3. stores the result, or the page itself if it is Raw.
// When a message is made, an atomic addition gives each page the next free place in it. So pages
// are in any order, and no block waits for another.
// Tables and pages are checked here even though the host has checked them, and each is read once:
// nothing outside the message is read, and nothing outside the buffer is written.

#ifndef COLL_RUNTIME_KERNELS_COMPRESS_COMPRESS_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_COMPRESS_COMPRESS_DEVICE_CUH

#include "runtime/base/compressed_layout.h"
#include "runtime/kernels/pages/piece_device.cuh"

namespace coll::kernels {

// One warp's stages, in its part of the rings of the page copies.
class PageStages {
public:
  // No byte outside the source region is read.
  COLL_DEVICE PageStages(PageShared &shared, const char *source, uint64_t sourceBytes)
      : stages_(shared.stages), barriers_(shared), first_(reinterpret_cast<uintptr_t>(source)),
        last_(first_ + sourceBytes) {}

  // Starts the load of a page, the next one after the last that was loaded.
  COLL_DEVICE void load(const char *from, uint32_t bytes) {
    const uint32_t stage = loaded_++ % kIn;
    char *to = stages_ + stage * kLargeStageBytes;
    const Cover cover = coverOf({from, nullptr, bytes}, first_, last_);
    if (!cover.complete) {
      loadEnds(to + misalignment(from), from, bytes);
      simt::syncWarp();
    }
    if (simt::lane() != 0)
      return;
    barriers_.expect(stage, cover.bytes);
    if (cover.bytes != 0)
      barriers_.load(stage, to + cover.skip, cover.from, cover.bytes);
  }

  // Waits for the oldest load, and returns the place of the first byte of `from`.
  COLL_DEVICE const char *wait(const char *from) {
    const uint32_t stage = waited_++ % kIn;
    barriers_.wait(stage);
    return stages_ + stage * kLargeStageBytes + misalignment(from);
  }

  // The stage for the result; free after freeStages().
  COLL_DEVICE char *out() const { return stages_ + kIn * kLargeStageBytes; }

  // Call it when all lanes have written to out() the bytes that are stored next.
  COLL_DEVICE static void publish() {
    simt::fenceAsync();
    simt::syncWarp();
  }

  COLL_DEVICE static void store(char *to, const char *from, uint32_t bytes) {
    storePiece(to, from, bytes);
    if (simt::lane() == 0)
      simt::bulkCommit();
  }

  // Waits until the last store has read its stage.
  COLL_DEVICE static void freeStages() {
    if (simt::lane() == 0)
      simt::bulkWaitRead<0>();
    simt::syncWarp();
  }

  // Waits until every store is visible to this warp.
  COLL_DEVICE void finish() { barriers_.finish(); }

private:
  static constexpr uint32_t kIn = 2;
  static_assert(kIn <= kMaxLoads && (kIn + 1) * kLargeStageBytes <= kRingBytes &&
                kLargeStageBytes >= rt::kCompressPageBytes + rt::kColumnHeadsBytes);

  char *stages_;
  LoadBarriers barriers_; // one per stage
  uintptr_t first_, last_;
  uint32_t loaded_ = 0, waited_ = 0;
};

// One warp: the sum of the values of the lanes up to this one.
COLL_DEVICE uint32_t sumUpToLane(uint32_t value) {
  for (uint32_t delta = 1; delta < simt::kWarpThreads; delta *= 2) {
    const uint32_t below = simt::shuffleUp(value, delta);
    value += simt::lane() >= delta ? below : 0;
  }
  return value;
}

static_assert(rt::kCompressColumns == simt::kWarpThreads);

// Calls body(row) for each row; several rows at once keep loads in flight.
template <class Body>
COLL_DEVICE void forEachRow(Body body) {
  constexpr uint32_t kAtOnce = 8;
  COLL_NO_UNROLL()
  for (uint32_t row = 0; row < rt::kCompressRows; row += kAtOnce) {
    COLL_UNROLL()
    for (uint32_t i = 0; i < kAtOnce; ++i)
      body(row + i);
  }
}

// Byte `row` of this lane's column.
template <class Byte>
COLL_DEVICE Byte &columnByte(Byte *page, uint32_t row) {
  return page[row * rt::kCompressColumns + simt::lane()];
}

// ===-- compressing -------------------------------------------------------------===//

// One warp: converts a complete page to the form Columns, `from` at any address, `to` aligned to
// 16. Returns its length; if it is not smaller than the page, the columns are not written.
COLL_DEVICE uint32_t encodePage(char *to, const uint8_t *from) {
  uint32_t least = 255, most = 0;
  forEachRow([&](uint32_t row) {
    const uint32_t code = rt::codeOfByte(columnByte(from, row));
    least = minimum(least, code);
    most = code > most ? code : most;
  });
  uint32_t bits = 0;
  for (uint32_t span = most - least; span != 0; span >>= 1)
    ++bits;
  const uint32_t mine = rt::columnBytes(bits), upTo = sumUpToLane(mine);
  const uint32_t bytes = rt::kColumnHeadsBytes + simt::shuffle(upTo, simt::kWarpThreads - 1);
  if (bytes >= rt::kCompressPageBytes)
    return bytes;
  reinterpret_cast<rt::ColumnHead *>(to)[simt::lane()] = {static_cast<uint8_t>(least),
                                                          static_cast<uint8_t>(bits)};
  auto *words = reinterpret_cast<uint32_t *>(to + rt::kColumnHeadsBytes + upTo - mine);
  uint32_t word = 0, have = 0; // bits in `word`
  forEachRow([&](uint32_t row) {
    const uint32_t value = rt::codeOfByte(columnByte(from, row)) - least;
    word |= value << have;
    have += bits;
    if (have >= 32) {
      have -= 32;
      *words++ = word;
      word = value >> (bits - have);
    }
  });
  return bytes;
}

// The reserved space of a message under construction: units of 16 bytes in the lower bits, and
// pages in the upper bits. 0 between messages.
inline constexpr uint32_t kReservedPageShift = 20;
static_assert(rt::compressedBound(rt::kCompressMaxBytes) / 16 < 1u << kReservedPageShift &&
              rt::compressPages(rt::kCompressMaxBytes) < 1u << (32 - kReservedPageShift));

// One warp: reserves the place of a page of this length. The warp that reserves the last one writes
// the header.
COLL_DEVICE uint32_t reservePage(char *message, uint64_t rawBytes, uint32_t bytes,
                                 uint32_t *reserved) {
  const uint32_t units = static_cast<uint32_t>(rt::roundTo16(bytes) / 16);
  uint32_t before = 0;
  if (simt::lane() == 0)
    before = simt::fetchAdd(reserved, 1u << kReservedPageShift | units);
  before = simt::shuffle(before, 0);
  const uint32_t unit = before & ((1u << kReservedPageShift) - 1);
  const uint32_t at = rt::compressedTableBytes(rawBytes) + unit * 16;
  if (before >> kReservedPageShift == rt::compressPages(rawBytes) - 1 && simt::lane() == 0) {
    simt::storeGlobal16(message, {{rt::kCompressedMagic, rt::kCompressedVersion,
                                   static_cast<uint32_t>(rawBytes), at + units * 16}});
    simt::storeRelaxed(reserved, 0);
  }
  return at;
}

// One warp's part of a message; every warp of the team calls it, with its own part of shared
// memory. 1 to kCompressMaxBytes bytes, at any address; `message` has compressedBound(bytes) bytes,
// aligned to 16; `reserved`, in GPU memory, is 0, and is 0 again once all warps have done their
// part.
COLL_DEVICE_CALL void compressRun(char *message, const char *from, uint64_t bytes,
                                  uint32_t *reserved, WarpTeam team, PageShared &shared) {
  auto *table = reinterpret_cast<uint64_t *>(message + sizeof(rt::CompressedHeader));
  const uint32_t pages = rt::compressPages(bytes);
  PageStages stages(shared, from, bytes);
  const auto pageAt = [&](uint32_t page) { return from + uint64_t{page} * rt::kCompressPageBytes; };
  const auto load = [&](uint32_t page) {
    if (page < pages)
      stages.load(pageAt(page), rt::compressPageBytes(bytes, page));
  };
  load(team.index);
  for (uint32_t page = team.index; page < pages; page += team.count) {
    stages.freeStages();
    load(page + team.count);
    const char *raw = stages.wait(pageAt(page));
    const uint32_t rawPage = rt::compressPageBytes(bytes, page);
    uint32_t length = rawPage;
    if (rawPage == rt::kCompressPageBytes)
      length = minimum(length, encodePage(stages.out(), reinterpret_cast<const uint8_t *>(raw)));
    const bool smaller = length < rawPage;
    stages.publish();
    const uint32_t at = reservePage(message, bytes, length, reserved);
    stages.store(message + at, smaller ? stages.out() : raw, length);
    const auto form = smaller ? rt::PageForm::Columns : rt::PageForm::Raw;
    if (simt::lane() == 0) // a CompressedPage
      simt::storeRelaxed(table + page,
                         uint64_t{static_cast<uint16_t>(form)} << 48 | uint64_t{length} << 32 | at);
  }
  stages.finish();
}

// ===-- expanding ---------------------------------------------------------------===//

// One warp: restores a complete page from its form Columns of this length. False, with nothing
// written, if the columns have another length.
COLL_DEVICE bool decodePage(uint8_t *to, const char *from, uint32_t bytes) {
  const rt::ColumnHead head = reinterpret_cast<const rt::ColumnHead *>(from)[simt::lane()];
  const uint32_t bits = head.bits;
  const uint32_t mine =
      bits <= rt::kCompressMaxBits ? rt::columnBytes(bits) : rt::kCompressPageBytes;
  const uint32_t upTo = sumUpToLane(mine);
  if (rt::kColumnHeadsBytes + simt::shuffle(upTo, simt::kWarpThreads - 1) != bytes)
    return false;
  const auto *words =
      reinterpret_cast<const uint32_t *>(from + rt::kColumnHeadsBytes + upTo - mine);
  const uint32_t mask = (1u << bits) - 1;
  uint64_t held = 0;
  uint32_t have = 0; // bits in `held`
  forEachRow([&](uint32_t row) {
    if (have < bits) {
      held |= uint64_t{*words++} << have;
      have += 32;
    }
    const uint32_t code = (head.base + static_cast<uint32_t>(held & mask)) & 0xff;
    columnByte(to, row) = static_cast<uint8_t>(rt::byteOfCode(code));
    held >>= bits;
    have -= bits;
  });
  return true;
}

COLL_DEVICE void reportPage(uint64_t *errorWord, uint32_t number) {
  simt::storeRelaxed(errorWord, kernels::errorWord(KernelError::CompressedPage, number));
}

// The entry of page `number`. An invalid one is reported, and treated as an empty page at the
// start.
COLL_DEVICE rt::CompressedPage checkedEntry(const char *message, uint64_t messageBytes,
                                            uint32_t number, uint64_t rawBytes,
                                            uint64_t *errorWord) {
  const auto *table = reinterpret_cast<const uint64_t *>(message + sizeof(rt::CompressedHeader));
  const uint64_t word = simt::loadRelaxed(table + number);
  const rt::CompressedPage said{static_cast<uint32_t>(word), static_cast<uint16_t>(word >> 32),
                                static_cast<rt::PageForm>(word >> 48)};
  if (rt::isPagePlausible(said, number, rawBytes, messageBytes))
    return said;
  reportPage(errorWord, number);
  return {0, 0, rt::PageForm::Raw};
}

// One warp's part of expanding a message to `bytes` bytes at any address; every warp of the team
// calls it, with its own part of shared memory. The message is aligned to 16, has its table, and
// was acquired as for unpackSlice(). An invalid page is skipped and reported.
COLL_DEVICE_CALL void expandRun(char *to, uint64_t bytes, const char *message,
                                uint64_t messageBytes, uint64_t *errorWord, WarpTeam team,
                                PageShared &shared) {
  const uint32_t pages = rt::compressPages(bytes);
  PageStages stages(shared, message, messageBytes);
  // Loads the entries of this warp's next 32 pages, one per lane, because a read over the bus is
  // slow.
  for (uint32_t first = team.index; first < pages; first += simt::kWarpThreads * team.count) {
    const uint32_t mine = first + simt::lane() * team.count;
    rt::CompressedPage entry{0, 0, rt::PageForm::Raw};
    if (mine < pages)
      entry = checkedEntry(message, messageBytes, mine, bytes, errorWord);
    const uint32_t count =
        minimum((pages - first + team.count - 1) / team.count, simt::kWarpThreads);
    const auto load = [&](uint32_t i) {
      const uint32_t at = simt::shuffle(entry.at, i);
      stages.load(message + at, simt::shuffle(uint32_t{entry.bytes}, i));
    };
    stages.freeStages();
    load(0);
    for (uint32_t i = 0; i < count; ++i) {
      stages.freeStages();
      if (i + 1 < count)
        load(i + 1);
      const char *from = stages.wait(message);
      const uint32_t page = first + i * team.count;
      const uint32_t length = simt::shuffle(uint32_t{entry.bytes}, i);
      const uint32_t form = simt::shuffle(static_cast<uint32_t>(entry.form), i);
      char *const target = to + uint64_t{page} * rt::kCompressPageBytes;
      if (form == static_cast<uint32_t>(rt::PageForm::Raw)) {
        stages.store(target, from, length);
      } else if (decodePage(reinterpret_cast<uint8_t *>(stages.out()), from, length)) {
        stages.publish();
        stages.store(target, stages.out(), rt::kCompressPageBytes);
      } else if (simt::lane() == 0) {
        reportPage(errorWord, page);
      }
    }
  }
  stages.finish();
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_COMPRESS_COMPRESS_DEVICE_CUH
