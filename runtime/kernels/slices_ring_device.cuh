// slices_ring_device.cuh - a SlicePlan by rings: the kernel for messages of any size.
//
// A block owns pieces b, b + blocks, … of every slice. In round k it
//
//   1. scatters  piece k + 1 of each slice to its owner, peer after peer, lane 0
//   2. combines  piece k of its own slice, and stores it; the result goes to the next keeper in
//                the same loop, then to the others, peer after peer, lane 1 or straight to dst
//   3. collects  piece k - 1 of the other owners' slices, from lane 1
//
// Peers are taken in the order rank + 1, rank + 2, …: at any time all members push to
// different ones, which links carry best.

#ifndef COLL_RUNTIME_KERNELS_SLICES_RING_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_SLICES_RING_DEVICE_CUH

#include "runtime/kernels/peer_reduce.cuh"
#include "runtime/kernels/peer_ring_device.cuh"
#include "runtime/kernels/peer_slices.cuh"

namespace coll::kernels::peer {

template <typename Reducer, uint32_t N>
class RingSlices {
public:
  COLL_DEVICE RingSlices(const PeerGroup &group, const PeerPlan &plan, const Rings &rings)
      : plan_(plan.slices), slices_(group, plan.slices), rings_(rings),
        pieces_(slices_.vectors(), plan.pieceBytes), others_(~(1u << group.rank)) {}

  // False: some wait was given up.
  COLL_DEVICE bool run() const {
    const uint32_t rounds = pieces_.count();
    copyOwnMessage(plan_);
    if (!mayWriteDirectly() || !scatter(0))
      return false;
    for (uint32_t k = 0; k < rounds; ++k) {
      if (k + 1 < rounds && !scatter(k + 1))
        return false;
      if (!combine(k))
        return false;
      if (k > 0 && !collect(k - 1))
        return false;
    }
    return plan_.direct ? finishDirect() : collect(rounds - 1);
  }

private:
  COLL_DEVICE Piece pieceOf(uint32_t owner, uint32_t k) const {
    return pieces_.at(k, slices_.vectors(owner));
  }
  // Other owners that have a piece k.
  COLL_DEVICE uint32_t ownersAt(uint32_t k) const {
    uint32_t members = 0;
    for (uint32_t p = 0; p < slices_.size; ++p)
      if (slices_.owns(p) && pieceOf(p, k).count > 0)
        members |= 1u << p;
    return members & others_;
  }

  // Contributions show that their senders are in the call; other keepers have to say so.
  COLL_DEVICE bool mayWriteDirectly() const {
    const uint32_t silent = plan_.keepers & others_ & ~plan_.contributors;
    if (!plan_.direct || !slices_.owns(slices_.rank) || silent == 0)
      return true;
    return rings_.awaitEntry(silent);
  }

  COLL_DEVICE bool scatter(uint32_t k) const {
    if (!slices_.contributes(slices_.rank))
      return true;
    const uint32_t targets = ownersAt(k);
    if (!rings_.awaitRoom(0, targets))
      return false;
    for (uint32_t d = 1; d < slices_.size; ++d) {
      const uint32_t p = memberAfter(slices_.rank, d, slices_.size);
      if (!isIn(targets, p))
        continue;
      const Piece piece = pieceOf(p, k);
      copyOut(slices_.src(p), piece.first, piece.count, rings_.slotAt(0, p));
    }
    rings_.publish(0, targets);
    return true;
  }

  COLL_DEVICE bool combine(uint32_t k) const {
    const Piece piece = pieceOf(slices_.rank, k);
    if (!slices_.owns(slices_.rank) || piece.count == 0)
      return true;
    const uint32_t sources = plan_.contributors & others_;
    const uint32_t targets = plan_.keepers & others_;
    if (!rings_.awaitData(0, sources) || (!plan_.direct && !rings_.awaitRoom(1, targets)))
      return false;
    uint32_t distance = 1;
    while (distance < slices_.size && !isIn(targets, peerAt(distance)))
      ++distance;
    if (distance < slices_.size)
      combineTo(peerAt(distance), piece, targets & ~(1u << peerAt(distance)));
    else
      combineTo(kMaxPeers, piece, 0);
    // Each thread reads again what it has kept itself.
    for (uint32_t d = distance + 1; d < slices_.size; ++d)
      if (isIn(targets, peerAt(d)))
        passOn(peerAt(d), piece);
    rings_.signal(1, plan_.direct ? 0 : targets, 0, sources);
    return true;
  }

  // Stores the result, sends it to `first` (kMaxPeers: nobody), and keeps it in a slot that has
  // been read if there are `more` to send it to.
  COLL_DEVICE void combineTo(uint32_t first, const Piece &piece, uint32_t more) const {
    constexpr uint32_t kBatch = N == 2 ? 4 : 2;
    const uint64_t stride = simt::blockThreads();
    const Buffer src = slices_.src(slices_.rank), dst = slices_.dst(slices_.rank);
    const bool adds = slices_.contributes(slices_.rank), stores = slices_.storesOwn();
    const char *data[N];
    COLL_UNROLL(8)
    for (uint32_t p = 0; p < N; ++p)
      data[p] = slices_.contributes(p) && p != slices_.rank ? rings_.dataOf(0, p) : nullptr;
    char *kept = more != 0 ? keptSlot() : nullptr;
    const Buffer to = target(first, piece);
    for (uint64_t at = simt::threadIndex(); at < piece.count; at += stride * kBatch) {
      Vec16 v[kBatch][N];
      COLL_UNROLL(4)
      for (uint32_t u = 0; u < kBatch; ++u) {
        const uint64_t i = at + u * stride;
        if (i >= piece.count)
          continue;
        COLL_UNROLL(8)
        for (uint32_t p = 0; p < N; ++p)
          if (data[p])
            v[u][p] = simt::loadGlobal16(data[p] + i * kVec);
          else if (p == slices_.rank && adds)
            v[u][p] = src.load(piece.first + i);
      }
      COLL_UNROLL(4)
      for (uint32_t u = 0; u < kBatch; ++u) {
        const uint64_t i = at + u * stride;
        if (i >= piece.count)
          continue;
        const Vec16 result = Reducer::reduce(v[u], slices_.size, plan_);
        if (first != kMaxPeers)
          to.store(plan_.direct ? piece.first + i : i, result);
        if (stores)
          dst.store(piece.first + i, result);
        if (kept)
          simt::storeGlobal16(kept + i * kVec, result);
      }
    }
  }

  COLL_DEVICE void passOn(uint32_t peer, const Piece &piece) const {
    const Buffer to = target(peer, piece);
    const char *kept = keptSlot();
    if (!plan_.direct)
      copyOut(Buffer(kept, piece.count * kVec), 0, piece.count, to.base);
    else
      copyIn(kept, to, piece.first, piece.count);
  }

  COLL_DEVICE bool collect(uint32_t k) const {
    const uint32_t sources = ownersAt(k);
    if (!slices_.keeps(slices_.rank) || plan_.direct || sources == 0)
      return true;
    if (!rings_.awaitData(1, sources))
      return false;
    for (uint32_t d = 1; d < slices_.size; ++d) {
      const uint32_t p = peerAt(slices_.size - d);
      if (!isIn(sources, p))
        continue;
      const Piece piece = pieceOf(p, k);
      copyIn(rings_.dataOf(1, p), slices_.dst(p), piece.first, piece.count);
    }
    rings_.release(1, sources);
    return true;
  }

  // One count tells a keeper that all of an owner's block has come.
  COLL_DEVICE bool finishDirect() const {
    if (slices_.owns(slices_.rank))
      rings_.publish(1, plan_.keepers & others_);
    if (!slices_.keeps(slices_.rank))
      return true;
    const uint32_t sources = plan_.owners & others_;
    if (!rings_.awaitData(1, sources))
      return false;
    rings_.release(1, sources);
    return true;
  }

  COLL_DEVICE uint32_t peerAt(uint32_t distance) const {
    return memberAfter(slices_.rank, distance, slices_.size);
  }
  // Where a peer's copy of a piece goes: a slot, or its dst.
  COLL_DEVICE Buffer target(uint32_t peer, const Piece &piece) const {
    if (peer == kMaxPeers)
      return Buffer(nullptr, 0);
    if (plan_.direct)
      return slices_.direct(peer);
    return Buffer(rings_.slotAt(1, peer), piece.count * kVec);
  }
  COLL_DEVICE char *keptSlot() const {
    return rings_.dataOf(0, simt::lowestBit(plan_.contributors & others_));
  }

  const SlicePlan &plan_;
  const Slices<N> slices_;
  const Rings &rings_;
  const Pieces pieces_;
  const uint32_t others_;
};

// The kernel. `shared`: RingScratch.
template <typename Reducer, uint32_t N>
COLL_DEVICE void slicesByRings(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  const Call call(group, plan.what);
  if (!simt::syncBlockAny(call.isDead())) {
    const Rings rings(group, call, shared);
    (void)RingSlices<Reducer, N>(group, plan, rings).run();
    rings.save();
  }
  call.leave();
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_SLICES_RING_DEVICE_CUH
