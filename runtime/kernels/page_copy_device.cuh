// page_copy_device.cuh - copies pages named by descriptors; unpack and pack are this.
//
// A team of warps shares a list of descriptors. Each warp:
//   1. takes 32 descriptors at a time, one a lane, read 128 ahead, and checks them
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

// Descriptors of a team, in batches of 32, one a lane. Loads run four batches ahead: a
// block that copies pages of 1 KiB is through with one of them sooner than memory answers.
template <PageDirection direction>
class PageList {
public:
  COLL_DEVICE PageList(const PageRegions &regions, const rt::PageDescriptor *pages, uint32_t begin,
                       uint64_t *errorWord)
      : regions_(regions), pages_(pages), at_(begin), errorWord_(errorWord) {}

  // Starts the first loads; reads descriptors up to `readable` whether or not they are in
  // use, so that the number of pages may be fetched at the same time.
  COLL_DEVICE void prefetch(uint32_t readable) {
    COLL_UNROLL(4)
    for (uint32_t row = 0; row < kRows; ++row)
      fetch(rows_[row], at_ + row * simt::kWarpThreads, readable);
  }

  // Makes the next batch the current one; the first call, the first one. False at the end.
  COLL_DEVICE bool advance(uint32_t end) {
    if (at_ >= end)
      return false;
    // Branches, not an index: the rows stay in registers, and only one is waited for.
    switch (row_) {
    case 0:
      take(rows_[0], end);
      break;
    case 1:
      take(rows_[1], end);
      break;
    case 2:
      take(rows_[2], end);
      break;
    default:
      take(rows_[3], end);
    }
    row_ = (row_ + 1) % kRows;
    at_ += simt::kWarpThreads;
    return true;
  }

  // Pieces of the lane's page. Inner borders lie where the target is aligned, and the
  // last piece may be up to 15 bytes longer: a page of 4 KiB is one piece at any address.
  COLL_DEVICE uint32_t pieces(const RingShape &shape) const {
    return len_ / shape.pieceBytes() + (len_ % shape.pieceBytes() != 0);
  }

  // Piece `k` of the page of lane `from`.
  COLL_DEVICE Piece piece(const RingShape &shape, uint32_t from, uint32_t k) const {
    const uint32_t len = simt::shuffle(len_, from);
    char *bounce = regions_.bounce + simt::shuffle(bounceOff_, from);
    char *buffer = regions_.buffer + simt::shuffle(bufferOff_, from);
    const char *source = direction == PageDirection::Unpack ? bounce : buffer;
    char *target = direction == PageDirection::Unpack ? buffer : bounce;
    const uint32_t shift = misalignment(target);
    const uint32_t whole = k * shape.pieceBytes();
    const uint32_t begin = k == 0 ? 0 : whole - shift;
    const uint32_t end =
        len - whole <= shape.pieceBytes() ? len : whole + shape.pieceBytes() - shift;
    return {source + begin, target + begin, end - begin};
  }

  COLL_DEVICE uint32_t len() const { return len_; }

private:
  static constexpr uint32_t kRows = 4;

  COLL_DEVICE void fetch(simt::Vec16 &row, uint32_t at, uint32_t end) {
    if (at + simt::lane() < end)
      row = simt::loadGlobal16(pages_ + at + simt::lane());
  }

  // Checks a row and fetches what takes its place.
  COLL_DEVICE void take(simt::Vec16 &row, uint32_t end) {
    bounceOff_ = row.word[0];
    len_ = at_ + simt::lane() < end ? row.word[1] : 0;
    bufferOff_ = uint64_t{row.word[3]} << 32 | row.word[2];
    fetch(row, at_ + kRows * simt::kWarpThreads, end);
    const bool good = uint64_t{bounceOff_} + len_ <= regions_.bounceBytes &&
                      bufferOff_ <= regions_.bufferBytes &&
                      len_ <= regions_.bufferBytes - bufferOff_;
    if (!good) {
      if (len_ != 0 && errorWord_)
        simt::storeRelaxed(errorWord_, errorWord(KernelError::PageRange, at_ + simt::lane()));
      len_ = 0;
    }
  }

  const PageRegions &regions_;
  const rt::PageDescriptor *pages_;
  uint32_t at_; // of the next batch
  uint64_t *errorWord_;
  simt::Vec16 rows_[kRows] = {};
  uint32_t row_ = 0; // that the next batch comes from
  uint32_t len_ = 0, bounceOff_ = 0;
  uint64_t bufferOff_ = 0;
};

// The pieces that a warp of a team has to copy, in order.
template <PageDirection direction>
class PieceStream {
public:
  // `list` has its first batch current; `end` is the end of the team's pages.
  COLL_DEVICE PieceStream(const RingShape &shape, PageList<direction> &list, uint32_t end,
                          WarpTeam team)
      : shape_(shape), list_(list), end_(end), stride_(team.count), next_(team.index) {
    count();
  }

  // False at the end.
  COLL_DEVICE bool next(Piece &piece) {
    while (next_ >= total_) {
      if (!list_.advance(end_))
        return false;
      next_ -= total_;
      count();
    }
    uint32_t from = next_, k = 0;
    if (!plain_) {
      from = simt::lowestBit(simt::ballot(next_ < upTo_));
      k = next_ - simt::shuffle(upTo_ - mine_, from);
    }
    piece = list_.piece(shape_, from, k);
    next_ += stride_;
    return true;
  }

private:
  // Pieces of this lane's page, of the pages up to it, and of the batch.
  COLL_DEVICE void count() {
    mine_ = list_.pieces(shape_);
    plain_ = simt::ballot(mine_ != 1) == 0;
    total_ = simt::kWarpThreads;
    if (plain_)
      return;
    upTo_ = mine_;
    for (uint32_t delta = 1; delta < simt::kWarpThreads; delta *= 2) {
      const uint32_t below = simt::shuffleUp(upTo_, delta);
      upTo_ += simt::lane() >= delta ? below : 0;
    }
    total_ = simt::shuffle(upTo_, simt::kWarpThreads - 1);
  }

  const RingShape &shape_;
  PageList<direction> &list_;
  uint32_t end_;
  uint32_t stride_;
  uint32_t next_; // this warp's next piece, counted from the batch's first
  uint32_t mine_ = 0, upTo_ = 0, total_ = 0;
  bool plain_ = false; // each lane's page is one piece
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

// `count` vectors from shared memory at from + 4 * word + bits / 8, from aligned. All loads
// of a round come before its stores.
template <uint32_t word>
COLL_DEVICE void storeShifted(char *to, const char *from, uint32_t count, uint32_t bits) {
  constexpr uint32_t kRound = 4;
  for (uint32_t i = simt::lane(); i < count; i += kRound * simt::kWarpThreads) {
    simt::Vec16 low[kRound], high[kRound];
    COLL_UNROLL(4)
    for (uint32_t k = 0; k < kRound; ++k)
      if (i + k * simt::kWarpThreads < count) {
        low[k] = simt::load16(from + 16 * (i + k * simt::kWarpThreads));
        high[k] = simt::load16(from + 16 * (i + k * simt::kWarpThreads) + 16);
      }
    COLL_UNROLL(4)
    for (uint32_t k = 0; k < kRound; ++k)
      if (i + k * simt::kWarpThreads < count)
        simt::storeGlobal16(to + uint64_t{16} * (i + k * simt::kWarpThreads),
                            shifted<word>(low[k], high[k], bits));
  }
}

// One warp's ring of stages. Stage `s` is loaded, then retired, then loaded again.
class PieceRing {
public:
  // `shared`: the warp's part. The source region is what may be read.
  COLL_DEVICE PieceRing(const RingShape &shape, char *shared, const char *source,
                        uint64_t sourceBytes)
      : shape_(shape), stages_(shared), notes_(reinterpret_cast<StageNote *>(shared + kRingBytes)),
        barriers_(reinterpret_cast<simt::Barrier *>(notes_ + kMaxStages)),
        firstRead_(reinterpret_cast<uintptr_t>(source)), lastRead_(firstRead_ + sourceBytes) {
    if (simt::lane() < shape_.stages()) {
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
    char *stage = stages_ + issued_ * shape_.stageBytes();
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
    issued_ = issued_ + 1 == shape_.stages() ? 0 : issued_ + 1;
  }

  // Waits for the oldest stage and stores it.
  COLL_DEVICE void retire() {
    simt::barrierWait(barriers_ + retired_, (parities_ >> retired_) & 1);
    parities_ ^= 1u << retired_;
    const StageNote note = notes_[retired_];
    store(note.target, stages_ + retired_ * shape_.stageBytes() + note.start, note.bytes);
    if (simt::lane() == 0)
      simt::bulkCommit();
    simt::syncWarp();
    retired_ = retired_ + 1 == shape_.stages() ? 0 : retired_ + 1;
  }

  // Until the stage of the piece before the last lag() ones is free again. The engine's
  // waits take constants only.
  COLL_DEVICE void waitForStage() {
    if (simt::lane() != 0)
      return;
    if (shape_.small)
      simt::bulkWaitRead<RingShape{true}.lag()>();
    else
      simt::bulkWaitRead<RingShape{false}.lag()>();
  }

  // Until every store is visible to this warp.
  COLL_DEVICE void finish() {
    if (simt::lane() < shape_.stages())
      simt::barrierInvalidate(barriers_ + simt::lane());
    if (simt::lane() == 0)
      simt::bulkWait<0>();
    simt::syncWarp();
  }

private:
  // The bytes of a piece that share their 16 bytes with a neighbour of the region.
  COLL_DEVICE void loadEdges(char *to, const Piece &piece) {
    simt::syncWarp(); // lane 0 knows that the stage is free
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
    // The ends: loaded first and stored last, so that nothing waits for them.
    const bool hasEnd = simt::lane() < 16 ? simt::lane() < head : simt::lane() - 16 < tail;
    const uint32_t end = simt::lane() < 16 ? simt::lane() : bytes - tail + simt::lane() - 16;
    const char byte = hasEnd ? from[end] : 0;
    storeVectors(to + head, from + head, vectors);
    if (hasEnd)
      to[end] = byte;
  }

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

  const RingShape &shape_;
  char *stages_;
  StageNote *notes_;
  simt::Barrier *barriers_;
  uintptr_t firstRead_, lastRead_;
  uint32_t issued_ = 0, retired_ = 0; // stages
  uint32_t parities_ = 0;             // bit s: of stage s's next phase
};

// Copies pages [begin, end) with a team; every warp of the team calls it, with its own
// part of shared memory. `readable`, at least `end`, may exceed it where descriptors
// beyond the end can be read. `count` gives `end`; it is asked after the first descriptors
// were, so that the two reads, perhaps over PCIe, overlap.
template <PageDirection direction, class Count>
COLL_DEVICE void copyPages(const rt::PageDescriptor *pages, uint32_t begin, uint32_t readable,
                           Count count, const PageRegions &regions, uint64_t *errorWord,
                           WarpTeam team, char *shared) {
  constexpr bool kUnpack = direction == PageDirection::Unpack;
  PageList<direction> list(regions, pages, begin, errorWord);
  list.prefetch(readable);
  const uint32_t end = count();
  if (!list.advance(end))
    return;
  const RingShape shape{simt::ballot(list.len() > RingShape{true}.pieceBytes()) == 0};
  PieceStream<direction> stream(shape, list, end, team);
  PieceRing ring(shape, shared, kUnpack ? regions.bounce : regions.buffer,
                 kUnpack ? regions.bounceBytes : regions.bufferBytes);
  Piece piece;
  bool more = stream.next(piece);
  for (uint32_t ahead = 0; more || ahead != 0;) {
    if (!more || ahead == shape.stages() - shape.lag()) {
      ring.retire();
      --ahead;
    }
    if (more) {
      ring.waitForStage();
      ring.issue(piece);
      ++ahead;
      // The next piece is found while the loads before it are under way.
      more = stream.next(piece);
    }
  }
  ring.finish();
}

// The warps of this block.
COLL_DEVICE WarpTeam blockTeam() {
  return {simt::threadIndex() / simt::kWarpThreads, simt::blockThreads() / simt::kWarpThreads};
}

// What a block of a grid does of `count` pages.
struct GridShare {
  uint32_t begin, end;
  WarpTeam team;
};

// Blocks take equal runs of pages; where there are too few for that, all warps of the grid
// share all of them.
COLL_DEVICE GridShare gridShare(uint32_t count) {
  const uint32_t block = simt::blockIndex(), blocks = simt::gridBlocks();
  const WarpTeam team = blockTeam();
  if (count < 2 * blocks)
    return {0, count, {block * team.count + team.index, blocks * team.count}};
  const uint32_t each = count / blocks, longer = count % blocks;
  return {each * block + minimum(block, longer), each * (block + 1) + minimum(block + 1, longer),
          team};
}

// Pages of a slot, checked.
COLL_DEVICE uint32_t slotCount(const uint64_t *count, uint32_t slot, uint64_t *errorWord) {
  const uint64_t pages = count[slot];
  if (pages <= rt::kUnpackSlotPages)
    return static_cast<uint32_t>(pages);
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
