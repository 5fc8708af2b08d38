// channel_layout.h - the memory that the host and the persistent kernel of a communicator share.
//
// The host puts work into queues, the kernel's blocks take it out:
//
//   ChannelShared  pinned host memory that the GPU maps. The host writes the queues and
//                  `abort`, the kernel everything else. There are no locks.
//   ChannelState   GPU memory: the state that a block continues from after a new launch.
//
// **Queues.** A launch has numQueues queues with blocksPerQueue blocks each. Every block of a queue
// reads every item of it, in order, and does its share. Item number n (from 1) is in slot (n - 1) %
// kChannelSlots; it may be read once its `seq` is n. With done[block].seq = n a block reports that
// its shares of item n and of all earlier items are done. An item is complete when all blocks of
// its queue have reported it, and only then may its slot be written again. Blocks do not wait for
// each other: an item that reads memory that an earlier item writes, or writes memory that it
// reads, may be posted only when the earlier one is complete.
//
// **Memory order.** `seq` of an item is written last, with release, and polled with acquire; so are
// done[].seq and the error. Both sides use system scope. Bulk data needs no order of its own: the
// kernel sees what the host (or a socket) wrote before an item's seq, and the host sees what a
// block wrote before its done.

#ifndef COLL_RUNTIME_BASE_CHANNEL_LAYOUT_H
#define COLL_RUNTIME_BASE_CHANNEL_LAYOUT_H

#include <cstddef>
#include <cstdint>

namespace coll::rt {

inline constexpr uint32_t kChannelSlots = 16;
inline constexpr uint32_t kChannelMaxBlocks = 8;
inline constexpr uint32_t kChannelMaxQueues = 4;
inline constexpr uint32_t kChannelMaxSources = 64;

enum class ChannelOp : uint32_t {
  // Ends this launch of the block; the next one goes on with the item after it.
  Exit = 0,
  // dst = src[0], any alignment.
  Copy = 1,
  // dst[i] = src[0][i] (reduction) src[1][i] …, left to right; each address is a multiple of
  // the element's size. dst may be any of the sources.
  Reduce = 2,
  // Copies the pages that slot `pageSlot` of the UnpackMeta at src[1] describes from the bounce
  // buffer src[0] of `srcBytes` bytes to dst. A page outside either buffer is skipped and reported
  // in pageErrors, before `done`. The same item may be posted again.
  Unpack = 3,
  // `rows` rows of `bytes` bytes each, dstPitch and srcPitch bytes apart, from src[0] to
  // dst; any alignment.
  CopyRows = 4,
  // Compresses the srcBytes bytes at src[0] (any alignment, at most kCompressMaxBytes) into a
  // message (compressed_layout.h) at dst, which is aligned to 16 and has compressedBound(srcBytes)
  // bytes.
  Compress = 5,
  // Expands the compressed message of srcBytes bytes at src[0], aligned to 16, into dst. An invalid
  // page is skipped and reported like those of Unpack.
  Expand = 6,
};

// 128 bytes. Fields that an op does not use are ignored.
struct alignas(128) ChannelItem {
  uint64_t seq; // written last
  ChannelOp op;
  uint32_t pageSlot; // Unpack
  void *dst;
  const void *src[2];
  uint64_t bytes;      // of dst
  uint64_t srcBytes;   // Unpack, Compress, Expand
  uint32_t dtype;      // Reduce: CollDtype
  uint32_t reduction;  // Reduce: CollReduction
  uint32_t numSources; // Reduce: more than 2 stand in the slot's row of the table
  uint32_t divisor;    // Reduce with average: divides the result; 0 leaves the sum
  uint64_t rows;       // CopyRows, as the next two
  uint64_t dstPitch;
  uint64_t srcPitch;
};
static_assert(sizeof(ChannelItem) == 128 && offsetof(ChannelItem, bytes) == 40);

// A counter on a cache line of its own.
struct alignas(128) ChannelCounter {
  uint64_t seq;
};

// Why a block gave up. Only the first error that a block writes is kept.
enum class ChannelError : uint32_t {
  None = 0,
  Idle = 1,    // no work and no Exit for longer than idleTimeoutNs
  BadItem = 2, // an op, type, reduction, count or slot that does not exist
};

struct ChannelQueue {
  ChannelItem items[kChannelSlots];
  // sources[slot][i]: the sources of a Reduce with more than two.
  const void *sources[kChannelSlots][kChannelMaxSources];
};

struct alignas(128) ChannelShared {
  alignas(128) uint32_t abort;                    // set by the host: if not 0, every block ends
  alignas(128) uint32_t error[kChannelMaxBlocks]; // ChannelError
  // Error words of Unpack and Expand, by the item's slot; the host clears them.
  uint64_t pageErrors[kChannelMaxBlocks][kChannelSlots];
  ChannelCounter done[kChannelMaxBlocks];   // item numbers
  ChannelCounter exited[kChannelMaxBlocks]; // launch numbers: the block has left it
  ChannelQueue queues[kChannelMaxQueues];
};

// Zero at first.
struct ChannelState {
  ChannelCounter head[kChannelMaxBlocks]; // items done, kept across launches
  // Bytes of the message of a slot's Compress that blocks have reserved; 0 between items.
  uint32_t reserved[kChannelMaxQueues][kChannelSlots];
};

struct ChannelLaunch {
  ChannelShared *shared = nullptr; // as the GPU addresses it
  ChannelState *state = nullptr;   // GPU memory
  uint32_t numQueues = 0;          // 1 to kChannelMaxQueues
  uint32_t blocksPerQueue = 0;     // numQueues * blocksPerQueue <= kChannelMaxBlocks
  uint64_t number = 0;             // of the launch, from 1
  uint64_t idleTimeoutNs = 0;
  // Selects the kernel that knows Compress and Expand. It is a separate kernel, so that the other
  // one has the same machine code as without compression.
  bool compress = false;
};

inline const char *channelErrorName(uint32_t error) {
  switch (static_cast<ChannelError>(error)) {
  case ChannelError::None:
    return "none";
  case ChannelError::Idle:
    return "the host sent neither work nor an exit item";
  case ChannelError::BadItem:
    return "an item that the kernel does not know";
  }
  return "an unknown error";
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_CHANNEL_LAYOUT_H
