// small_device.cuh - pages of up to 1 KiB, several at a time.
//
// With pages of 1 KiB, a warp has time for some hundred instructions a page. So work that all pages
// have in common is done for several pages at once, one per lane. Each warp of a team owns a run of
// the descriptors:
//
//   1. it reads 32 of them, one a lane, and the next 32 ahead;
//   2. it forms a group of up to 4 pieces (pages, or parts of one that is larger); lane j
//      has piece j, computes its addresses and starts its load; one barrier counts them all;
//   3. it retires the group that was started two groups before: lanes whose piece is aligned
//      start its store, the other pieces are stored one by one, by the whole warp.

#ifndef COLL_RUNTIME_KERNELS_PAGES_SMALL_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PAGES_SMALL_DEVICE_CUH

#include "runtime/kernels/pages/piece_device.cuh"

namespace coll::kernels {

// Pieces of a warp's own pages, in groups.
template <PageDirection direction>
class PieceGroups {
public:
  // Pages [begin, end), at least one.
  COLL_DEVICE PieceGroups(const PageRegions &regions, const rt::PageDescriptor *pages,
                          uint32_t begin, uint32_t end, uint64_t *errorWord)
      : regions_(regions), pages_(pages), at_(begin), end_(end), errorWord_(errorWord) {
    fetch();
    nextBatch();
  }

  // This lane's piece of the next group, without bytes if it has none. False at the end.
  COLL_DEVICE bool next(Piece &piece) {
    if (cursor_ == count_ && !nextBatch())
      return false;
    uint32_t from = cursor_ + simt::lane(), k = 0, last = 0;
    if ((long_ >> cursor_ & 1) != 0) {
      from = cursor_;
      k = part_ + simt::lane();
      last = simt::shuffle(pieces_, from) - part_;
      part_ = last <= kGroupPieces ? 0 : part_ + kGroupPieces;
      cursor_ += last <= kGroupPieces;
    } else {
      // Up to the next page that is more than one piece.
      const uint32_t after = long_ >> cursor_;
      last = after == 0 ? count_ - cursor_ : simt::lowestBit(after);
      cursor_ += minimum(last, kGroupPieces);
    }
    piece = pieceOf<direction, kSmallPieceBytes>(page_, from % simt::kWarpThreads, k, regions_);
    if (simt::lane() >= minimum(last, kGroupPieces))
      piece.bytes = 0;
    return true;
  }

private:
  COLL_DEVICE void fetch() {
    fetched_ = simt::loadGlobal16(pages_ + minimum(at_ + simt::lane(), end_ - 1));
  }

  COLL_DEVICE bool nextBatch() {
    if (at_ >= end_)
      return false;
    const uint32_t number = at_ + simt::lane();
    page_ = checkedPage(fetched_, number < end_, number, regions_, errorWord_);
    count_ = minimum(end_ - at_, simt::kWarpThreads);
    at_ += count_;
    fetch();
    pieces_ = piecesOf<kSmallPieceBytes>(page_.len);
    long_ = simt::ballot(pieces_ > 1);
    cursor_ = 0;
    return true;
  }

  const PageRegions &regions_;
  const rt::PageDescriptor *pages_;
  uint32_t at_, end_; // the next batch, and the end
  uint64_t *errorWord_;
  simt::Vec16 fetched_{};
  Page page_{};
  uint32_t pieces_ = 0; // of this lane's page
  uint32_t long_ = 0;   // bit i: lane i's page is several pieces
  uint32_t count_ = 0;  // pages of the batch
  uint32_t cursor_ = 0; // the next page
  uint32_t part_ = 0;   // its next piece
};

// One warp's groups of stages; lane j has the group's j-th stage.
class GroupRing {
public:
  COLL_DEVICE GroupRing(PageShared &shared, const char *source, uint64_t sourceBytes)
      : shared_(shared), barriers_(shared), firstRead_(reinterpret_cast<uintptr_t>(source)),
        lastRead_(firstRead_ + sourceBytes) {}

  // Starts the loads of a group into the next stages, which are free.
  COLL_DEVICE void issue(const Piece &piece) {
    const uint32_t start = misalignment(piece.source);
    Cover cover = coverOf(piece, firstRead_, lastRead_);
    if (piece.bytes == 0)
      cover = {piece.source, 0, 0, true};
    for (uint32_t open = simt::ballot(!cover.complete); open != 0; open &= open - 1) {
      const uint32_t from = simt::lowestBit(open);
      const auto source = simt::shuffle(reinterpret_cast<uint64_t>(piece.source), from);
      loadEnds(stage(issued_, from) + simt::shuffle(start, from),
               reinterpret_cast<const char *>(source), simt::shuffle(piece.bytes, from));
    }
    const uint32_t total = simt::sum(cover.bytes); // lanes that loaded an end have finished
    if (simt::lane() == 0)
      barriers_.expect(issued_, total);
    if (simt::lane() < kGroupPieces)
      shared_.notes[issued_ * kGroupPieces + simt::lane()] = {piece.target, piece.bytes, start};
    if (cover.bytes != 0)
      barriers_.load(issued_, stage(issued_, simt::lane()) + cover.skip, cover.from, cover.bytes);
    issued_ = issued_ + 1 == kGroups ? 0 : issued_ + 1;
  }

  // Waits for the oldest group and stores it.
  COLL_DEVICE void retire() {
    barriers_.wait(retired_);
    StageNote note{nullptr, 0, 0};
    if (simt::lane() < kGroupPieces)
      note = shared_.notes[retired_ * kGroupPieces + simt::lane()];
    const bool whole = ((misalignment(note.target) | note.start | note.bytes) & 15) == 0;
    if (whole && note.bytes != 0)
      simt::bulkStore(note.target, stage(retired_, simt::lane()), note.bytes);
    for (uint32_t open = simt::ballot(!whole); open != 0; open &= open - 1) {
      const uint32_t from = simt::lowestBit(open);
      const auto target = simt::shuffle(reinterpret_cast<uint64_t>(note.target), from);
      storePiece(reinterpret_cast<char *>(target),
                 stage(retired_, from) + simt::shuffle(note.start, from),
                 simt::shuffle(note.bytes, from));
    }
    simt::bulkCommit();
    simt::syncWarp();
    retired_ = retired_ + 1 == kGroups ? 0 : retired_ + 1;
  }

  // Waits until the stages of the group before the last one are free again. Each lane waits for its
  // own stores, so the warp has to synchronise before another lane's stage is used.
  COLL_DEVICE void waitForGroup() {
    simt::bulkWaitRead<1>();
    simt::syncWarp();
  }

  COLL_DEVICE void finish() { barriers_.finish(); }

private:
  COLL_DEVICE char *stage(uint32_t group, uint32_t lane) const {
    return shared_.stages + (group * kGroupPieces + lane) * kSmallStageBytes;
  }

  PageShared &shared_;
  LoadBarriers barriers_; // one per group
  uintptr_t firstRead_, lastRead_;
  uint32_t issued_ = 0, retired_ = 0; // groups
};

// One warp's part of pages [begin, end).
template <PageDirection direction>
COLL_DEVICE void copySmallPages(const PageRegions &regions, const rt::PageDescriptor *pages,
                                uint32_t begin, uint32_t end, uint64_t *errorWord, WarpTeam team,
                                PageShared &shared) {
  const uint32_t each = (end - begin) / team.count, longer = (end - begin) % team.count;
  const uint32_t first = begin + each * team.index + minimum(team.index, longer);
  const uint32_t last = first + each + (team.index < longer);
  if (first == last)
    return;
  PieceGroups<direction> groups(regions, pages, first, last, errorWord);
  GroupRing ring(shared, sourceOf<direction>(regions), sourceBytesOf<direction>(regions));
  Piece piece;
  bool more = groups.next(piece);
  for (uint32_t ahead = 0; more || ahead != 0;) {
    if (!more || ahead == kGroups - 1) {
      ring.retire();
      --ahead;
    }
    if (more) {
      ring.waitForGroup();
      ring.issue(piece);
      ++ahead;
      more = groups.next(piece);
    }
  }
  ring.finish();
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_SMALL_DEVICE_CUH
