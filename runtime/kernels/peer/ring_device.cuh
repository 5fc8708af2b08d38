// ring_device.cuh - large messages: rings of slots between blocks with the same number.
//
// For every lane, number and pair of members there is a ring in the target's workspace. A block of
// the source waits for room, writes a slot with ordinary stores, and publishes it; a block of the
// target waits for data, reads the slot, and releases it. Counts continue from call to call, so the
// first slots of a call need no exchange.
//
// **Memory order.** Publishing: the barrier of the block orders all its stores before the release,
// at system scope, of the count `arrived`. Waiting: a thread acquires the count, and the barrier
// extends that to the block; the acquire also drops old lines of the L1 cache. Releasing a slot
// works the same way in reverse: reads come before the release of `credited`. A release waits for
// all stores of the block at its peers, so flags that are raised at the same time are raised by
// lanes of one warp, which wait once.

#ifndef COLL_RUNTIME_KERNELS_PEER_RING_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_RING_DEVICE_CUH

#include "runtime/kernels/peer/device.cuh"
#include "runtime/kernels/peer/place.cuh"

namespace coll::kernels::peer {

// Shared memory of a block.
struct RingScratch {
  uint32_t pushed[kRingLanes][kMaxPeers];
  uint32_t taken[kRingLanes][kMaxPeers];
};

// The events that a block waits for, for some members on a lane: a free slot at each target, or a
// published slot of each source that was not released.
struct RingWait {
  enum What : uint8_t { Room, Data } what;
  uint32_t lane;
  uint32_t members;
};
// The events that a block signals: data written to targets may be read, and slots read from sources
// may be written.
struct RingSignal {
  enum What : uint8_t { Publish, Release } what;
  uint32_t lane;
  uint32_t members;
};

// Block-wide: all threads make the same calls. Member sets are masks. Blocks may share the rings
// `number`, if only one of them pushes on a lane and only one takes. This member's ring to itself
// has no slots: it counts the work of one block for which another one waits.
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

  // Waits until all of them have entered the call; false: give up.
  COLL_DEVICE bool awaitEntry(uint32_t members) const {
    return !simt::syncBlockAny(isMine(members) && !call_.awaitEntry(thread_));
  }

  // Waits until all of these events have happened; false: give up. Polls everything at once.
  template <uint32_t n>
  COLL_DEVICE bool await(const RingWait (&waits)[n]) const {
    const uint32_t member = thread_ % kMaxPeers;
    const uint32_t *count = nullptr;
    uint32_t wanted = 0;
    COLL_UNROLL()
    for (uint32_t i = 0; i < n; ++i) {
      const RingWait &wait = waits[i];
      if (!keeps(wait.what == RingWait::Room, wait.lane) || !isIn(wait.members, member))
        continue;
      const RingCounts &counts = countsOf(group_.rank, wait.lane, member);
      count = wait.what == RingWait::Room ? &counts.credited : &counts.arrived;
      wanted = wait.what == RingWait::Room
                   ? scratch_.pushed[wait.lane][member] + 1 - group_.layout.slots
                   : scratch_.taken[wait.lane][member] + 1;
    }
    return !simt::syncBlockAny(count && !awaitCount(count, wanted, member));
  }
  COLL_DEVICE bool awaitRoom(uint32_t lane, uint32_t targets) const {
    return await({{RingWait::Room, lane, targets}});
  }
  COLL_DEVICE bool awaitData(uint32_t lane, uint32_t sources) const {
    return await({{RingWait::Data, lane, sources}});
  }

  // The next slot to write at a target, or to read from a source.
  COLL_DEVICE char *slotAt(uint32_t lane, uint32_t target) const {
    return slot(target, lane, group_.rank, scratch_.pushed[lane][target]);
  }
  COLL_DEVICE char *dataOf(uint32_t lane, uint32_t source) const {
    return slot(group_.rank, lane, source, scratch_.taken[lane][source]);
  }

  // Signals all of these events for the block's stores and loads so far, with one fence.
  template <uint32_t n>
  COLL_DEVICE void signal(const RingSignal (&signals)[n]) const {
    simt::syncBlock();
    const uint32_t member = thread_ % kMaxPeers;
    uint32_t *told = nullptr;
    uint32_t count = 0;
    COLL_UNROLL()
    for (uint32_t i = 0; i < n; ++i) {
      const RingSignal &signal = signals[i];
      if (!keeps(signal.what == RingSignal::Publish, signal.lane) || !isIn(signal.members, member))
        continue;
      RingCounts &own = countsOf(group_.rank, signal.lane, member);
      RingCounts &theirs = countsOf(member, signal.lane, group_.rank);
      if (signal.what == RingSignal::Publish) {
        count = own.pushed = ++scratch_.pushed[signal.lane][member];
        told = &theirs.arrived;
      } else {
        count = own.taken = ++scratch_.taken[signal.lane][member];
        told = &theirs.credited;
      }
    }
    if (told)
      simt::storeRelease(told, count);
  }
  COLL_DEVICE void publish(uint32_t lane, uint32_t targets) const {
    signal({{RingSignal::Publish, lane, targets}});
  }
  COLL_DEVICE void release(uint32_t lane, uint32_t sources) const {
    signal({{RingSignal::Release, lane, sources}});
  }

private:
  COLL_DEVICE bool isMine(uint32_t members) const {
    return thread_ < group_.size && isIn(members, thread_);
  }
  // One thread keeps the count of slots pushed to a member, or taken from it, on a lane: it waits
  // and it signals. Other threads read the count after the next wait of the block.
  COLL_DEVICE bool keeps(bool pushed, uint32_t lane) const {
    static_assert(2 * kRingLanes * kMaxPeers <= simt::kWarpThreads);
    return thread_ / kMaxPeers == (pushed ? kRingLanes : 0) + lane;
  }
  // Counts wrap.
  COLL_DEVICE bool awaitCount(const uint32_t *count, uint32_t wanted, uint32_t member) const {
    Watch watch(group_);
    while (static_cast<int32_t>(simt::loadAcquire(count) - wanted) < 0)
      if (watch.isOver(member))
        return false;
    return true;
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

COLL_DEVICE void copyVectors(const char *from, char *to, char *too, uint64_t count) {
  const uint64_t stride = simt::blockThreads();
  for (uint64_t at = simt::threadIndex(); at < count; at += stride * kCopyBatch) {
    Vec16 v[kCopyBatch] = {};
    COLL_UNROLL()
    for (uint32_t u = 0; u < kCopyBatch; ++u)
      if (at + u * stride < count)
        v[u] = simt::loadGlobal16(from + (at + u * stride) * kVec);
    COLL_UNROLL()
    for (uint32_t u = 0; u < kCopyBatch; ++u)
      if (at + u * stride < count) {
        simt::storeGlobal16(to + (at + u * stride) * kVec, v[u]);
        simt::storeGlobal16(too + (at + u * stride) * kVec, v[u]);
      }
  }
}

// `count` vectors of a message from `first` on.
struct Piece {
  uint64_t first;
  uint64_t count;
};

// The place of a piece's vectors: in a slot, or in a buffer.
template <bool kPlain>
class Stretch {
public:
  using Place = BufferOf<kPlain>;

  COLL_DEVICE explicit Stretch(char *slot) : place_(PeerPlace(), 0, 0), memory_(slot), first_(0) {}
  COLL_DEVICE Stretch(const Place &place, const Piece &piece)
      : place_(place),
        memory_(place.isPlain(piece.first, piece.count) ? place.at(piece.first * kVec) : nullptr),
        first_(piece.first) {}

  // Null if it is not in one aligned row.
  COLL_DEVICE char *memory() const { return memory_; }
  COLL_DEVICE Vec16 load(uint64_t i) const {
    return kPlain || memory_ ? simt::loadGlobal16(memory_ + i * kVec) : place_.load(first_ + i);
  }
  COLL_DEVICE void store(uint64_t i, const Vec16 &value) const {
    if (kPlain || memory_)
      simt::storeGlobal16(memory_ + i * kVec, value);
    else
      place_.store(first_ + i, value);
  }

private:
  Place place_;
  char *memory_;
  uint64_t first_;
};

template <bool kPlain>
COLL_DEVICE void copy(const Stretch<kPlain> &from, const Stretch<kPlain> &to, uint64_t count) {
  if (from.memory() && to.memory())
    return copyVectors(from.memory(), to.memory(), count);
  for (uint64_t i = simt::threadIndex(); i < count; i += simt::blockThreads())
    to.store(i, from.load(i));
}
// Stores the same to two places, loaded once.
template <bool kPlain>
COLL_DEVICE void copy(const Stretch<kPlain> &from, const Stretch<kPlain> &to,
                      const Stretch<kPlain> &too, uint64_t count) {
  if (from.memory() && to.memory() && too.memory())
    return copyVectors(from.memory(), to.memory(), too.memory(), count);
  copy(from, to, count);
  copy(from, too, count);
}

// The blocks that serve the rings of one number: one for each part of a kernel's work, so that
// links and sums do not wait for each other.
struct Team {
  uint32_t number;
  uint32_t role;
};
COLL_DEVICE Team teamOfBlock(uint32_t teams) {
  return {simt::blockIndex() % teams, simt::blockIndex() / teams};
}

// Pieces of a team.
class Pieces {
public:
  COLL_DEVICE Pieces(const PeerPlan &plan, uint32_t team, uint64_t vectors)
      : vectors_(vectors), each_(plan.pieceBytes / kVec), teams_(plan.teams), team_(team) {}
  // The number of pieces of the longest message: the same for every team.
  COLL_DEVICE uint32_t count() const {
    const uint64_t round = each_ * teams_;
    return static_cast<uint32_t>((vectors_ + round - 1) / round);
  }
  // The corresponding pieces of another message.
  COLL_DEVICE Pieces of(uint64_t vectors) const {
    Pieces others = *this;
    others.vectors_ = vectors;
    return others;
  }
  COLL_DEVICE Piece at(uint32_t k) const { return at(k, vectors_); }
  // Piece k of a message of this many vectors; its count is 0 if the message has no such piece.
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
