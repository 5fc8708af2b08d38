// peer_ring_device.cuh - large messages: rings of slots between blocks of one number.
//
// For every lane, block and pair of members there is a ring in the target's workspace. The
// source's block waits for room, writes a slot with ordinary stores, and publishes it; the
// target's block waits for data, reads the slot, and releases it. Counts run on from call to
// call, so the first slots of a call need no exchange.
//
// **Memory order.** publish: the barrier of the block orders all its stores before the release,
// at system scope, of the count `arrived`. await: one thread acquires the count, the barrier
// passes that on to the block; the acquire also empties the L1 cache of old lines. Releasing a
// slot is the same the other way round: reads before the release of `credited`.

#ifndef COLL_RUNTIME_KERNELS_PEER_RING_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_RING_DEVICE_CUH

#include "runtime/kernels/peer_device.cuh"
#include "runtime/kernels/peer_place.cuh"

namespace coll::kernels::peer {

// Of a block, in shared memory.
struct RingScratch {
  uint32_t pushed[kRingLanes][kMaxPeers];
  uint32_t taken[kRingLanes][kMaxPeers];
};

// Block-wide: all threads make the same calls. Member sets are masks without this member.
class Rings {
public:
  COLL_DEVICE Rings(const PeerGroup &group, const Call &call, char *shared)
      : group_(group), call_(call), scratch_(*reinterpret_cast<RingScratch *>(shared)),
        thread_(simt::threadIndex()) {
    for (uint32_t i = thread_; i < kRingLanes * group.size; i += simt::blockThreads()) {
      const RingCounts &counts = countsOf(group.rank, i / group.size, i % group.size);
      scratch_.pushed[i / group.size][i % group.size] = counts.pushed;
      scratch_.taken[i / group.size][i % group.size] = counts.taken;
    }
    simt::syncBlock();
  }

  // At the end of the call.
  COLL_DEVICE void save() const {
    simt::syncBlock();
    for (uint32_t i = thread_; i < kRingLanes * group_.size; i += simt::blockThreads()) {
      RingCounts &counts = countsOf(group_.rank, i / group_.size, i % group_.size);
      counts.pushed = scratch_.pushed[i / group_.size][i % group_.size];
      counts.taken = scratch_.taken[i / group_.size][i % group_.size];
    }
  }

  // Until all of them have entered the call; false: give up.
  COLL_DEVICE bool awaitEntry(uint32_t members) const {
    return !simt::syncBlockAny(isMine(members) && !call_.awaitEntry(thread_));
  }

  // Until there is a free slot at each target; false: give up.
  COLL_DEVICE bool awaitRoom(uint32_t lane, uint32_t targets) const {
    bool over = false;
    if (isMine(targets)) {
      const uint32_t *credited = &countsOf(group_.rank, lane, thread_).credited;
      Watch watch(group_);
      while (scratch_.pushed[lane][thread_] - simt::loadAcquire(credited) >= group_.layout.slots &&
             !over)
        over = watch.isOver(thread_);
    }
    return !simt::syncBlockAny(over);
  }

  // Until each source has published a slot that was not released; false: give up.
  COLL_DEVICE bool awaitData(uint32_t lane, uint32_t sources) const {
    bool over = false;
    if (isMine(sources)) {
      const uint32_t *arrived = &countsOf(group_.rank, lane, thread_).arrived;
      Watch watch(group_);
      while (simt::loadAcquire(arrived) == scratch_.taken[lane][thread_] && !over)
        over = watch.isOver(thread_);
    }
    return !simt::syncBlockAny(over);
  }

  // The next slot to write at a target, to read from a source.
  COLL_DEVICE char *slotAt(uint32_t lane, uint32_t target) const {
    return slot(target, lane, group_.rank, scratch_.pushed[lane][target]);
  }
  COLL_DEVICE char *dataOf(uint32_t lane, uint32_t source) const {
    return slot(group_.rank, lane, source, scratch_.taken[lane][source]);
  }

  // What was written to `targets` may be read; what was read from `sources` may be written.
  COLL_DEVICE void publish(uint32_t lane, uint32_t targets) const {
    signal(lane, targets, lane, 0);
  }
  COLL_DEVICE void release(uint32_t lane, uint32_t sources) const {
    signal(lane, 0, lane, sources);
  }
  COLL_DEVICE void signal(uint32_t publishLane, uint32_t targets, uint32_t releaseLane,
                          uint32_t sources) const {
    simt::syncBlock();
    if (isMine(targets))
      simt::storeRelease(&countsOf(thread_, publishLane, group_.rank).arrived,
                         ++scratch_.pushed[publishLane][thread_]);
    if (isMine(sources))
      simt::storeRelease(&countsOf(thread_, releaseLane, group_.rank).credited,
                         ++scratch_.taken[releaseLane][thread_]);
  }

private:
  COLL_DEVICE bool isMine(uint32_t members) const {
    return thread_ < group_.size && isIn(members, thread_);
  }
  COLL_DEVICE RingCounts &countsOf(uint32_t member, uint32_t lane, uint32_t with) const {
    return stateOf(group_, member).rings[lane][simt::blockIndex()][with];
  }
  COLL_DEVICE char *slot(uint32_t member, uint32_t lane, uint32_t source, uint32_t count) const {
    const WorkspaceLayout &layout = group_.layout;
    const uint64_t ring =
        (uint64_t{lane} * layout.ringBlocks + simt::blockIndex()) * group_.size + source;
    return group_.workspace[member] + layout.rings +
           (ring * layout.slots + count % layout.slots) * layout.slotBytes;
  }

  const PeerGroup &group_;
  const Call &call_;
  RingScratch &scratch_;
  const uint32_t thread_;
};

// --- vectors between users' buffers and slots, by all threads of a block

inline constexpr uint32_t kCopyBatch = 4; // loads in flight per thread

// From vector `first` on.
COLL_DEVICE void copyOut(const Buffer &from, uint64_t first, uint64_t count, char *slot) {
  const uint64_t stride = simt::blockThreads();
  if (!from.isPlain() || (first + count) * kVec > from.bytes) {
    for (uint64_t i = simt::threadIndex(); i < count; i += stride)
      simt::storeGlobal16(slot + i * kVec, from.load(first + i));
    return;
  }
  const char *source = from.base + first * kVec;
  for (uint64_t at = simt::threadIndex(); at < count; at += stride * kCopyBatch) {
    Vec16 v[kCopyBatch];
    COLL_UNROLL(4)
    for (uint32_t u = 0; u < kCopyBatch; ++u)
      if (at + u * stride < count)
        v[u] = simt::loadGlobal16(source + (at + u * stride) * kVec);
    COLL_UNROLL(4)
    for (uint32_t u = 0; u < kCopyBatch; ++u)
      if (at + u * stride < count)
        simt::storeGlobal16(slot + (at + u * stride) * kVec, v[u]);
  }
}
COLL_DEVICE void copyIn(const char *slot, const Buffer &to, uint64_t first, uint64_t count) {
  const uint64_t stride = simt::blockThreads();
  if (!to.isPlain() || (first + count) * kVec > to.bytes) {
    for (uint64_t i = simt::threadIndex(); i < count; i += stride)
      to.store(first + i, simt::loadGlobal16(slot + i * kVec));
    return;
  }
  // As plain buffers differ in nothing, the loop above with sides exchanged.
  copyOut(Buffer(slot, count * kVec), 0, count, to.base + first * kVec);
}
// Between two buffers, the same vectors of both.
COLL_DEVICE void copyAcross(const Buffer &from, const Buffer &to, uint64_t first, uint64_t count) {
  if (to.isPlain() && (first + count) * kVec <= to.bytes)
    return copyOut(from, first, count, to.base + first * kVec);
  for (uint64_t i = simt::threadIndex(); i < count; i += simt::blockThreads())
    to.store(first + i, from.load(first + i));
}

// Pieces of a block: piece k are `count` vectors from `first` on.
struct Piece {
  uint64_t first;
  uint64_t count;
};
class Pieces {
public:
  COLL_DEVICE Pieces(uint64_t vectors, uint64_t pieceBytes)
      : vectors_(vectors), each_(pieceBytes / kVec) {}
  // Of the longest message: every block counts the same.
  COLL_DEVICE uint32_t count() const {
    const uint64_t round = each_ * simt::gridBlocks();
    return static_cast<uint32_t>((vectors_ + round - 1) / round);
  }
  // Of a message of so many vectors; count 0 where it has nothing there.
  COLL_DEVICE Piece at(uint32_t k, uint64_t vectors) const {
    const uint64_t first = (uint64_t{k} * simt::gridBlocks() + simt::blockIndex()) * each_;
    if (first >= vectors)
      return {first, 0};
    return {first, vectors - first < each_ ? vectors - first : each_};
  }

private:
  const uint64_t vectors_;
  const uint64_t each_;
};

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_RING_DEVICE_CUH
