// slices.cuh - the slices of each member: shared by both kernels of a SlicePlan.

#ifndef COLL_RUNTIME_KERNELS_PEER_SLICES_CUH
#define COLL_RUNTIME_KERNELS_PEER_SLICES_CUH

#include "runtime/kernels/peer/device.cuh"
#include "runtime/kernels/peer/place.cuh"

namespace coll::kernels::peer {

template <uint32_t N, bool kPlain>
class Slices {
public:
  using Place = BufferOf<kPlain>;

  COLL_DEVICE Slices(const PeerGroup &group, const SlicePlan &plan)
      : rank(group.rank), size(N == kMaxPeers ? group.size : N), plan_(plan) {}

  const uint32_t rank;
  const uint32_t size; // N, if that is the size of the group

  COLL_DEVICE bool contributes(uint32_t p) const { return isIn(plan_.contributors, p); }
  COLL_DEVICE bool owns(uint32_t p) const { return isIn(plan_.owners, p); }
  COLL_DEVICE bool keeps(uint32_t p) const { return isIn(plan_.keepers, p); }
  COLL_DEVICE bool storesOwn() const { return isIn(plan_.ownKeepers, rank); }

  COLL_DEVICE Place src(uint32_t owner) const { return at(plan_.src, owner); }
  COLL_DEVICE Place dst(uint32_t owner) const { return at(plan_.dst, owner); }
  // The place in another keeper's dst.
  COLL_DEVICE Place direct(uint32_t keeper) const {
    PeerPlace place = plan_.dst;
    place.base = plan_.directDst[keeper];
    return at(place, rank);
  }

  // Vectors of an owner's slice.
  COLL_DEVICE uint64_t vectors(uint32_t owner) const { return vectorsOf(bytes(indexOf(owner))); }
  // Vectors of the longest slice.
  COLL_DEVICE uint64_t vectors() const { return vectorsOf(plan_.sliceBytes); }

private:
  COLL_DEVICE uint32_t indexOf(uint32_t owner) const {
    return plan_.whole ? 0 : simt::countBits(plan_.owners & ((1u << owner) - 1));
  }
  COLL_DEVICE uint64_t bytes(uint32_t index) const {
    const uint64_t offset = index * plan_.sliceBytes;
    if (offset >= plan_.bytes)
      return 0;
    const uint64_t left = plan_.bytes - offset;
    return left < plan_.sliceBytes ? left : plan_.sliceBytes;
  }
  COLL_DEVICE Place at(const PeerPlace &place, uint32_t owner) const {
    const uint32_t index = indexOf(owner);
    return Place(place, index, bytes(index));
  }

  const SlicePlan &plan_;
};

// This member's own copy of the message, if no slice brings it: vectors first, first + stride, …
template <bool kPlain>
COLL_DEVICE void copyOwnMessage(const SlicePlan &plan, uint64_t first, uint64_t stride) {
  if (!plan.copyOwn)
    return;
  const BufferOf<kPlain> from(plan.src, 0, plan.bytes), to(plan.dst, 0, plan.bytes);
  for (uint64_t i = first; i < vectorsOf(plan.bytes); i += stride)
    to.store(i, from.load(i));
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_SLICES_CUH
