// channel_device.cuh - the loop of one block of the persistent kernel, for GPU and host.
//
// A block's warps have three roles, each with a loop over the items of the block's queue
// (layouts: runtime/base/channel_layout.h):
//
//   fetcher    polls the item's number, bounded by idleTimeoutNs and `abort`, and copies the
//              item into one of two slots of shared memory: two reads over the bus
//   workers    do this block's share: copy, reduce, unpack pages, compress or expand them
//   publisher  stores `done` with release for the host, once all workers have finished the item
//
// So the next item is loaded before the last one's bytes have arrived, and between items no warp
// waits for a slower one. The roles meet at three barriers per slot: full (the fetcher arrives),
// done (each worker warp), free (the publisher).
//
// Exit ends the launch after its item; the head stays in ChannelState, so the next launch continues
// with the next item. An error ends the launch before the item.
//
// **Memory order.** The fetcher acquires, at system scope, what the host released with `seq`. That
// and `full` order all reads of the workers after everything that the host, or a socket, wrote
// before. `done` orders all writes of the workers before the publisher's release, which makes them
// visible to a thread that acquires `done`. No load may be "read-only" (ld.global.nc,
// __restrict__), because the memory changes while the kernel runs.

#ifndef COLL_RUNTIME_KERNELS_CHANNEL_CHANNEL_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_CHANNEL_CHANNEL_DEVICE_CUH

#include "runtime/base/channel_layout.h"
#include "runtime/kernels/channel/reduce.cuh"
#include "runtime/kernels/compress/compress_device.cuh"
#include "runtime/kernels/pages/unpack_device.cuh"

namespace coll::kernels::channel {

using rt::ChannelError;
using rt::ChannelItem;
using rt::ChannelLaunch;
using rt::ChannelOp;

inline constexpr uint32_t kDepth = 2; // items that a block holds

// An item that a block works on, in shared memory.
struct Slot {
  ChannelItem item;
  const void *sources[rt::kChannelMaxSources];
  simt::Barrier full, done, free;
  uint32_t verdict; // 0, a ChannelError, or kAborted: no item, the launch ends
};
inline constexpr uint32_t kAborted = ~0u;

// Shared memory of a block: the slots, then the workers' rings.
constexpr uint64_t sharedBytes(uint32_t workerWarps) {
  return (kDepth * sizeof(Slot) + 127) / 128 * 128 + pageCopySharedBytes(workerWarps);
}

// The loop of one block: see above. Its last two warps are not workers. Without `compress`, the ops
// Compress and Expand are unknown ops.
template <bool compress>
class Loop {
public:
  // `shared`: sharedBytes() of the block's workers, aligned to 128.
  COLL_DEVICE Loop(char *shared, const ChannelLaunch &launch)
      : slots_(reinterpret_cast<Slot *>(shared)), rings_(shared + sharedBytes(0)), launch_(launch),
        block_(simt::blockIndex()), share_{block_ % launch.blocksPerQueue, launch.blocksPerQueue},
        queue_(launch.shared->queues[block_ / launch.blocksPerQueue]),
        head_(launch.state->head[block_].seq) {}

  COLL_DEVICE void run() {
    const uint32_t warp = simt::threadIndex() / simt::kWarpThreads;
    const uint32_t workers = workerThreads() / simt::kWarpThreads;
    if (simt::threadIndex() < kDepth) {
      Slot &slot = slots_[simt::threadIndex()];
      simt::barrierInit(&slot.full, 1);
      simt::barrierInit(&slot.done, workers);
      simt::barrierInit(&slot.free, 1);
      simt::barrierPublish();
    }
    simt::syncBlock();
    if (warp < workers)
      work();
    else if (warp == workers)
      fetchItems();
    else if (simt::lane() == 0)
      publishItems();
  }

private:
  // Slot of the launch's k-th item, from 0, and the parity of its barriers' phases.
  COLL_DEVICE Slot &slot(uint64_t k) const { return slots_[k % kDepth]; }
  COLL_DEVICE static uint32_t parity(uint64_t k) { return static_cast<uint32_t>(k / kDepth & 1); }

  //===-- fetcher ---------------------------------------------------------------===//

  COLL_DEVICE void fetchItems() {
    // Buffers that items name may be freed if the launch starts after the host has given up.
    const bool isLate = simt::lane() == 0 && isAborted();
    for (uint64_t k = 0;; ++k) {
      Slot &to = slot(k);
      if (k >= kDepth)
        simt::barrierWait(&to.free, parity(k - kDepth));
      uint32_t verdict = simt::lane() != 0 ? 0 : isLate ? kAborted : waitForItem(head_ + k);
      verdict = simt::shuffle(verdict, 0);
      simt::syncWarp(); // all lanes see what the first lane has acquired
      if (!verdict)
        verdict = fetch(to, static_cast<uint32_t>((head_ + k) % rt::kChannelSlots));
      const ChannelOp op = to.item.op;
      if (simt::lane() == 0) {
        to.verdict = verdict;
        simt::barrierArrive(&to.full);
      }
      if (verdict || op == ChannelOp::Exit)
        return;
    }
  }

  // Returns 0 once item `number` (from 0) has been posted. Checks abort only from time to time,
  // because each check is a read over the bus.
  COLL_DEVICE uint32_t waitForItem(uint64_t number) const {
    constexpr uint32_t kRoundsPerLook = 16;
    const uint64_t *seq = &queue_.items[number % rt::kChannelSlots].seq;
    const uint64_t start = simt::clockNs();
    for (uint32_t round = 1; simt::loadAcquire(seq) != number + 1; ++round) {
      simt::pause();
      if (round % kRoundsPerLook != 0)
        continue;
      if (isAborted())
        return kAborted;
      if (simt::clockNs() - start > launch_.idleTimeoutNs)
        return static_cast<uint32_t>(ChannelError::Idle);
    }
    return 0;
  }

  COLL_DEVICE bool isAborted() const { return simt::loadAcquire(&launch_.shared->abort) != 0; }

  // Called by one warp. Returns 0, or BadItem; the same in all lanes.
  COLL_DEVICE uint32_t fetch(Slot &to, uint32_t from) const {
    constexpr uint32_t kVectors = sizeof(ChannelItem) / sizeof(simt::Vec16);
    const auto *words = reinterpret_cast<const simt::Vec16 *>(&queue_.items[from]);
    if (simt::lane() < kVectors)
      simt::store16(reinterpret_cast<simt::Vec16 *>(&to.item) + simt::lane(),
                    simt::loadGlobal16(words + simt::lane()));
    simt::syncWarp();
    const ChannelItem &item = to.item;
    if (!exists(item))
      return static_cast<uint32_t>(ChannelError::BadItem);
    if (item.op == ChannelOp::Reduce)
      for (uint32_t i = simt::lane(); i < item.numSources; i += simt::kWarpThreads)
        to.sources[i] = item.numSources > 2 ? queue_.sources[from][i] : item.src[i];
    simt::syncWarp();
    return 0;
  }

  COLL_DEVICE static bool exists(const ChannelItem &item) {
    switch (item.op) {
    case ChannelOp::Exit:
    case ChannelOp::Copy:
    case ChannelOp::CopyRows:
      return true;
    case ChannelOp::Reduce:
      return item.numSources != 0 && item.numSources <= rt::kChannelMaxSources &&
             visitReduction(item.dtype, item.reduction, [](auto, auto) {});
    case ChannelOp::Unpack:
      return item.pageSlot < rt::kUnpackSlots;
    case ChannelOp::Compress:
      return compress && item.srcBytes != 0 && item.srcBytes <= rt::kCompressMaxBytes &&
             item.bytes >= rt::compressedBound(item.srcBytes) && misalignment(item.dst) == 0;
    case ChannelOp::Expand:
      return compress && item.bytes <= rt::kCompressMaxBytes &&
             item.srcBytes >= rt::compressedTableBytes(item.bytes) &&
             misalignment(item.src[0]) == 0;
    }
    return false;
  }

  //===-- workers ---------------------------------------------------------------===//

  COLL_DEVICE void work() {
    beginPageCopies(rings_);
    for (uint64_t k = 0;; ++k) {
      Slot &from = slot(k);
      simt::barrierWait(&from.full, parity(k));
      if (from.verdict)
        return;
      const ChannelOp op = from.item.op; // the slot is free once all have arrived
      move(from);
      simt::syncWarp();
      if (simt::lane() == 0)
        simt::barrierArrive(&from.done);
      if (op == ChannelOp::Exit)
        return;
    }
  }

  COLL_DEVICE void move(const Slot &from) {
    const ChannelItem &item = from.item;
    switch (item.op) {
    case ChannelOp::Exit:
      return;
    case ChannelOp::Copy:
      return copyRun(static_cast<char *>(item.dst), static_cast<const char *>(item.src[0]),
                     item.bytes, team(), pageCopyShared(rings_));
    case ChannelOp::Reduce:
      return reduceShare(item, from.sources, share_);
    case ChannelOp::Unpack:
      return unpackSlice(static_cast<const rt::UnpackMeta *>(item.src[1]), item.pageSlot,
                         {static_cast<char *>(const_cast<void *>(item.src[0])), item.srcBytes,
                          static_cast<char *>(item.dst), item.bytes},
                         pageErrorOf(item), team(), rings_);
    case ChannelOp::CopyRows:
      return copyRowsShare(item, share_);
    case ChannelOp::Compress:
      if constexpr (compress)
        compressRun(static_cast<char *>(item.dst), static_cast<const char *>(item.src[0]),
                    item.srcBytes, reservedOf(item), team(), pageCopyShared(rings_));
      return;
    case ChannelOp::Expand:
      if constexpr (compress)
        expandRun(static_cast<char *>(item.dst), item.bytes, static_cast<const char *>(item.src[0]),
                  item.srcBytes, pageErrorOf(item), team(), pageCopyShared(rings_));
      return;
    }
  }

  COLL_DEVICE uint64_t *pageErrorOf(const ChannelItem &item) const {
    return &launch_.shared->pageErrors[block_][(item.seq - 1) % rt::kChannelSlots];
  }

  COLL_DEVICE uint32_t *reservedOf(const ChannelItem &item) const {
    const uint32_t queue = block_ / launch_.blocksPerQueue;
    return &launch_.state->reserved[queue][(item.seq - 1) % rt::kChannelSlots];
  }

  // This warp's number among those of all the queue's blocks. Neighbours are in different blocks,
  // so that short items spread.
  COLL_DEVICE WarpTeam team() const {
    const uint32_t warp = simt::threadIndex() / simt::kWarpThreads;
    return {warp * share_.of + share_.index, workerThreads() / simt::kWarpThreads * share_.of};
  }

  //===-- publisher -------------------------------------------------------------===//

  // Run by one thread.
  COLL_DEVICE void publishItems() {
    for (bool more = true; more;) {
      const uint64_t k = published_;
      Slot &from = slot(k);
      simt::barrierWait(&from.full, parity(k));
      if (const uint32_t verdict = from.verdict) {
        if (verdict != kAborted)
          simt::storeRelease(&launch_.shared->error[block_], verdict);
        break;
      }
      more = from.item.op != ChannelOp::Exit;
      simt::barrierWait(&from.done, parity(k));
      simt::storeRelease(&launch_.shared->done[block_].seq, head_ + ++published_);
      simt::barrierArrive(&from.free);
    }
    launch_.state->head[block_].seq = head_ + published_;
    simt::storeRelease(&launch_.shared->exited[block_].seq, launch_.number);
  }

  Slot *const slots_;
  char *const rings_;
  const ChannelLaunch &launch_;
  const uint32_t block_;
  const Share share_;
  const rt::ChannelQueue &queue_;
  const uint64_t head_; // items done by earlier launches
  uint64_t published_ = 0;
};

} // namespace coll::kernels::channel

#endif // COLL_RUNTIME_KERNELS_CHANNEL_CHANNEL_DEVICE_CUH
