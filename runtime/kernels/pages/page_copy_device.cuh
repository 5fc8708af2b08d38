// page_copy_device.cuh - copies pages named by descriptors: the algorithm of unpack and pack.
//
// A team of warps shares a list of descriptors. Each warp:
//   1. finds its next piece: large_device.cuh, or small_device.cuh if the first pages are all up
//      to 1 KiB;
//   2. loads pieces by bulk copies into its own ring in shared memory, several ahead. The
//      engine takes 16-aligned addresses only: it loads the 16-aligned cover of a piece. If the
//      cover leaves the source region, it loads the aligned inside, and lanes load the ends;
//   3. stores pieces: by the engine if source and target are equally aligned, else by
//      two 16-byte shared loads, a funnel shift and an aligned 16-byte store; ends of up to
//      15 bytes are copied byte by byte (piece_device.cuh).
//
// A kernel calls beginPageCopies() before its first copy. No barrier of the block is used. Nothing
// outside the source region is read, and nothing outside the targets of valid descriptors is
// written.

#ifndef COLL_RUNTIME_KERNELS_PAGES_PAGE_COPY_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PAGES_PAGE_COPY_DEVICE_CUH

#include "runtime/kernels/pages/large_device.cuh"
#include "runtime/kernels/pages/small_device.cuh"

namespace coll::kernels {

// Shared memory of `warps` warps, aligned to 128.
constexpr uint64_t pageCopySharedBytes(uint32_t warps) {
  return uint64_t{warps} * sizeof(PageShared);
}

// This warp's part of the block's.
COLL_DEVICE PageShared &pageCopyShared(char *shared) {
  return reinterpret_cast<PageShared *>(shared)[simt::threadIndex() / simt::kWarpThreads];
}

// Every warp that will copy calls it once before its first copy. From then on the memory belongs to
// the copies.
COLL_DEVICE void beginPageCopies(char *shared) {
  PageShared &own = pageCopyShared(shared);
  if (simt::lane() < kMaxLoads) {
    simt::barrierInit(own.barriers + simt::lane());
    simt::barrierPublish();
  }
  if (simt::lane() == 0)
    own.parities = 0;
  simt::syncWarp();
}

// Copies pages [begin, end) with a team; every warp of the team calls it, with its own part of
// shared memory. `readable`, at least `end`, may exceed it if descriptors beyond the end can be
// read. `count` returns `end`; it is called after the first descriptors were requested, so that the
// two reads, perhaps over PCIe, overlap.
template <PageDirection direction, class Count>
COLL_DEVICE void copyPages(const rt::PageDescriptor *pages, uint32_t begin, uint32_t readable,
                           Count count, const PageRegions &regions, uint64_t *errorWord,
                           WarpTeam team, PageShared &shared) {
  if (begin >= readable)
    return;
  PageList list(regions, pages, begin, errorWord);
  list.fetch(readable);
  const uint32_t end = count();
  if (!list.advance(end))
    return;
  if (simt::ballot(list.page().len > kSmallPieceBytes) == 0)
    copySmallPages<direction>(regions, pages, begin, end, errorWord, team, shared);
  else
    copyLargePages<direction>(regions, list, end, team, shared);
}

// The warps of this block.
COLL_DEVICE WarpTeam blockTeam() {
  return {simt::threadIndex() / simt::kWarpThreads, simt::blockThreads() / simt::kWarpThreads};
}

// The part of `count` pages that a block of a grid copies.
struct GridShare {
  uint32_t begin, end;
  WarpTeam team;
};

// Blocks take equal runs of pages. If there are too few pages for that, all warps of the grid share
// all pages.
COLL_DEVICE GridShare gridShare(uint32_t count) {
  const uint32_t block = simt::blockIndex(), blocks = simt::gridBlocks();
  const WarpTeam team = blockTeam();
  if (count < 2 * blocks)
    return {0, count, {block * team.count + team.index, blocks * team.count}};
  const uint32_t each = count / blocks, longer = count % blocks;
  return {each * block + minimum(block, longer), each * (block + 1) + minimum(block + 1, longer),
          team};
}

// The number of pages of a slot, checked.
COLL_DEVICE uint32_t slotCount(const uint64_t *count, uint32_t slot, uint64_t *errorWord) {
  const uint64_t pages = count[slot];
  if (pages <= rt::kUnpackSlotPages)
    return static_cast<uint32_t>(pages);
  if (simt::threadIndex() == 0 && errorWord)
    simt::storeRelaxed(errorWord, kernels::errorWord(KernelError::PageCount, slot));
  return 0;
}
} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_PAGE_COPY_DEVICE_CUH
