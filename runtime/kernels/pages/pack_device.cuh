// pack_device.cuh - the reverse of unpack: gathers a message's bytes into bounce pages.
//
// To use it inside another kernel: as in unpack_device.cuh, but with packSlice(); after the barrier
// that follows it, one thread calls packPublish().

#ifndef COLL_RUNTIME_KERNELS_PAGES_PACK_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PAGES_PACK_DEVICE_CUH

#include "runtime/kernels/pages/unpack_device.cuh"

namespace coll::kernels {

// Copies the pages of one message from the buffer to the bounce buffer; all warps of the team call
// it. The rules are those of unpackSlice(), with the regions exchanged.
COLL_DEVICE void packSlice(const rt::PackMeta *meta, uint32_t slot, const PageRegions &regions,
                           uint64_t *errorWord, WarpTeam team, char *shared) {
  copyPages<PageDirection::Pack>(
      meta->pages[slot], 0, rt::kUnpackSlotPages,
      [&] { return slotCount(meta->count, slot, errorWord); }, regions, errorWord, team,
      pageCopyShared(shared));
}

// Reports to the host that the message `head` is in the bounce buffer. Called by one thread, after
// a barrier with all threads that packed.
COLL_DEVICE void packPublish(rt::PackMeta *meta, uint64_t head) {
  simt::fenceSystem();
  simt::storeRelease(&meta->packed, head + 1);
}

// Kernel: `count` pages, with the whole grid.
COLL_DEVICE void packPagesKernel(const rt::PageDescriptor *pages, uint32_t count,
                                 const PageRegions &regions, uint64_t *errorWord, char *shared) {
  beginPageCopies(shared);
  const GridShare share = gridShare(count);
  copyPages<PageDirection::Pack>(
      pages, share.begin, share.end, [&] { return share.end; }, regions, errorWord, share.team,
      pageCopyShared(shared));
}

// Kernel: the next message of a connection, with the whole grid. A grid of one block
// publishes it and saves the head; after a larger one, packAdvanceKernel does.
COLL_DEVICE void packNextKernel(rt::PackHandle *handle, uint64_t bounceBytes, char *buffer,
                                uint64_t bufferBytes, uint64_t *errorWord, char *shared) {
  MessageCursor cursor(handle->head);
  rt::PackMeta *meta = handle->meta;
  const uint32_t slot = cursor.next();
  const PageRegions regions{static_cast<char *>(handle->bounce), bounceBytes, buffer, bufferBytes};
  if (simt::gridBlocks() == 1) {
    beginPageCopies(shared);
    packSlice(meta, slot, regions, errorWord, blockTeam(), shared);
    simt::syncBlock();
    if (simt::threadIndex() == 0) {
      packPublish(meta, cursor.head);
      handle->head = cursor.head;
    }
  } else {
    packPagesKernel(meta->pages[slot], slotCount(meta->count, slot, errorWord), regions, errorWord,
                    shared);
  }
}

// Kernel, one thread: after packNextKernel on the same stream.
COLL_DEVICE void packAdvanceKernel(rt::PackHandle *handle) {
  packPublish(handle->meta, ++handle->head);
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_PACK_DEVICE_CUH
