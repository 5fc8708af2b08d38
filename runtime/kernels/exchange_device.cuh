// exchange_device.cuh - an ExchangePlan: messages from member to member, as they are.
//
// In packets every thread works alone on vectors i, i + threads of the grid, …:
//
//   1. send     vector i of each message
//   2. own      what stays with this member
//   3. receive  wait for vector i of each message, and store it
//
// By rings a block has pieces b, b + blocks, … of every message; in round k it pushes piece k + 1
// to peer after peer and lands piece k. Where peers' buffers are known, it pushes to them
// and says at the end that all has come.

#ifndef COLL_RUNTIME_KERNELS_EXCHANGE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_EXCHANGE_DEVICE_CUH

#include "runtime/kernels/peer_packet_device.cuh"
#include "runtime/kernels/peer_ring_device.cuh"

namespace coll::kernels::peer {

// Messages of a plan, as buffers.
struct Messages {
  const ExchangePlan &plan;
  const uint32_t rank;

  COLL_DEVICE Buffer to(uint32_t member) const { return Buffer(plan.src, member, plan.bytes); }
  COLL_DEVICE Buffer from(uint32_t member) const { return Buffer(plan.dst, member, plan.bytes); }
  // In a target's own dst.
  COLL_DEVICE Buffer direct(uint32_t member) const {
    PeerPlace place = plan.dst;
    place.base = plan.directDst[member];
    return Buffer(place, rank, plan.bytes);
  }
  COLL_DEVICE uint64_t vectors() const { return vectorsOf(plan.bytes); }

  // This member's message to itself, and zeros where nobody sends: vectors from `first` on. In
  // place, zeros overwrite what this member sends, so those vectors have been sent before.
  COLL_DEVICE void landOwn(uint64_t first, uint64_t end, uint64_t stride) const {
    if (plan.zero)
      for (uint64_t i = first; i < end; i += stride)
        from(rank).store(i, Vec16{});
    if (!isIn(plan.targets, rank))
      return;
    const Buffer source = to(rank), target = from(rank);
    if (source.base == target.base)
      return;
    for (uint64_t i = first; i < end; i += stride)
      target.store(i, source.load(i));
  }
};

template <uint32_t N>
class PacketExchange {
public:
  COLL_DEVICE PacketExchange(const PeerGroup &group, const ExchangePlan &plan, const Call &call)
      : group_(group), messages_{plan, group.rank}, packets_(group, call),
        targets_(plan.targets & ~(1u << group.rank)), sources_(plan.sources & ~(1u << group.rank)) {
  }

  COLL_DEVICE void run() const {
    const uint64_t stride = uint64_t{simt::gridBlocks()} * simt::blockThreads();
    const uint64_t first =
        uint64_t{simt::blockIndex()} * simt::blockThreads() + simt::threadIndex();
    for (uint64_t i = first; i < messages_.vectors(); i += stride)
      send(i);
    messages_.landOwn(first, messages_.vectors(), stride);
    for (uint64_t i = first; i < messages_.vectors(); i += stride)
      if (!receive(i))
        return;
  }

private:
  COLL_DEVICE void send(uint64_t i) const {
    Vec16 v[N];
    COLL_UNROLL(8)
    for (uint32_t p = 0; p < N; ++p)
      if (isIn(targets_, p))
        v[p] = messages_.to(p).load(i);
    COLL_UNROLL(8)
    for (uint32_t p = 0; p < N; ++p)
      if (isIn(targets_, p))
        packets_.send(p, i, v[p]);
  }

  COLL_DEVICE bool receive(uint64_t i) const {
    Watch watch(group_);
    Vec16 v[N];
    uint32_t missing = sources_;
    while (missing != 0) {
      COLL_UNROLL(8)
      for (uint32_t p = 0; p < N; ++p)
        if (isIn(missing, p))
          v[p] = packets_.peek(p, i);
      COLL_UNROLL(8)
      for (uint32_t p = 0; p < N; ++p)
        if (isIn(missing, p) && hasArrived(v[p]))
          missing &= ~(1u << p);
      if (missing != 0 && watch.isOver(simt::lowestBit(missing)))
        return false;
    }
    bool all = true;
    COLL_UNROLL(8)
    for (uint32_t p = 0; p < N; ++p)
      if (isIn(sources_, p)) {
        all = packets_.take(p, i, v[p]) && all;
        messages_.from(p).store(i, v[p]);
      }
    return all;
  }

  const PeerGroup &group_;
  const Messages messages_;
  const Packets packets_;
  const uint32_t targets_;
  const uint32_t sources_;
};

class RingExchange {
public:
  COLL_DEVICE RingExchange(const PeerGroup &group, const PeerPlan &plan, const Rings &rings)
      : messages_{plan.exchange, group.rank}, rings_(rings),
        pieces_(messages_.vectors(), plan.pieceBytes), rank_(group.rank), size_(group.size),
        targets_(plan.exchange.targets & ~(1u << group.rank)),
        sources_(plan.exchange.sources & ~(1u << group.rank)) {}

  // False: some wait was given up.
  COLL_DEVICE bool run() const {
    const uint32_t rounds = pieces_.count();
    const bool direct = messages_.plan.direct;
    if (direct && !rings_.awaitEntry(targets_))
      return false;
    if (!push(0))
      return false;
    for (uint32_t k = 0; k < rounds; ++k) {
      if (k + 1 < rounds && !push(k + 1))
        return false;
      landOwn(k);
      if (!direct && !land(k))
        return false;
    }
    if (!direct)
      return true;
    rings_.publish(0, targets_);
    if (!rings_.awaitData(0, sources_))
      return false;
    rings_.release(0, sources_);
    return true;
  }

private:
  COLL_DEVICE bool push(uint32_t k) const {
    const Piece piece = pieces_.at(k, messages_.vectors());
    const bool direct = messages_.plan.direct;
    if (piece.count == 0)
      return true;
    if (!direct && !rings_.awaitRoom(0, targets_))
      return false;
    for (uint32_t d = 1; d < size_; ++d) {
      const uint32_t p = memberAfter(rank_, d, size_);
      if (!isIn(targets_, p))
        continue;
      if (direct)
        copyAcross(messages_.to(p), messages_.direct(p), piece.first, piece.count);
      else
        copyOut(messages_.to(p), piece.first, piece.count, rings_.slotAt(0, p));
    }
    if (!direct)
      rings_.publish(0, targets_);
    return true;
  }

  COLL_DEVICE void landOwn(uint32_t k) const {
    const Piece piece = pieces_.at(k, messages_.vectors());
    messages_.landOwn(piece.first + simt::threadIndex(), piece.first + piece.count,
                      simt::blockThreads());
  }

  COLL_DEVICE bool land(uint32_t k) const {
    const Piece piece = pieces_.at(k, messages_.vectors());
    if (piece.count == 0)
      return true;
    if (!rings_.awaitData(0, sources_))
      return false;
    for (uint32_t d = 1; d < size_; ++d) {
      const uint32_t p = memberAfter(rank_, size_ - d, size_);
      if (isIn(sources_, p))
        copyIn(rings_.dataOf(0, p), messages_.from(p), piece.first, piece.count);
    }
    rings_.release(0, sources_);
    return true;
  }

  const Messages messages_;
  const Rings &rings_;
  const Pieces pieces_;
  const uint32_t rank_;
  const uint32_t size_;
  const uint32_t targets_;
  const uint32_t sources_;
};

// The kernels. `shared`: RingScratch.
template <uint32_t N>
COLL_DEVICE void exchangeByPackets(const PeerGroup &group, const PeerPlan &plan) {
  const Call call(group, plan.what);
  if (!call.isDead())
    PacketExchange<N>(group, plan.exchange, call).run();
  call.leave();
}
COLL_DEVICE void exchangeByRings(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  const Call call(group, plan.what);
  if (!simt::syncBlockAny(call.isDead())) {
    const Rings rings(group, call, shared);
    (void)RingExchange(group, plan, rings).run();
    rings.save();
  }
  call.leave();
}
COLL_DEVICE void meetPeers(const PeerGroup &group, const PeerPlan &plan) {
  Call(group, plan.what).leave();
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_EXCHANGE_DEVICE_CUH
