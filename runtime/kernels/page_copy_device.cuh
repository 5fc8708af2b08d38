// page_copy_device.cuh - copies pages named by descriptors; unpack and pack are this.
//
// A team of warps shares a list of descriptors. Each warp:
//   1. reads 32 descriptors at a time, one a lane, one batch ahead; checks them
//      (PageList);
//   2. cuts pages into pieces and takes every n-th piece of the team's (PieceStream), so
//      that one page of 4 MiB and a thousand of 4 KiB are shared out alike;
//   3. loads pieces by bulk copies into its own ring in shared memory, several ahead
//      (PieceRing::issue). The engine takes 16-aligned addresses only: it loads the
//      16-aligned cover, or, where the cover leaves the source region, the aligned inside,
//      and lanes bring the edge;
//   4. stores pieces: by the engine where source and destination are equally aligned,
//      else by two 16-byte shared loads, a funnel shift and an aligned 16-byte store;
//      the ends of up to 15 bytes go byte by byte (PieceRing::retire).
//
// No barrier of the block is used. Nothing outside the source region is read, nothing
// outside the destinations of good descriptors is written.

#ifndef COLL_RUNTIME_KERNELS_PAGE_COPY_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PAGE_COPY_DEVICE_CUH

#include "runtime/base/unpack_layout.h"
#include "runtime/kernels/error_word.h"
#include "runtime/kernels/simt.h"
#include "runtime/kernels/unpack_tuning.h"

namespace coll::kernels {

enum class PageDirection { Unpack, Pack };

// The two sides of a copy; any alignment.
struct PageRegions {
  char *bounce;
  uint64_t bounceBytes;
  char *buffer;
  uint64_t bufferBytes;
};

// The warps that share a list: this warp's number among them, and how many they are.
struct WarpTeam {
  uint32_t index;
  uint32_t count;
};

// Shared memory of `warps` warps, aligned to 128; what it holds between calls is nobody's.
constexpr uint64_t pageCopySharedBytes(uint32_t warps) {
  return uint64_t{warps} * (kRingBytes + kMaxStages * 2 * sizeof(simt::Vec16));
}

// A piece of a page.
struct Piece {
  const char *source;
  char *target;
  uint32_t bytes;
};

// What a warp has to remember of a piece between load and store; in shared memory.
struct alignas(16) StageNote {
  char *target;
  uint32_t bytes;
  uint32_t start; // of the piece within the stage
};

COLL_DEVICE uint32_t misalignment(const void *address) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(address)) & 15;
}
COLL_DEVICE uint32_t minimum(uint32_t a, uint32_t b) { return a < b ? a : b; }

// Descriptors of a team, 32 at a time, one a lane.
template <PageDirection direction>
class PageList {
public:
  COLL_DEVICE PageList(const PageRegions &regions, const rt::PageDescriptor *pages, uint64_t begin,
                       uint64_t *errorWord)
      : regions_(regions), pages_(pages), at_(begin), errorWord_(errorWord) {}

  // Starts the first load; reads up to 32 descriptors whether or not they are in use, so
  // that the number of pages may be fetched at the same time.
  COLL_DEVICE void prefetch(uint64_t readable) { fetch(at_, readable); }

  // Makes the fetched batch the current one and starts the next load.
  COLL_DEVICE void advance(uint64_t end) {
    const uint32_t bounceOff = fetched_.word[0];
    len_ = at_ + simt::lane() < end ? fetched_.word[1] : 0;
    const uint64_t bufferOff = uint64_t{fetched_.word[3]} << 32 | fetched_.word[2];
    const bool good = uint64_t{bounceOff} + len_ <= regions_.bounceBytes &&
                      bufferOff <= regions_.bufferBytes && len_ <= regions_.bufferBytes - bufferOff;
    if (!good) {
      if (len_ != 0 && errorWord_)
        simt::storeRelaxed(errorWord_, errorWord(KernelError::PageRange,
                                                 static_cast<uint32_t>(at_ + simt::lane())));
      len_ = 0;
    }
    bounceOff_ = bounceOff;
    bufferOff_ = bufferOff;
    at_ += simt::kWarpThreads;
    fetch(at_, end);
  }

  // Pieces of the lane's page. Inner borders lie where the target is aligned, and the
  // last piece may be up to 15 bytes longer: a page of 4 KiB is one piece at any address.
  template <class Shape>
  COLL_DEVICE uint32_t pieces() const {
    return len_ / Shape::kPieceBytes + (len_ % Shape::kPieceBytes != 0);
  }

  // Piece `k` of the page of lane `from`.
  template <class Shape>
  COLL_DEVICE Piece piece(uint32_t from, uint32_t k) const {
    const uint32_t len = simt::shuffle(len_, from);
    char *bounce = regions_.bounce + simt::shuffle(bounceOff_, from);
    char *buffer = regions_.buffer + simt::shuffle(bufferOff_, from);
    const char *source = direction == PageDirection::Unpack ? bounce : buffer;
    char *target = direction == PageDirection::Unpack ? buffer : bounce;
    const uint32_t shift = misalignment(target);
    const uint32_t begin = k == 0 ? 0 : k * Shape::kPieceBytes - shift;
    const uint32_t left = len - k * Shape::kPieceBytes;
    const uint32_t end = left <= Shape::kPieceBytes ? len : (k + 1) * Shape::kPieceBytes - shift;
    return {source + begin, target + begin, end - begin};
  }

  COLL_DEVICE uint32_t len() const { return len_; }

private:
  COLL_DEVICE void fetch(uint64_t at, uint64_t end) {
    if (at + simt::lane() < end)
      fetched_ = simt::loadGlobal16(pages_ + at + simt::lane());
  }

  const PageRegions &regions_;
  const rt::PageDescriptor *pages_;
  uint64_t at_;
  uint64_t *errorWord_;
  simt::Vec16 fetched_{};
  uint32_t len_ = 0, bounceOff_ = 0;
  uint64_t bufferOff_ = 0;
};

// The pieces that a warp of a team has to copy, in order.
template <class Shape, PageDirection direction>
class PieceStream {
public:
  // `list` has its first batch current; `end` is the end of the team's pages, `left` how
  // many of them are not in the current batch or before it.
  COLL_DEVICE PieceStream(PageList<direction> &list, uint64_t end, uint64_t left, WarpTeam team)
      : list_(list), end_(end), left_(left), stride_(team.count), next_(team.index) {
    count();
  }

  // False at the end.
  COLL_DEVICE bool next(Piece &piece) {
    while (next_ >= total_) {
      if (left_ == 0)
        return false;
      next_ -= total_;
      list_.advance(end_);
      left_ -= left_ < simt::kWarpThreads ? left_ : simt::kWarpThreads;
      count();
    }
    const uint32_t from = simt::lowestBit(simt::ballot(next_ < upTo_));
    const uint32_t before = simt::shuffle(upTo_ - mine_, from);
    piece = list_.template piece<Shape>(from, next_ - before);
    next_ += stride_;
    return true;
  }

private:
  // Pieces of this lane's page, of the pages up to it, and of the batch.
  COLL_DEVICE void count() {
    mine_ = list_.template pieces<Shape>();
    upTo_ = mine_;
    for (uint32_t delta = 1; delta < simt::kWarpThreads; delta *= 2) {
      const uint32_t below = simt::shuffleUp(upTo_, delta);
      upTo_ += simt::lane() >= delta ? below : 0;
    }
    total_ = simt::shuffle(upTo_, simt::kWarpThreads - 1);
  }

  PageList<direction> &list_;
  uint64_t end_;
  uint64_t left_;
  uint32_t stride_;
  uint32_t next_; // this warp's next piece, counted from the batch's first
  uint32_t mine_ = 0, upTo_ = 0, total_ = 0;
};

// The 16 bytes at byte 4 * word + bits / 8 of low:high.
template <uint32_t word>
COLL_DEVICE simt::Vec16 shifted(const simt::Vec16 &low, const simt::Vec16 &high, uint32_t bits) {
  simt::Vec16 out;
  COLL_UNROLL(4)
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t a = word + i, b = a + 1;
    out.word[i] = simt::funnelShift(a < 4 ? low.word[a & 3] : high.word[a & 3],
                                    b < 4 ? low.word[b & 3] : high.word[b & 3], bits);
  }
  return out;
}

// `count` vectors from shared memory at from + 4 * word + bits / 8, from aligned.
template <uint32_t word>
COLL_DEVICE void storeShifted(char *to, const char *from, uint32_t count, uint32_t bits) {
  COLL_UNROLL(4)
  for (uint32_t i = simt::lane(); i < count; i += simt::kWarpThreads) {
    const simt::Vec16 low = simt::load16(from + 16 * i), high = simt::load16(from + 16 * i + 16);
    simt::storeGlobal16(to + uint64_t{16} * i, shifted<word>(low, high, bits));
  }
}

// One warp's ring of stages. Stage `s` is loaded, then retired, then loaded again.
template <class Shape>
class PieceRing {
public:
  // `shared`: the warp's part. The source region is what may be read.
  COLL_DEVICE PieceRing(char *shared, const char *source, uint64_t sourceBytes)
      : stages_(shared), notes_(reinterpret_cast<StageNote *>(shared + kRingBytes)),
        barriers_(reinterpret_cast<simt::Barrier *>(notes_ + kMaxStages)),
        firstRead_(reinterpret_cast<uintptr_t>(source)), lastRead_(firstRead_ + sourceBytes) {
    if (simt::lane() < Shape::kStages) {
      simt::barrierInit(barriers_ + simt::lane());
      simt::barrierPublish();
    }
    // Whatever made the source visible to this thread makes it visible to the engine.
    if (simt::lane() == 0)
      simt::fenceAsync();
    simt::syncWarp();
  }

  // Starts the load of a piece into the next stage, which is free.
  COLL_DEVICE void issue(const Piece &piece) {
    char *stage = stages_ + issued_ * Shape::kStageBytes;
    const uintptr_t first = reinterpret_cast<uintptr_t>(piece.source);
    const uint32_t start = misalignment(piece.source);
    const uint32_t cover = (start + piece.bytes + 15) & ~15u;
    const uintptr_t begin = first - start;
    const bool inside = begin >= firstRead_ && begin + cover <= lastRead_;
    if (!inside)
      loadEdges(stage + start, piece);
    if (simt::lane() == 0) {
      notes_[issued_] = {piece.target, piece.bytes, start};
      const uint32_t skip = inside || start == 0 ? 0 : 16;
      const uint32_t end = inside ? cover : (start + piece.bytes) & ~15u;
      const uint32_t bytes = end > skip ? end - skip : 0;
      simt::barrierExpect(barriers_ + issued_, bytes);
      if (bytes != 0)
        simt::bulkLoad(stage + skip, reinterpret_cast<const char *>(begin + skip), bytes,
                       barriers_ + issued_);
    }
    issued_ = issued_ + 1 == Shape::kStages ? 0 : issued_ + 1;
  }

  // Waits for the oldest stage and stores it.
  COLL_DEVICE void retire() {
    simt::barrierWait(barriers_ + retired_, (parities_ >> retired_) & 1);
    parities_ ^= 1u << retired_;
    const StageNote note = notes_[retired_];
    store(note.target, stages_ + retired_ * Shape::kStageBytes + note.start, note.bytes);
    if (simt::lane() == 0)
      simt::bulkCommit();
    simt::syncWarp();
    retired_ = retired_ + 1 == Shape::kStages ? 0 : retired_ + 1;
  }

  // Until the stage of the piece before the last kLag ones is free again.
  COLL_DEVICE void waitForStage() {
    if (simt::lane() == 0)
      simt::bulkWaitRead<Shape::kLag>();
    simt::syncWarp();
  }

  // Until every store is visible to this warp.
  COLL_DEVICE void finish() {
    if (simt::lane() < Shape::kStages)
      simt::barrierInvalidate(barriers_ + simt::lane());
    if (simt::lane() == 0)
      simt::bulkWait<0>();
    simt::syncWarp();
  }

private:
  // The bytes of a piece that share their 16 bytes with a neighbour of the region.
  COLL_DEVICE void loadEdges(char *to, const Piece &piece) {
    const uint32_t head = minimum((16 - misalignment(piece.source)) & 15, piece.bytes);
    const uint32_t tail = (piece.bytes - head) & 15;
    const uint32_t i = simt::lane() < 16 ? simt::lane() : piece.bytes - tail + simt::lane() - 16;
    if (simt::lane() < 16 ? simt::lane() < head : simt::lane() - 16 < tail)
      to[i] = piece.source[i];
    // The engine writes these bytes of the stage some time later.
    simt::fenceAsync();
    simt::syncWarp();
  }

  COLL_DEVICE void store(char *to, const char *from, uint32_t bytes) {
    const uint32_t head = minimum((16 - misalignment(to)) & 15, bytes);
    const uint32_t vectors = (bytes - head) / 16, tail = (bytes - head) % 16;
    if ((head | tail) != 0) {
      const uint32_t i = simt::lane() < 16 ? simt::lane() : bytes - tail + simt::lane() - 16;
      if (simt::lane() < 16 ? simt::lane() < head : simt::lane() - 16 < tail)
        to[i] = from[i];
    }
    to += head;
    from += head;
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

  char *stages_;
  StageNote *notes_;
  simt::Barrier *barriers_;
  uintptr_t firstRead_, lastRead_;
  uint32_t issued_ = 0, retired_ = 0; // stages
  uint32_t parities_ = 0;             // bit s: of stage s's next phase
};

// Steps 2 to 4, for one warp; `list` has its first batch current.
template <class Shape, PageDirection direction>
COLL_DEVICE void copyPieces(PageList<direction> &list, const PageRegions &regions, uint64_t end,
                            uint64_t left, WarpTeam team, char *shared) {
  constexpr bool kUnpack = direction == PageDirection::Unpack;
  PieceStream<Shape, direction> stream(list, end, left, team);
  PieceRing<Shape> ring(shared, kUnpack ? regions.bounce : regions.buffer,
                        kUnpack ? regions.bounceBytes : regions.bufferBytes);
  Piece piece;
  uint32_t ahead = 0;
  bool more = true;
  for (; ahead < Shape::kStages - Shape::kLag && (more = stream.next(piece)); ++ahead)
    ring.issue(piece);
  while (ahead != 0) {
    ring.retire();
    if (more && (more = stream.next(piece))) {
      ring.waitForStage();
      ring.issue(piece);
    } else {
      --ahead;
    }
  }
  ring.finish();
}

// Copies pages [begin, end) with a team; every warp of the team calls it, with its own
// part of shared memory. `readable`, at least `end`, may exceed it where descriptors
// beyond the end can be read. `count` gives `end`; it is asked after the first descriptors
// were, so that the two reads, perhaps over PCIe, overlap.
template <PageDirection direction, class Count>
COLL_DEVICE void copyPages(const rt::PageDescriptor *pages, uint64_t begin, uint64_t readable,
                           Count count, const PageRegions &regions, uint64_t *errorWord,
                           WarpTeam team, char *shared) {
  PageList<direction> list(regions, pages, begin, errorWord);
  list.prefetch(readable);
  const uint64_t end = count();
  if (begin >= end)
    return;
  list.advance(end);
  const uint64_t left = end - begin <= simt::kWarpThreads ? 0 : end - begin - simt::kWarpThreads;
  if (simt::ballot(list.len() > SmallPieces::kPieceBytes) == 0)
    copyPieces<SmallPieces>(list, regions, end, left, team, shared);
  else
    copyPieces<LargePieces>(list, regions, end, left, team, shared);
}

// The warps of this block.
COLL_DEVICE WarpTeam blockTeam() {
  return {simt::threadIndex() / simt::kWarpThreads, simt::blockThreads() / simt::kWarpThreads};
}

// What a block of a grid does of `count` pages.
struct GridShare {
  uint64_t begin, end;
  WarpTeam team;
};

// Blocks take equal runs of pages; where there are too few for that, all warps of the grid
// share all of them.
COLL_DEVICE GridShare gridShare(uint64_t count) {
  const uint64_t block = simt::blockIndex(), blocks = simt::gridBlocks();
  const WarpTeam team = blockTeam();
  if (count < 2 * blocks)
    return {0,
            count,
            {static_cast<uint32_t>(block) * team.count + team.index,
             static_cast<uint32_t>(blocks) * team.count}};
  return {count / blocks * block + count % blocks * block / blocks,
          count / blocks * (block + 1) + count % blocks * (block + 1) / blocks, team};
}

// Pages of a slot, checked.
COLL_DEVICE uint64_t slotCount(const uint64_t *count, uint32_t slot, uint64_t *errorWord) {
  const uint64_t pages = count[slot];
  if (pages <= rt::kUnpackSlotPages)
    return pages;
  if (simt::threadIndex() == 0 && errorWord)
    simt::storeRelaxed(errorWord, kernels::errorWord(KernelError::PageCount, slot));
  return 0;
}

// This warp's part of the block's shared memory.
COLL_DEVICE char *pageCopyShared(char *shared) {
  return shared + pageCopySharedBytes(1) * (simt::threadIndex() / simt::kWarpThreads);
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGE_COPY_DEVICE_CUH
