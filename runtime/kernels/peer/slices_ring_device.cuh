// slices_ring_device.cuh - executes a SlicePlan with rings: the kernel for messages of any size.
//
// A team of blocks, one for each role, owns pieces t, t + teams, … of every slice. The first one
// moves: in each round, peer after peer, it
//
//   scatters  piece k of the peer's slice to it, on lane 0
//   sends     piece k - 1 of its own slice, combined in rank order, on lane 1 or directly to dst.
//             The first peer's copy is stored in the loop that combines
//
// and at the end of the round, after one fence, it signals which slots are full and which are free.
// The other block collects: it waits for pieces of the other owners' slices on lane 1, and stores
// them.
//
// Peers are taken in the order rank + 1, rank + 2, …, and the teams of all members go through the
// rounds together: so at any time all members push to different ones, which suits the links best.
// In place is safe: a block scatters a piece before it stores there, and a piece is collected, or
// written directly, only after its owner has received all contributions.

#ifndef COLL_RUNTIME_KERNELS_PEER_SLICES_RING_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_SLICES_RING_DEVICE_CUH

#include "runtime/kernels/peer/reduce.cuh"
#include "runtime/kernels/peer/ring_device.cuh"
#include "runtime/kernels/peer/slices.cuh"

namespace coll::kernels::peer {

enum class SliceRole : uint32_t { Move, Collect };

template <typename Reducer, uint32_t N, bool kPlain>
class RingSlices {
public:
  COLL_DEVICE RingSlices(const PeerGroup &group, const PeerPlan &plan, const Rings &rings,
                         uint32_t team)
      : plan_(plan.slices), slices_(group, plan.slices), rings_(rings),
        pieces_(plan, team, slices_.vectors()), others_(~(1u << group.rank)) {}

  // False if a wait was given up.
  COLL_DEVICE bool run(SliceRole role) const {
    if (role == SliceRole::Collect)
      return collect();
    return move() && (!plan_.direct || endDirect());
  }

private:
  using Place = BufferOf<kPlain>;
  using At = Stretch<kPlain>;

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

  COLL_DEVICE bool move() const {
    for (uint32_t k = 0; k <= pieces_.count(); ++k) {
      const uint32_t owners = k < pieces_.count() ? ownersAt(k) : 0;
      const bool combines = k > 0 && slices_.owns(slices_.rank);
      const Piece own = combines ? pieceOf(slices_.rank, k - 1) : Piece{0, 0};
      const uint32_t sources = own.count != 0 ? plan_.contributors & others_ : 0;
      const uint32_t keepers = own.count != 0 ? plan_.keepers & others_ : 0;
      const uint32_t slots = plan_.direct ? 0 : keepers;
      if (!rings_.await({{RingWait::Data, 0, sources},
                         {RingWait::Room, 0, owners},
                         {RingWait::Room, 1, slots}}))
        return false;
      uint32_t left = keepers;
      for (uint32_t d = 1; d < slices_.size; ++d) {
        const uint32_t p = peerAt(d);
        if (isIn(owners, p))
          scatter(p, k);
        if (!isIn(left, p))
          continue;
        if (left == keepers)
          combineTo(p, own, left & ~(1u << p));
        else
          passOn(p, own);
        left &= ~(1u << p);
      }
      if (own.count != 0 && keepers == 0)
        combineTo(kMaxPeers, own, 0);
      rings_.signal({{RingSignal::Release, 0, sources},
                     {RingSignal::Publish, 0, owners},
                     {RingSignal::Publish, 1, slots}});
    }
    return true;
  }
  COLL_DEVICE void scatter(uint32_t owner, uint32_t k) const {
    const Piece piece = pieceOf(owner, k);
    copy(At(slices_.src(owner), piece), At(rings_.slotAt(0, owner)), piece.count);
  }
  // One count signals to a keeper that all of this team's pieces have arrived.
  COLL_DEVICE bool endDirect() const {
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

  // Stores the result, sends it to `first` (kMaxPeers: to none), and keeps it for passOn() if there
  // are `more` members to send it to.
  COLL_DEVICE void combineTo(uint32_t first, const Piece &piece, uint32_t more) const {
    constexpr uint32_t kBatch = N == 2 ? 4 : N == 4 ? 2 : 1; // limited by the registers
    const uint64_t stride = simt::blockThreads();
    const Place src = slices_.src(slices_.rank), dst = slices_.dst(slices_.rank);
    const bool adds = slices_.contributes(slices_.rank), stores = slices_.storesOwn();
    const char *data[N];
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      data[p] = slices_.contributes(p) && p != slices_.rank ? rings_.dataOf(0, p) : nullptr;
    char *kept = more != 0 && !keepsInDst() ? keptPlace(piece) : nullptr;
    const At to = target(first, piece);
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

  // Each thread reads its own stores.
  COLL_DEVICE void passOn(uint32_t peer, const Piece &piece) const {
    copy(At(keptPlace(piece)), target(peer, piece), piece.count);
  }
  // A result for several members is in dst, or in a slot that has been read.
  COLL_DEVICE bool keepsInDst() const { return kPlain && slices_.storesOwn(); }
  COLL_DEVICE char *keptPlace(const Piece &piece) const {
    if (keepsInDst())
      return slices_.dst(slices_.rank).at(piece.first * kVec);
    return rings_.dataOf(0, simt::lowestBit(plan_.contributors & others_));
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
        copy(At(rings_.dataOf(1, p)), At(slices_.dst(p), piece), piece.count);
      }
      rings_.release(1, sources);
    }
    return true;
  }
  COLL_DEVICE uint32_t peerAt(uint32_t distance) const {
    return memberAfter(slices_.rank, distance, slices_.size);
  }
  // The destination of a peer's copy of a piece: a slot, or its dst. kMaxPeers: none.
  COLL_DEVICE At target(uint32_t peer, const Piece &piece) const {
    if (plan_.direct && peer != kMaxPeers)
      return At(slices_.direct(peer), piece);
    return At(peer != kMaxPeers ? rings_.slotAt(1, peer) : nullptr);
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

#endif // COLL_RUNTIME_KERNELS_PEER_SLICES_RING_DEVICE_CUH
