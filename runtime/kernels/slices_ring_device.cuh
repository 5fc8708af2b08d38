// slices_ring_device.cuh - a SlicePlan by rings: the kernel for messages of any size.
//
// A team of blocks, one for each role, owns pieces t, t + teams, … of every slice. Each block goes
// through them by itself:
//
//   scatter   piece k of each slice to its owner, peer after peer, on lane 0
//   combine   waits for piece k of its own slice, combines, and stores it; the result goes to the
//             next keeper in the same loop, then to the others, peer after peer, on lane 1 or
//             straight to dst
//   collect   waits for piece k of the other owners' slices on lane 1, and stores them
//
// Peers are taken in the order rank + 1, rank + 2, …: at any time all members push to
// different ones, which links carry best. In place is safe: a piece is collected, or written
// directly, only after its owner has got what it is made of.

#ifndef COLL_RUNTIME_KERNELS_SLICES_RING_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_SLICES_RING_DEVICE_CUH

#include "runtime/kernels/peer_reduce.cuh"
#include "runtime/kernels/peer_ring_device.cuh"
#include "runtime/kernels/peer_slices.cuh"

namespace coll::kernels::peer {

enum class SliceRole : uint32_t { Scatter, Combine, Collect };

template <typename Reducer, uint32_t N, bool kPlain>
class RingSlices {
public:
  COLL_DEVICE RingSlices(const PeerGroup &group, const PeerPlan &plan, const Rings &rings,
                         uint32_t team)
      : plan_(plan.slices), slices_(group, plan.slices), rings_(rings),
        pieces_(plan, team, slices_.vectors()), others_(~(1u << group.rank)) {}

  // False: some wait was given up.
  COLL_DEVICE bool run(SliceRole role) const {
    switch (role) {
    case SliceRole::Scatter:
      return scatter();
    case SliceRole::Combine:
      return combine();
    case SliceRole::Collect:
      break;
    }
    return plan_.direct ? awaitDirect() : collect();
  }

private:
  using Place = BufferOf<kPlain>;

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

  // In place, a result overwrites what this member sends, if it combines whole messages: its ring
  // to itself says how far that is.
  COLL_DEVICE uint32_t self() const {
    const bool waits = plan_.whole && slices_.contributes(slices_.rank);
    return waits && slices_.owns(slices_.rank) ? 1u << slices_.rank : 0;
  }

  COLL_DEVICE bool scatter() const {
    copyOwnPieces();
    if (!slices_.contributes(slices_.rank))
      return true;
    for (uint32_t k = 0; k < pieces_.count(); ++k) {
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
      rings_.publish(0, targets | self());
    }
    return true;
  }
  COLL_DEVICE void copyOwnPieces() const {
    const Pieces all = pieces_.of(vectorsOf(plan_.bytes));
    for (uint32_t k = 0; plan_.copyOwn && k < all.count(); ++k) {
      const Piece piece = all.at(k);
      copyAcross(Place(plan_.src, 0, plan_.bytes), Place(plan_.dst, 0, plan_.bytes), piece.first,
                 piece.count);
    }
  }

  COLL_DEVICE bool combine() const {
    if (!slices_.owns(slices_.rank))
      return true;
    if (!mayWriteDirectly())
      return false;
    const uint32_t sources = (plan_.contributors & others_) | self();
    const uint32_t targets = plan_.keepers & others_;
    for (uint32_t k = 0; k < pieces_.count(); ++k) {
      const Piece piece = pieceOf(slices_.rank, k);
      if (piece.count == 0)
        break;
      if (!rings_.awaitData(0, sources) || (!plan_.direct && !rings_.awaitRoom(1, targets)))
        return false;
      combinePiece(piece, targets);
      rings_.signal(1, plan_.direct ? 0 : targets, 0, sources);
    }
    // One count tells a keeper that all of this team's pieces have come.
    if (plan_.direct)
      rings_.publish(1, targets);
    return true;
  }
  // Contributions show that their senders are in the call; other keepers have to say so.
  COLL_DEVICE bool mayWriteDirectly() const {
    const uint32_t silent = plan_.keepers & others_ & ~plan_.contributors;
    return !plan_.direct || silent == 0 || rings_.awaitEntry(silent);
  }
  COLL_DEVICE void combinePiece(const Piece &piece, uint32_t targets) const {
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
  }

  // Stores the result, sends it to `first` (kMaxPeers: nobody), and keeps it in a slot that has
  // been read if there are `more` to send it to.
  COLL_DEVICE void combineTo(uint32_t first, const Piece &piece, uint32_t more) const {
    constexpr uint32_t kBatch = N == 2 ? 4 : N == 4 ? 2 : 1; // what registers hold
    const uint64_t stride = simt::blockThreads();
    const Place src = slices_.src(slices_.rank), dst = slices_.dst(slices_.rank);
    const bool adds = slices_.contributes(slices_.rank), stores = slices_.storesOwn();
    const char *data[N];
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      data[p] = slices_.contributes(p) && p != slices_.rank ? rings_.dataOf(0, p) : nullptr;
    char *kept = more != 0 ? keptSlot() : nullptr;
    const Target to = target(first, piece);
    for (uint64_t at = simt::threadIndex(); at < piece.count; at += stride * kBatch) {
      Vec16 v[kBatch][N] = {};
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u) {
        const uint64_t i = at + u * stride;
        if (i >= piece.count)
          continue;
        COLL_UNROLL()
        for (uint32_t p = 0; p < N; ++p)
          if (data[p])
            v[u][p] = simt::loadGlobal16(data[p] + i * kVec);
          else if (p == slices_.rank && adds)
            v[u][p] = src.load(piece.first + i);
      }
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u) {
        const uint64_t i = at + u * stride;
        if (i >= piece.count)
          continue;
        const Vec16 result = Reducer::reduce(v[u], slices_.size, plan_);
        if (first != kMaxPeers)
          to.store(i, result);
        if (stores)
          dst.store(piece.first + i, result);
        if (kept)
          simt::storeGlobal16(kept + i * kVec, result);
      }
    }
  }

  COLL_DEVICE void passOn(uint32_t peer, const Piece &piece) const {
    if (plan_.direct)
      copyIn(keptSlot(), slices_.direct(peer), piece.first, piece.count);
    else
      copyVectors(keptSlot(), rings_.slotAt(1, peer), piece.count);
  }

  COLL_DEVICE bool collect() const {
    if (!slices_.keeps(slices_.rank))
      return true;
    for (uint32_t k = 0; k < pieces_.count(); ++k) {
      const uint32_t sources = ownersAt(k);
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
    }
    return true;
  }
  COLL_DEVICE bool awaitDirect() const {
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
  // Where a peer's copy of a piece goes: a slot, or its dst. kMaxPeers: nowhere.
  struct Target {
    Place place;
    char *slot; // null: the place
    uint64_t first;

    COLL_DEVICE void store(uint64_t i, const Vec16 &value) const {
      if (kPlain || slot)
        simt::storeGlobal16(slot + i * kVec, value);
      else
        place.store(first + i, value);
    }
  };
  COLL_DEVICE Target target(uint32_t peer, const Piece &piece) const {
    if (peer == kMaxPeers)
      return {slices_.dst(slices_.rank), nullptr, 0};
    if (!plan_.direct)
      return {slices_.dst(slices_.rank), rings_.slotAt(1, peer), 0};
    const Place place = slices_.direct(peer);
    return {place, kPlain ? place.at(piece.first * kVec) : nullptr, piece.first};
  }
  COLL_DEVICE char *keptSlot() const {
    return rings_.dataOf(0, simt::lowestBit(plan_.contributors & others_));
  }

  const SlicePlan &plan_;
  const Slices<N, kPlain> slices_;
  const Rings &rings_;
  const Pieces pieces_;
  const uint32_t others_;
};

// The kernel. `shared`: RingScratch.
template <typename Reducer, uint32_t N, bool kPlain>
COLL_DEVICE void slicesByRings(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  const Call call(group, plan.what);
  if (!simt::syncBlockAny(!call.enter())) {
    const Team team = teamOfBlock(plan.teams);
    const Rings rings(group, call, shared, team.number);
    (void)RingSlices<Reducer, N, kPlain>(group, plan, rings, team.number)
        .run(static_cast<SliceRole>(team.role));
  }
  call.leave();
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_SLICES_RING_DEVICE_CUH
