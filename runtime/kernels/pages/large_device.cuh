// large_device.cuh - distributes pages of any size over a team, piece by piece.
//
// Every warp reads all descriptors of the team, 32 at a time, one per lane, a batch ahead, and
// takes every n-th piece of 4 KiB: one page of 4 MiB is distributed like a thousand pages of 4 KiB.

#ifndef COLL_RUNTIME_KERNELS_PAGES_LARGE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PAGES_LARGE_DEVICE_CUH

#include "runtime/kernels/pages/piece_device.cuh"

namespace coll::kernels {

// Descriptors of a team, in batches of 32, one a lane.
class PageList {
public:
  COLL_DEVICE PageList(const PageRegions &regions, const rt::PageDescriptor *pages, uint32_t begin,
                       uint64_t *errorWord)
      : regions_(regions), pages_(pages), at_(begin), errorWord_(errorWord) {}

  // Starts the first load. `readable` is above the first descriptor; descriptors below it need not
  // be in use.
  COLL_DEVICE void fetch(uint32_t readable) {
    fetched_ = simt::loadGlobal16(pages_ + minimum(at_ + simt::lane(), readable - 1));
  }

  // Makes the next batch the current one and fetches the one after it. False at the end.
  COLL_DEVICE bool advance(uint32_t end) {
    if (at_ >= end)
      return false;
    const uint32_t number = at_ + simt::lane();
    page_ = checkedPage(fetched_, number < end, number, regions_, errorWord_);
    at_ += simt::kWarpThreads;
    fetch(end);
    return true;
  }

  COLL_DEVICE const Page &page() const { return page_; }

private:
  const PageRegions &regions_;
  const rt::PageDescriptor *pages_;
  uint32_t at_; // of the next batch
  uint64_t *errorWord_;
  simt::Vec16 fetched_{};
  Page page_{};
};

// The pieces that a warp of a team has to copy, in order.
template <PageDirection direction>
class PieceStream {
public:
  // `list` has its first batch current; `end` is the end of the team's pages.
  COLL_DEVICE PieceStream(const PageRegions &regions, PageList &list, uint32_t end, WarpTeam team)
      : regions_(regions), list_(list), end_(end), stride_(team.count), next_(team.index) {
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
    piece = pieceOf<direction, kLargePieceBytes>(list_.page(), from, k, regions_);
    next_ += stride_;
    return true;
  }

private:
  // Pieces of this lane's page, of the pages up to it, and of the batch.
  COLL_DEVICE void count() {
    mine_ = piecesOf<kLargePieceBytes>(list_.page().len);
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

  const PageRegions &regions_;
  PageList &list_;
  uint32_t end_;
  uint32_t stride_;
  uint32_t next_; // this warp's next piece, counted from the batch's first
  uint32_t mine_ = 0, upTo_ = 0, total_ = 0;
  bool plain_ = false; // each lane's page is one piece
};

// One warp's ring of stages. A stage is loaded, then retired, then loaded again.
class PieceRing {
public:
  // Only the source region may be read.
  COLL_DEVICE PieceRing(PageShared &shared, const char *source, uint64_t sourceBytes)
      : shared_(shared), barriers_(shared), firstRead_(reinterpret_cast<uintptr_t>(source)),
        lastRead_(firstRead_ + sourceBytes) {}

  // Starts the load of a piece into the next stage, which is free.
  COLL_DEVICE void issue(const Piece &piece) {
    char *stage = stageAt(issued_);
    const uint32_t start = misalignment(piece.source);
    const Cover cover = coverOf(piece, firstRead_, lastRead_);
    if (!cover.complete) {
      simt::syncWarp(); // lane 0 knows that the stage is free
      loadEnds(stage + start, piece.source, piece.bytes);
      simt::syncWarp();
    }
    if (simt::lane() == 0) {
      shared_.notes[issued_] = {piece.target, piece.bytes, start};
      barriers_.expect(issued_, cover.bytes);
      if (cover.bytes != 0)
        barriers_.load(issued_, stage + cover.skip, cover.from, cover.bytes);
    }
    issued_ = issued_ + 1 == kLargeStages ? 0 : issued_ + 1;
  }

  // Waits for the oldest stage and stores it.
  COLL_DEVICE void retire() {
    barriers_.wait(retired_);
    const StageNote note = shared_.notes[retired_];
    storePiece(note.target, stageAt(retired_) + note.start, note.bytes);
    if (simt::lane() == 0)
      simt::bulkCommit();
    simt::syncWarp();
    retired_ = retired_ + 1 == kLargeStages ? 0 : retired_ + 1;
  }

  // Waits until the stage of the piece before the last kLargeLag ones is free again.
  COLL_DEVICE void waitForStage() {
    if (simt::lane() == 0)
      simt::bulkWaitRead<kLargeLag>();
  }

  // Waits until every store is visible to this warp.
  COLL_DEVICE void finish() { barriers_.finish(); }

private:
  COLL_DEVICE char *stageAt(uint32_t i) const { return shared_.stages + i * kLargeStageBytes; }

  PageShared &shared_;
  LoadBarriers barriers_; // one per stage
  uintptr_t firstRead_, lastRead_;
  uint32_t issued_ = 0, retired_ = 0; // stages
};

// One warp: copies all pieces of a stream through the ring.
template <class Stream>
COLL_DEVICE void copyPieces(Stream &stream, PieceRing &ring) {
  Piece piece;
  bool more = stream.next(piece);
  for (uint32_t ahead = 0; more || ahead != 0;) {
    if (!more || ahead == kLargeStages - kLargeLag) {
      ring.retire();
      --ahead;
    }
    if (more) {
      ring.waitForStage();
      ring.issue(piece);
      ++ahead;
      // Finds the next piece while earlier loads are in flight.
      more = stream.next(piece);
    }
  }
  ring.finish();
}

// One warp's part of the pages up to `end`; `list` has its first batch current.
template <PageDirection direction>
COLL_DEVICE void copyLargePages(const PageRegions &regions, PageList &list, uint32_t end,
                                WarpTeam team, PageShared &shared) {
  PieceStream<direction> stream(regions, list, end, team);
  PieceRing ring(shared, sourceOf<direction>(regions), sourceBytesOf<direction>(regions));
  copyPieces(stream, ring);
}

// The pieces of one contiguous run that a warp of a team has to copy, in order.
class RunStream {
public:
  COLL_DEVICE RunStream(char *to, const char *from, uint64_t bytes, WarpTeam team)
      : to_(to), from_(from), bytes_(bytes), next_(uint64_t{team.index} * kLargePieceBytes),
        stride_(uint64_t{team.count} * kLargePieceBytes) {}

  // False at the end. Inner borders are at aligned addresses of the target.
  COLL_DEVICE bool next(Piece &piece) {
    if (next_ >= bytes_)
      return false;
    const uint32_t shift = misalignment(to_);
    const uint64_t begin = next_ == 0 ? 0 : next_ - shift;
    const uint64_t border = next_ + kLargePieceBytes;
    const uint64_t end = border >= bytes_ ? bytes_ : border - shift;
    piece = {from_ + begin, to_ + begin, static_cast<uint32_t>(end - begin)};
    next_ += stride_;
    return true;
  }

private:
  char *to_;
  const char *from_;
  uint64_t bytes_, next_, stride_;
};

// One warp's part of a run of any length and alignment; every warp of the team calls it, with
// its own part of shared memory.
COLL_DEVICE void copyRun(char *to, const char *from, uint64_t bytes, WarpTeam team,
                         PageShared &shared) {
  RunStream stream(to, from, bytes, team);
  PieceRing ring(shared, from, bytes);
  copyPieces(stream, ring);
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_LARGE_DEVICE_CUH
