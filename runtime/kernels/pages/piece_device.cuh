// piece_device.cuh - one piece of a page: from its descriptor into a stage of shared memory, and
// from there to its destination. Both ways of distributing pieces use it.

#ifndef COLL_RUNTIME_KERNELS_PAGES_PIECE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PAGES_PIECE_DEVICE_CUH

#include "runtime/base/unpack_layout.h"
#include "runtime/kernels/error_word.h"
#include "runtime/kernels/pages/unpack_tuning.h"
#include "runtime/kernels/simt/simt.h"

namespace coll::kernels {

enum class PageDirection { Unpack, Pack };

// The two sides of a copy; any alignment.
struct PageRegions {
  char *bounce;
  uint64_t bounceBytes;
  char *buffer;
  uint64_t bufferBytes;
};

template <PageDirection direction>
COLL_DEVICE const char *sourceOf(const PageRegions &regions) {
  return direction == PageDirection::Unpack ? regions.bounce : regions.buffer;
}
template <PageDirection direction>
COLL_DEVICE uint64_t sourceBytesOf(const PageRegions &regions) {
  return direction == PageDirection::Unpack ? regions.bounceBytes : regions.bufferBytes;
}

// The warps that share a list: this warp's number among them, and their number.
struct WarpTeam {
  uint32_t index;
  uint32_t count;
};

// A part of a page. bytes may be 0: nothing to copy.
struct Piece {
  const char *source;
  char *target;
  uint32_t bytes;
};

// The data about a piece that is needed between load and store; in shared memory.
struct alignas(16) StageNote {
  char *target;
  uint32_t bytes;
  uint32_t start; // of the piece within the stage
};

// A warp's part of the shared memory: stages, notes about their content, and barriers for loads in
// flight. Barriers live from beginPageCopies() to the end of the kernel, for any number of copies:
// if they were initialised again, a race checker would report earlier loads as unfinished.
struct alignas(128) PageShared {
  char stages[kRingBytes];
  StageNote notes[kMaxStages];
  simt::Barrier barriers[kMaxLoads];
  uint32_t parities; // bit b: of barrier b's next phase
};

COLL_DEVICE uint32_t misalignment(const void *address) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)) & 15;
}
COLL_DEVICE uint32_t minimum(uint32_t a, uint32_t b) { return a < b ? a : b; }

// A checked descriptor: one that points outside becomes an empty page at the start.
struct Page {
  uint32_t len, bounceOff;
  uint64_t bufferOff;
};

// `number` is reported with an error; a descriptor that is not `used` counts as empty.
COLL_DEVICE Page checkedPage(const simt::Vec16 &descriptor, bool used, uint32_t number,
                             const PageRegions &regions, uint64_t *errorWord) {
  Page page{used ? descriptor.word[1] : 0, descriptor.word[0],
            uint64_t{descriptor.word[3]} << 32 | descriptor.word[2]};
  const bool good = uint64_t{page.bounceOff} + page.len <= regions.bounceBytes &&
                    page.bufferOff <= regions.bufferBytes &&
                    page.len <= regions.bufferBytes - page.bufferOff;
  if (!good) {
    if (page.len != 0 && errorWord)
      simt::storeRelaxed(errorWord, kernels::errorWord(KernelError::PageRange, number));
    page = {0, 0, 0};
  }
  return page;
}

// Pieces of a page. Inner borders are at aligned addresses of the target, and the last piece may be
// up to 15 bytes longer: a page of pieceBytes is one piece at any address.
template <uint32_t pieceBytes>
COLL_DEVICE uint32_t piecesOf(uint32_t len) {
  return len / pieceBytes + (len % pieceBytes != 0);
}

// Piece `k` of the page of lane `from`; each lane may ask for another one.
template <PageDirection direction, uint32_t pieceBytes>
COLL_DEVICE Piece pieceOf(const Page &page, uint32_t from, uint32_t k, const PageRegions &regions) {
  const uint32_t len = simt::shuffle(page.len, from);
  char *bounce = regions.bounce + simt::shuffle(page.bounceOff, from);
  char *buffer = regions.buffer + simt::shuffle(page.bufferOff, from);
  const char *source = direction == PageDirection::Unpack ? bounce : buffer;
  char *target = direction == PageDirection::Unpack ? buffer : bounce;
  const uint32_t shift = misalignment(target), whole = k * pieceBytes;
  const uint32_t begin = k == 0 ? 0 : whole - shift;
  const uint32_t end = len - whole <= pieceBytes ? len : whole + pieceBytes - shift;
  return {source + begin, target + begin, end - begin};
}

// The part of a piece that the engine loads: `bytes` from `from` on, `skip` bytes into the stage.
struct Cover {
  const char *from;
  uint32_t skip, bytes;
  bool complete; // else lanes have to load the ends
};

// The 16-aligned cover, or the aligned inside if the cover leaves [first, last).
COLL_DEVICE Cover coverOf(const Piece &piece, uintptr_t first, uintptr_t last) {
  const uint32_t start = misalignment(piece.source), used = start + piece.bytes;
  const char *from = piece.source - start;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(from);
  const uint32_t whole = (used + 15) & ~15u;
  if (begin >= first && begin + whole <= last)
    return {from, 0, whole, true};
  const uint32_t skip = start == 0 ? 0 : 16, end = used & ~15u;
  return {from + skip, skip, end > skip ? end - skip : 0, false};
}

// One warp: loads the ends that coverOf() left out into the piece's place in the stage.
COLL_DEVICE void loadEnds(char *to, const char *source, uint32_t bytes) {
  const uint32_t head = minimum((16 - misalignment(source)) & 15, bytes);
  const uint32_t tail = (bytes - head) & 15;
  const uint32_t i = simt::lane() < 16 ? simt::lane() : bytes - tail + simt::lane() - 16;
  if (simt::lane() < 16 ? simt::lane() < head : simt::lane() - 16 < tail)
    to[i] = source[i];
  // The engine writes these bytes of the stage some time later.
  simt::fenceAsync();
}

// The 16 bytes at byte 4 * word + bits / 8 of low:high.
template <uint32_t word>
COLL_DEVICE simt::Vec16 shifted(const simt::Vec16 &low, const simt::Vec16 &high, uint32_t bits) {
  simt::Vec16 out;
  COLL_UNROLL()
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t a = word + i, b = a + 1;
    out.word[i] = simt::funnelShift(a < 4 ? low.word[a & 3] : high.word[a & 3],
                                    b < 4 ? low.word[b & 3] : high.word[b & 3], bits);
  }
  return out;
}

// `count` vectors from shared memory at from + 4 * word + bits / 8, from aligned. All loads
// of a round come before its stores.
template <uint32_t word>
COLL_DEVICE void storeShifted(char *to, const char *from, uint32_t count, uint32_t bits) {
  constexpr uint32_t kRound = 2;
  for (uint32_t i = simt::lane(); i < count; i += kRound * simt::kWarpThreads) {
    simt::Vec16 low[kRound], high[kRound];
    COLL_UNROLL()
    for (uint32_t k = 0; k < kRound; ++k)
      if (i + k * simt::kWarpThreads < count) {
        low[k] = simt::load16(from + 16 * (i + k * simt::kWarpThreads));
        high[k] = simt::load16(from + 16 * (i + k * simt::kWarpThreads) + 16);
      }
    COLL_UNROLL()
    for (uint32_t k = 0; k < kRound; ++k)
      if (i + k * simt::kWarpThreads < count)
        simt::storeGlobal16(to + uint64_t{16} * (i + k * simt::kWarpThreads),
                            shifted<word>(low[k], high[k], bits));
  }
}

// One warp: whole vectors to an aligned place.
COLL_DEVICE void storeVectors(char *to, const char *from, uint32_t vectors) {
  const uint32_t shift = misalignment(from);
  from -= shift;
  if (shift == 0) {
    if (simt::lane() == 0 && vectors != 0)
      simt::bulkStore(to, from, vectors * 16);
    return;
  }
  const uint32_t bits = shift % 4 * 8;
  switch (shift / 4) {
  case 0:
    return storeShifted<0>(to, from, vectors, bits);
  case 1:
    return storeShifted<1>(to, from, vectors, bits);
  case 2:
    return storeShifted<2>(to, from, vectors, bits);
  default:
    return storeShifted<3>(to, from, vectors, bits);
  }
}

// One warp: stores a piece from shared memory; `from` is not equally aligned, or the piece is not
// whole vectors. Lane 0 may leave a bulk store to be committed.
COLL_DEVICE void storePiece(char *to, const char *from, uint32_t bytes) {
  const uint32_t head = minimum((16 - misalignment(to)) & 15, bytes);
  const uint32_t vectors = (bytes - head) / 16, tail = (bytes - head) % 16;
  // The ends are loaded first and stored last, so that nothing waits for them.
  const bool hasEnd = simt::lane() < 16 ? simt::lane() < head : simt::lane() - 16 < tail;
  const uint32_t end = simt::lane() < 16 ? simt::lane() : bytes - tail + simt::lane() - 16;
  const char byte = hasEnd ? from[end] : 0;
  storeVectors(to + head, from + head, vectors);
  if (hasEnd)
    to[end] = byte;
}

// One warp: the barriers of its part of the shared memory, during one copy.
class LoadBarriers {
public:
  COLL_DEVICE explicit LoadBarriers(PageShared &shared)
      : shared_(shared), parities_(shared.parities) {
    // Everything that is visible to this thread becomes visible to the engine.
    simt::fenceAsync();
    simt::syncWarp();
  }

  // Starts a phase: one thread says how many bytes will arrive.
  COLL_DEVICE void expect(uint32_t barrier, uint32_t bytes) {
    simt::barrierExpect(shared_.barriers + barrier, bytes);
  }
  COLL_DEVICE void load(uint32_t barrier, char *to, const char *from, uint32_t bytes) {
    simt::bulkLoad(to, from, bytes, shared_.barriers + barrier);
  }
  COLL_DEVICE void wait(uint32_t barrier) {
    simt::barrierWait(shared_.barriers + barrier, (parities_ >> barrier) & 1);
    parities_ ^= 1u << barrier;
  }

  // Every phase is over; waits until every bulk store is visible to this warp.
  COLL_DEVICE void finish() {
    if (simt::lane() == 0)
      shared_.parities = parities_;
    simt::bulkWait<0>();
    simt::syncWarp();
  }

private:
  PageShared &shared_;
  uint32_t parities_;
};

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_PIECE_DEVICE_CUH
