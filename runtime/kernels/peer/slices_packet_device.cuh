// slices_packet_device.cuh - executes a SlicePlan with packets: the kernel for small messages.
//
// Every thread works alone, on vectors i, i + stride, …:
//
//   1. scatter   vector i of each slice to its owner
//   2. combine   the owner waits for the contributors' vector i, combines, stores, and sends the
//                result to the keepers
//   3. collect   keepers wait for vector i of the other owners' slices, and store it
//
// In place is safe: a thread stores a vector of dst only after it has read it from src.

#ifndef COLL_RUNTIME_KERNELS_PEER_SLICES_PACKET_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_SLICES_PACKET_DEVICE_CUH

#include "runtime/kernels/peer/packet_device.cuh"
#include "runtime/kernels/peer/reduce.cuh"
#include "runtime/kernels/peer/slices.cuh"

namespace coll::kernels::peer {

template <typename Reducer, uint32_t N, bool kPlain>
class PacketSlices {
public:
  COLL_DEVICE PacketSlices(const PeerGroup &group, const SlicePlan &plan, const Call &call)
      : call_(call), plan_(plan), slices_(group, plan), packets_(group, call) {}

  COLL_DEVICE void run() const {
    const uint64_t first = firstVector(), stride = vectorStride();
    const bool contributes = slices_.contributes(slices_.rank);
    Vec16 v[N];
    if (contributes && first < slices_.vectors())
      load(first, v);
    if (!call_.enter())
      return;
    for (uint64_t i = first; contributes && i < slices_.vectors(); i += stride) {
      if (i != first)
        load(i, v);
      scatter(i, v);
    }
    copyOwnMessage<kPlain>(plan_, first, stride);
    if (slices_.owns(slices_.rank))
      for (uint64_t i = first; i < slices_.vectors(slices_.rank); i += stride)
        if (!combine(i))
          return;
    if (slices_.keeps(slices_.rank))
      for (uint64_t i = first; i < slices_.vectors(); i += stride)
        if (!collect(i))
          return;
  }

private:
  COLL_DEVICE uint32_t peerAt(uint32_t distance) const {
    return memberAfter(slices_.rank, distance, slices_.size);
  }

  // v[d] = the vector for peerAt(d).
  COLL_DEVICE void load(uint64_t i, Vec16 (&v)[N]) const {
    COLL_UNROLL()
    for (uint32_t d = 1; d < N; ++d) {
      if (d >= slices_.size)
        continue;
      const uint32_t p = peerAt(d);
      if (plan_.whole && d > 1)
        v[d] = v[1];
      else if (i < slices_.vectors(p))
        v[d] = slices_.src(p).load(i);
    }
  }
  COLL_DEVICE void scatter(uint64_t i, const Vec16 (&v)[N]) const {
    COLL_UNROLL()
    for (uint32_t d = 1; d < N; ++d) {
      if (d >= slices_.size)
        continue;
      const uint32_t p = peerAt(d);
      if (slices_.owns(p) && i < slices_.vectors(p))
        packets_.send(p, i, v[d]);
    }
  }

  COLL_DEVICE bool combine(uint64_t i) const {
    const uint32_t rank = slices_.rank;
    Vec16 own = {};
    if (slices_.contributes(rank))
      own = slices_.src(rank).load(i);
    const uint32_t sources = plan_.contributors & ~(1u << rank);
    Vec16 v[N];
    if (!packets_.await(sources, i, v))
      return false;
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      if (p == rank)
        v[p] = own;
    const Vec16 result = Reducer::reduce(v, slices_.size, plan_);
    COLL_UNROLL()
    for (uint32_t d = 1; d < N; ++d)
      if (d < slices_.size && slices_.keeps(peerAt(d)))
        packets_.send(peerAt(d), packets_.secondHop() + i, result);
    if (slices_.storesOwn())
      slices_.dst(rank).store(i, result);
    return true;
  }

  COLL_DEVICE bool collect(uint64_t i) const {
    uint32_t sources = 0;
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      if (p != slices_.rank && slices_.owns(p) && i < slices_.vectors(p))
        sources |= 1u << p;
    Vec16 v[N];
    if (!packets_.await(sources, packets_.secondHop() + i, v))
      return false;
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      if (isIn(sources, p))
        slices_.dst(p).store(i, v[p]);
    return true;
  }

  const Call &call_;
  const SlicePlan &plan_;
  const Slices<N, kPlain> slices_;
  const Packets packets_;
};

// The kernel.
template <typename Reducer, uint32_t N, bool kPlain>
COLL_DEVICE void slicesByPackets(const PeerGroup &group, const PeerPlan &plan) {
  const Call call(group, plan.what, speakerOfPackets());
  if (!movesPackets())
    (void)call.enter();
  else
    PacketSlices<Reducer, N, kPlain>(group, plan.slices, call).run();
  call.leave();
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_SLICES_PACKET_DEVICE_CUH
