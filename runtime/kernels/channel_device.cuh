// channel_device.cuh - the loop of one block of the persistent kernel, for GPU and host.
//
// Phases, per item of the block's queue (layouts and roles: runtime/base/channel_layout.h):
//
//   1. wait     thread 0 polls the item's number, bounded by idleTimeoutNs and `abort`
//   2. fetch    a few threads copy the item into shared memory: one read over the bus
//   3. fence    where the item asks: thread 0 waits for the heads of the queue's blocks
//   4. move     all threads do this block's share: copy, reduce, or unpack pages
//   5. publish  barrier, then thread 0: system fence, the head; `done`, with release
//
// Exit ends the launch after its item; the head stays in ChannelState, so the next launch
// goes on with the next item. An error ends it before the item.
//
// **Memory order.** 1 acquires what the host released with `seq`: thread 0's acquire at
// system scope, then the barrier, order all reads of this block after everything that the
// host, or a socket, wrote before. 5: the barrier orders all writes of the block before
// thread 0's fence and release, which carry them to whoever acquires the head or `done`. Nothing is
// a "read-only" load (ld.global.nc, __restrict__): that memory changes while the kernel runs.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_CHANNEL_DEVICE_CUH

#include "runtime/base/channel_layout.h"
#include "runtime/kernels/channel_reduce.cuh"
#include "runtime/kernels/unpack_device.cuh"

namespace coll::kernels::channel {

using rt::ChannelError;
using rt::ChannelItem;
using rt::ChannelLaunch;
using rt::ChannelOp;

// What a block shares among its threads.
struct Scratch {
  ChannelItem item;
  const void *sources[rt::kChannelMaxSources];
  uint32_t verdict; // of thread 0's wait: 0, a ChannelError, or kAborted
};
inline constexpr uint32_t kAborted = ~0u;

// Shared memory of a block: Scratch, then the rings of unpackSlice.
constexpr uint64_t sharedBytes(uint32_t warps) {
  return (sizeof(Scratch) + 127) / 128 * 128 + pageCopySharedBytes(warps);
}

// The loop of one block: see the phases above.
class Loop {
public:
  // `shared`: sharedBytes() of the block's warps, aligned to 128.
  COLL_DEVICE Loop(char *shared, const ChannelLaunch &launch)
      : scratch_(*reinterpret_cast<Scratch *>(shared)), rings_(shared + sharedBytes(0)),
        launch_(launch), block_(simt::blockIndex()),
        share_{block_ % launch.blocksPerQueue, launch.blocksPerQueue},
        queue_(launch.shared->queues[block_ / launch.blocksPerQueue]),
        head_(launch.state->head[block_].seq) {}

  COLL_DEVICE void run() {
    while (next()) {
    }
    if (isFirst())
      simt::storeRelease(&launch_.shared->exited[block_].seq, launch_.number);
  }

private:
  COLL_DEVICE static bool isFirst() { return simt::threadIndex() == 0; }

  // One item; false when the launch ends.
  COLL_DEVICE bool next() {
    if (isFirst())
      scratch_.verdict = waitForItem();
    simt::syncBlock();
    if (scratch_.verdict)
      return fail(scratch_.verdict);
    fetch();
    const ChannelItem &item = scratch_.item;
    if (item.flags & rt::kChannelFence) {
      if (isFirst())
        scratch_.verdict = waitForBlocks();
      simt::syncBlock();
      if (scratch_.verdict)
        return fail(scratch_.verdict);
    }
    const ChannelOp op = item.op; // thread 0 may soon wait for the next item
    if (!move(item))
      return fail(static_cast<uint32_t>(ChannelError::BadItem));
    simt::syncBlock();
    publish();
    return op != ChannelOp::Exit;
  }

  COLL_DEVICE uint32_t waitForItem() {
    const uint64_t *seq = &queue_.items[head_ % rt::kChannelSlots].seq;
    return spin(seq, [&](uint64_t now) { return now == head_ + 1; }, ChannelError::Idle);
  }

  COLL_DEVICE uint32_t waitForBlocks() {
    uint32_t first = block_ - share_.index;
    for (uint32_t b = first; b < first + share_.of; ++b)
      if (uint32_t verdict = spin(
              &launch_.state->head[b].seq, [&](uint64_t now) { return now >= head_; },
              ChannelError::Fence))
        return verdict;
    return 0;
  }

  // 0 once the word has come. Looks at abort now and then: each look is a read over the bus.
  template <typename Come>
  COLL_DEVICE uint32_t spin(const uint64_t *word, Come &&hasCome, ChannelError late) {
    constexpr uint32_t kRoundsPerLook = 16;
    uint64_t start = simt::clockNs();
    for (uint32_t round = 1; !hasCome(simt::loadAcquire(word)); ++round) {
      simt::pause();
      if (round % kRoundsPerLook != 0)
        continue;
      if (simt::loadAcquire(&launch_.shared->abort))
        return kAborted;
      if (simt::clockNs() - start > launch_.idleTimeoutNs)
        return static_cast<uint32_t>(late);
    }
    return 0;
  }

  COLL_DEVICE void fetch() {
    constexpr uint32_t kVectors = sizeof(ChannelItem) / sizeof(simt::Vec16);
    const uint32_t slot = static_cast<uint32_t>(head_ % rt::kChannelSlots);
    const auto *from = reinterpret_cast<const simt::Vec16 *>(&queue_.items[slot]);
    auto *to = reinterpret_cast<simt::Vec16 *>(&scratch_.item);
    for (uint32_t i = simt::threadIndex(); i < kVectors; i += simt::blockThreads())
      simt::store16(to + i, simt::loadGlobal16(from + i));
    simt::syncBlock();
    const ChannelItem &item = scratch_.item;
    if (item.op != ChannelOp::Reduce || item.numSources > rt::kChannelMaxSources)
      return;
    for (uint32_t i = simt::threadIndex(); i < item.numSources; i += simt::blockThreads())
      scratch_.sources[i] = item.numSources > 2 ? queue_.sources[slot][i] : item.src[i];
    simt::syncBlock();
  }

  // False for an item that does not exist; all threads agree.
  COLL_DEVICE bool move(const ChannelItem &item) {
    switch (item.op) {
    case ChannelOp::Exit:
      return true;
    case ChannelOp::Copy:
      copyShare(item, share_);
      return true;
    case ChannelOp::Reduce:
      return reduceShare(item, scratch_.sources, share_);
    case ChannelOp::Unpack:
      return unpackShare(item);
    case ChannelOp::CopyRows:
      copyRowsShare(item, share_);
      return true;
    }
    return false;
  }

  // The warps of all the queue's blocks share the pages.
  COLL_DEVICE bool unpackShare(const ChannelItem &item) {
    if (item.pageSlot >= rt::kUnpackSlots)
      return false;
    const WarpTeam own = blockTeam();
    const PageRegions regions{static_cast<char *>(const_cast<void *>(item.src[0])), item.srcBytes,
                              static_cast<char *>(item.dst), item.bytes};
    unpackSlice(static_cast<const rt::UnpackMeta *>(item.src[1]), item.pageSlot, regions,
                &launch_.shared->pageErrors[block_],
                {share_.index * own.count + own.index, share_.of * own.count}, rings_);
    return true;
  }

  COLL_DEVICE void publish() {
    ++head_;
    if (!isFirst())
      return;
    // The fence is for the head, which the queue's other blocks acquire.
    simt::fenceSystem();
    simt::storeRelaxed(&launch_.state->head[block_].seq, head_);
    simt::storeRelease(&launch_.shared->done[block_].seq, head_);
  }

  COLL_DEVICE bool fail(uint32_t verdict) {
    if (isFirst() && verdict != kAborted)
      simt::storeRelease(&launch_.shared->error[block_], verdict);
    return false;
  }

  Scratch &scratch_;
  char *rings_;
  const ChannelLaunch &launch_;
  const uint32_t block_;
  const Share share_;
  const rt::ChannelQueue &queue_;
  uint64_t head_;
};

} // namespace coll::kernels::channel

#endif // COLL_RUNTIME_KERNELS_CHANNEL_DEVICE_CUH
