// unpack_device.cuh - copies pages of a bounce buffer to their destinations.
//
// To use it inside another kernel, for example a persistent one with a block per channel:
//
//   beginPageCopies(shared);                                   // all threads, at the start
//   MessageCursor cursor(handle->head);
//   …the channel says that the next message is complete; this thread has acquired that…
//   simt::syncBlock();
//   unpackSlice(handle->meta, cursor.next(), regions, errorWord, blockTeam(), shared);
//   simt::syncBlock();                                         // now every thread sees it
//   …
//   if (simt::threadIndex() == 0) handle->head = cursor.head;  // at the end
//
// A kernel that receives from several peers uses UnpackGroup. The phases are those of
// page_copy_device.cuh.

#ifndef COLL_RUNTIME_KERNELS_PAGES_UNPACK_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PAGES_UNPACK_DEVICE_CUH

#include "runtime/kernels/pages/page_copy.h"
#include "runtime/kernels/pages/page_copy_device.cuh"

namespace coll::kernels {

// Counts the messages of a connection as UnpackHandle::head does: each message consumes a slot,
// even an empty one.
struct MessageCursor {
  uint64_t head;
  COLL_DEVICE explicit MessageCursor(uint64_t saved) : head(saved) {}
  COLL_DEVICE uint32_t next() { return static_cast<uint32_t>(++head % rt::kUnpackSlots); }
};

// Copies the pages of one message; all warps of the team call it.
//
// The message has to be visible to every calling thread: one thread has acquired it at system
// scope, and a barrier followed. After the call a warp sees its own writes; it sees the other
// warps' after a barrier. Regions may have any address and size; nothing outside [bounce, bounce +
// bounceBytes) is read and nothing outside [buffer, buffer + bufferBytes) is written. A descriptor
// that would do so is skipped and reported. If there are more than kUnpackSlotPages descriptors,
// that is reported, and none is copied. errorWord may be null. `shared`: pageCopySharedBytes(warps
// of the block) bytes, aligned to 128, which only copies have used since beginPageCopies().
COLL_DEVICE void unpackSlice(const rt::UnpackMeta *meta, uint32_t slot, const PageRegions &regions,
                             uint64_t *errorWord, WarpTeam team, char *shared) {
  copyPages<PageDirection::Unpack>(
      meta->pages[slot], 0, rt::kUnpackSlotPages,
      [&] { return slotCount(meta->count, slot, errorWord); }, regions, errorWord, team,
      pageCopyShared(shared));
}

// The connections to several peers from which the warps of a block receive, in shared memory. One
// thread lets them join before a barrier. Then, whenever messages have arrived, all of which this
// thread has acquired:
//
//   simt::syncBlock();
//   unpackGroup(group, arrived, regionsOf, errorWord, blockTeam(), shared);   // all warps
//   simt::syncBlock();                                                        // all threads see it
//   if (simt::threadIndex() == 0)
//     unpackConsume(group, arrived);
//
// At the end that thread calls unpackSave(). Peers whose data arrives without pages do not join;
// their bits in `arrived` are ignored.
struct UnpackGroup {
  uint32_t mask; // peers that have joined
  rt::UnpackHandle *handles[UnpackGroupCopy::kPeers];
  uint64_t heads[UnpackGroupCopy::kPeers];
};

COLL_DEVICE void unpackJoin(UnpackGroup &group, uint32_t peer, rt::UnpackHandle *handle) {
  group.mask |= 1u << peer;
  group.handles[peer] = handle;
  group.heads[peer] = handle->head;
}

// Calls body(peer) for each bit.
template <class Body>
COLL_DEVICE void forEachPeer(uint32_t mask, Body body) {
  for (uint32_t peer = 0; peer < UnpackGroupCopy::kPeers; ++peer)
    if (mask >> peer & 1)
      body(peer);
}

// Copies the next message of each peer of `arrived`, see unpackSlice(); regionsOf(peer) returns its
// regions.
template <class RegionsOf>
COLL_DEVICE void unpackGroup(const UnpackGroup &group, uint32_t arrived, RegionsOf regionsOf,
                             uint64_t *errorWord, WarpTeam team, char *shared) {
  forEachPeer(arrived & group.mask, [&](uint32_t peer) {
    MessageCursor cursor(group.heads[peer]);
    unpackSlice(group.handles[peer]->meta, cursor.next(), regionsOf(peer), errorWord, team, shared);
  });
}

COLL_DEVICE void unpackConsume(UnpackGroup &group, uint32_t arrived) {
  forEachPeer(arrived & group.mask, [&](uint32_t peer) { ++group.heads[peer]; });
}

COLL_DEVICE void unpackSave(const UnpackGroup &group) {
  forEachPeer(group.mask, [&](uint32_t peer) { group.handles[peer]->head = group.heads[peer]; });
}

// Kernel: `count` pages, with the whole grid.
COLL_DEVICE void unpackPagesKernel(const rt::PageDescriptor *pages, uint32_t count,
                                   const PageRegions &regions, uint64_t *errorWord, char *shared) {
  beginPageCopies(shared);
  const GridShare share = gridShare(count);
  copyPages<PageDirection::Unpack>(
      pages, share.begin, share.end, [&] { return share.end; }, regions, errorWord, share.team,
      pageCopyShared(shared));
}

// Kernel: the next message of a connection, with the whole grid. A grid of one block saves
// the head; after a larger one, unpackAdvanceKernel does.
COLL_DEVICE void unpackNextKernel(rt::UnpackHandle *handle, uint64_t bounceBytes, char *buffer,
                                  uint64_t bufferBytes, uint64_t *errorWord, char *shared) {
  MessageCursor cursor(handle->head);
  const rt::UnpackMeta *meta = handle->meta;
  const uint32_t slot = cursor.next();
  const PageRegions regions{static_cast<char *>(handle->bounce), bounceBytes, buffer, bufferBytes};
  if (simt::gridBlocks() == 1) {
    beginPageCopies(shared);
    unpackSlice(meta, slot, regions, errorWord, blockTeam(), shared);
    simt::syncBlock();
    if (simt::threadIndex() == 0)
      handle->head = cursor.head;
  } else {
    unpackPagesKernel(meta->pages[slot], slotCount(meta->count, slot, errorWord), regions,
                      errorWord, shared);
  }
}

// Kernel, one thread: after unpackNextKernel on the same stream.
COLL_DEVICE void unpackAdvanceKernel(rt::UnpackHandle *handle) { ++handle->head; }

// Size before the warps' part of its shared memory.
constexpr uint64_t kUnpackGroupBytes = (sizeof(UnpackGroup) + 127) / 128 * 128;

// Kernel: the next message of each peer in the mask; blocks take turns at the peers.
COLL_DEVICE void unpackGroupKernel(const UnpackGroupCopy &copy, char *shared) {
  beginPageCopies(shared + kUnpackGroupBytes);
  UnpackGroup &group = *reinterpret_cast<UnpackGroup *>(shared);
  const bool isFirst = simt::threadIndex() == 0;
  if (isFirst) {
    group.mask = 0;
    uint32_t turn = 0;
    forEachPeer(copy.mask, [&](uint32_t peer) {
      if (turn++ % simt::gridBlocks() == simt::blockIndex())
        unpackJoin(group, peer, copy.peers[peer].handle);
    });
  }
  simt::syncBlock();
  const auto regionsOf = [&](uint32_t peer) {
    const UnpackGroupCopy::Peer &at = copy.peers[peer];
    return PageRegions{static_cast<char *>(group.handles[peer]->bounce), at.bounceBytes,
                       static_cast<char *>(at.buffer), at.bufferBytes};
  };
  unpackGroup(group, copy.mask, regionsOf, copy.errorWord, blockTeam(), shared + kUnpackGroupBytes);
  simt::syncBlock();
  if (isFirst) {
    unpackConsume(group, copy.mask);
    unpackSave(group);
  }
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_UNPACK_DEVICE_CUH
