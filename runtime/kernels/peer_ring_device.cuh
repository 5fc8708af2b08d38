// peer_ring_device.cuh - large messages: rings of slots between blocks of one number.
//
// For every lane, number and pair of members there is a ring in the target's workspace. A block of
// the source waits for room, writes a slot with ordinary stores, and publishes it; a block of the
// target waits for data, reads the slot, and releases it. Counts run on from call to call, so the
// first slots of a call need no exchange.
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

// Block-wide: all threads make the same calls. Member sets are masks. A block that serves the rings
// `number` may share them with others, as long as only one of them pushes on a lane, and only one
// takes. This member's ring to itself has no slots to fill: it counts what one block has done and
// another waits for.
class Rings {
public:
  COLL_DEVICE Rings(const PeerGroup &group, const Call &call, char *shared, uint32_t number)
      : group_(group), call_(call), scratch_(*reinterpret_cast<RingScratch *>(shared)),
        thread_(simt::threadIndex()), number_(number) {
    for (uint32_t i = thread_; i < kRingLanes * group.size; i += simt::blockThreads()) {
      const RingCounts &counts = countsOf(group.rank, i / group.size, i % group.size);
      scratch_.pushed[i / group.size][i % group.size] = counts.pushed;
      scratch_.taken[i / group.size][i % group.size] = counts.taken;
    }
    simt::syncBlock();
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
      while (scratch_.pushed[lane][thread_] - simt::loadRelaxed(credited) >= group_.layout.slots &&
             !over)
        over = watch.isOver(thread_);
      (void)simt::loadAcquire(credited);
    }
    return !simt::syncBlockAny(over);
  }

  // Until each source has published a slot that was not released; false: give up.
  COLL_DEVICE bool awaitData(uint32_t lane, uint32_t sources) const {
    bool over = false;
    if (isMine(sources)) {
      const uint32_t *arrived = &countsOf(group_.rank, lane, thread_).arrived;
      Watch watch(group_);
      while (simt::loadRelaxed(arrived) == scratch_.taken[lane][thread_] && !over)
        over = watch.isOver(thread_);
      (void)simt::loadAcquire(arrived);
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
    if (isMine(targets)) {
      const uint32_t pushed = ++scratch_.pushed[publishLane][thread_];
      simt::storeRelease(&countsOf(thread_, publishLane, group_.rank).arrived, pushed);
      countsOf(group_.rank, publishLane, thread_).pushed = pushed;
    }
    if (isMine(sources)) {
      const uint32_t taken = ++scratch_.taken[releaseLane][thread_];
      simt::storeRelease(&countsOf(thread_, releaseLane, group_.rank).credited, taken);
      countsOf(group_.rank, releaseLane, thread_).taken = taken;
    }
  }

private:
  COLL_DEVICE bool isMine(uint32_t members) const {
    return thread_ < group_.size && isIn(members, thread_);
  }
  COLL_DEVICE RingCounts &countsOf(uint32_t member, uint32_t lane, uint32_t with) const {
    return stateOf(group_, member).rings[lane][number_][with];
  }
  COLL_DEVICE char *slot(uint32_t member, uint32_t lane, uint32_t source, uint32_t count) const {
    const WorkspaceLayout &layout = group_.layout;
    const uint64_t ring = (uint64_t{lane} * layout.ringBlocks + number_) * group_.size + source;
    return group_.workspace[member] + layout.rings +
           (ring * layout.slots + count % layout.slots) * layout.slotBytes;
  }

  const PeerGroup &group_;
  const Call &call_;
  RingScratch &scratch_;
  const uint32_t thread_;
  const uint32_t number_;
};

// --- vectors between users' buffers and slots, by all threads of a block

inline constexpr uint32_t kCopyBatch = 4; // loads in flight per thread

COLL_DEVICE void copyVectors(const char *from, char *to, uint64_t count) {
  const uint64_t stride = simt::blockThreads();
  for (uint64_t at = simt::threadIndex(); at < count; at += stride * kCopyBatch) {
    Vec16 v[kCopyBatch] = {};
    COLL_UNROLL()
    for (uint32_t u = 0; u < kCopyBatch; ++u)
      if (at + u * stride < count)
        v[u] = simt::loadGlobal16(from + (at + u * stride) * kVec);
    COLL_UNROLL()
    for (uint32_t u = 0; u < kCopyBatch; ++u)
      if (at + u * stride < count)
        simt::storeGlobal16(to + (at + u * stride) * kVec, v[u]);
  }
}

// Vectors `first` to `first + count`: into a slot, out of it, or from buffer to buffer.
template <typename From>
COLL_DEVICE void copyOut(const From &from, uint64_t first, uint64_t count, char *slot) {
  if (from.isPlain(first, count))
    return copyVectors(from.base + first * kVec, slot, count);
  for (uint64_t i = simt::threadIndex(); i < count; i += simt::blockThreads())
    simt::storeGlobal16(slot + i * kVec, from.load(first + i));
}
template <typename To>
COLL_DEVICE void copyIn(const char *slot, const To &to, uint64_t first, uint64_t count) {
  if (to.isPlain(first, count))
    return copyVectors(slot, to.base + first * kVec, count);
  for (uint64_t i = simt::threadIndex(); i < count; i += simt::blockThreads())
    to.store(first + i, simt::loadGlobal16(slot + i * kVec));
}
template <typename From, typename To>
COLL_DEVICE void copyAcross(const From &from, const To &to, uint64_t first, uint64_t count) {
  if (to.isPlain(first, count))
    return copyOut(from, first, count, to.base + first * kVec);
  for (uint64_t i = simt::threadIndex(); i < count; i += simt::blockThreads())
    to.store(first + i, from.load(first + i));
}

// The blocks that serve the rings of one number: one for each part of a kernel's work, so that
// links and sums have no need to wait for each other.
struct Team {
  uint32_t number;
  uint32_t role;
};
COLL_DEVICE Team teamOfBlock(uint32_t teams) {
  return {simt::blockIndex() % teams, simt::blockIndex() / teams};
}

// Pieces of a team: piece k are `count` vectors from `first` on.
struct Piece {
  uint64_t first;
  uint64_t count;
};
class Pieces {
public:
  COLL_DEVICE Pieces(const PeerPlan &plan, uint32_t team, uint64_t vectors)
      : vectors_(vectors), each_(plan.pieceBytes / kVec), teams_(plan.teams), team_(team) {}
  // Of the longest message: every team counts the same.
  COLL_DEVICE uint32_t count() const {
    const uint64_t round = each_ * teams_;
    return static_cast<uint32_t>((vectors_ + round - 1) / round);
  }
  // The same pieces of another message.
  COLL_DEVICE Pieces of(uint64_t vectors) const {
    Pieces others = *this;
    others.vectors_ = vectors;
    return others;
  }
  COLL_DEVICE Piece at(uint32_t k) const { return at(k, vectors_); }
  // Of a message of so many vectors; count 0 where it has nothing there.
  COLL_DEVICE Piece at(uint32_t k, uint64_t vectors) const {
    const uint64_t first = (uint64_t{k} * teams_ + team_) * each_;
    if (first >= vectors)
      return {first, 0};
    return {first, vectors - first < each_ ? vectors - first : each_};
  }

private:
  uint64_t vectors_;
  uint64_t each_;
  uint32_t teams_;
  uint32_t team_;
};

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_RING_DEVICE_CUH
