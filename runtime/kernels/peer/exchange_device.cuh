// exchange_device.cuh - executes an ExchangePlan: messages from member to member, unchanged.
//
// In packets every thread works alone on vectors i, i + stride, …:
//
//   1. send     vector i of each message
//   2. own      the data that stays with this member
//   3. receive  wait for vector i of each message, and store it
//
// With rings a team of two blocks has pieces t, t + teams, … of every message: one block pushes
// piece k to peer after peer, the other stores piece k of the peers' messages. If peers' buffers
// are known, the first block pushes to them, all pieces to one peer after the other, and announces
// the end, so each link has one writer at a time. The other block moves the data that stays here
// while it waits.

#ifndef COLL_RUNTIME_KERNELS_PEER_EXCHANGE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_EXCHANGE_DEVICE_CUH

#include "runtime/kernels/peer/packet_device.cuh"
#include "runtime/kernels/peer/ring_device.cuh"

namespace coll::kernels::peer {

// Messages of a plan, as buffers.
template <bool kPlain>
struct Messages {
  using Place = BufferOf<kPlain>;
  const ExchangePlan &plan;
  const uint32_t rank;

  COLL_DEVICE Place to(uint32_t member) const { return Place(plan.src, member, plan.bytes); }
  COLL_DEVICE Place from(uint32_t member) const { return Place(plan.dst, member, plan.bytes); }
  // The place in a target's own dst.
  COLL_DEVICE Place direct(uint32_t member) const {
    PeerPlace place = plan.dst;
    place.base = plan.directDst[member];
    return Place(place, rank, plan.bytes);
  }
  COLL_DEVICE uint64_t vectors() const { return vectorsOf(plan.bytes); }

  // Whether this member has a message for itself that is not in place.
  COLL_DEVICE bool keepsOwn() const {
    return isIn(plan.targets, rank) && to(rank).base != from(rank).base;
  }
  // Writes zeros, to vectors from `first` on, if no member sends. In place they overwrite data that
  // this member sends, so those vectors must have been sent before.
  COLL_DEVICE void landZeros(uint64_t first, uint64_t end, uint64_t stride) const {
    if (plan.zero)
      for (uint64_t i = first; i < end; i += stride)
        from(rank).store(i, Vec16{});
  }
};

template <uint32_t N, bool kPlain>
class PacketExchange {
public:
  COLL_DEVICE PacketExchange(const PeerGroup &group, const ExchangePlan &plan, const Call &call)
      : group_(group), call_(call), messages_{plan, group.rank}, packets_(group, call),
        targets_(plan.targets & ~(1u << group.rank)), sources_(plan.sources & ~(1u << group.rank)) {
  }

  COLL_DEVICE void run() const {
    const uint64_t first = firstVector(), stride = vectorStride();
    Vec16 v[N];
    if (first < messages_.vectors())
      load(first, v);
    if (!call_.enter())
      return;
    for (uint64_t i = first; i < messages_.vectors(); i += stride) {
      if (i != first)
        load(i, v);
      send(i, v);
    }
    messages_.landZeros(first, messages_.vectors(), stride);
    if (messages_.keepsOwn())
      for (uint64_t i = first; i < messages_.vectors(); i += stride)
        messages_.from(group_.rank).store(i, messages_.to(group_.rank).load(i));
    for (uint64_t i = first; i < messages_.vectors(); i += stride)
      if (!receive(i))
        return;
  }

private:
  COLL_DEVICE void load(uint64_t i, Vec16 (&v)[N]) const {
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      if (isIn(targets_, p))
        v[p] = messages_.to(p).load(i);
  }
  COLL_DEVICE void send(uint64_t i, const Vec16 (&v)[N]) const {
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      if (isIn(targets_, p))
        packets_.send(p, i, v[p]);
  }

  COLL_DEVICE bool receive(uint64_t i) const {
    Watch watch(group_);
    Vec16 v[N];
    uint32_t missing = sources_;
    while (missing != 0) {
      COLL_UNROLL()
      for (uint32_t p = 0; p < N; ++p)
        if (isIn(missing, p))
          v[p] = packets_.peek(p, i);
      COLL_UNROLL()
      for (uint32_t p = 0; p < N; ++p)
        if (isIn(missing, p) && hasArrived(v[p]))
          missing &= ~(1u << p);
      if (missing != 0 && watch.isOver(simt::lowestBit(missing)))
        return false;
    }
    bool all = true;
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      if (isIn(sources_, p)) {
        all = packets_.take(p, i, v[p]) && all;
        messages_.from(p).store(i, v[p]);
      }
    return all;
  }

  const PeerGroup &group_;
  const Call &call_;
  const Messages<kPlain> messages_;
  const Packets packets_;
  const uint32_t targets_;
  const uint32_t sources_;
};

enum class ExchangeRole : uint32_t { Push, Land };

template <bool kPlain>
class RingExchange {
public:
  COLL_DEVICE RingExchange(const PeerGroup &group, const PeerPlan &plan, const Rings &rings,
                           uint32_t team)
      : messages_{plan.exchange, group.rank}, rings_(rings),
        pieces_(plan, team, messages_.vectors()), rank_(group.rank), size_(group.size),
        targets_(plan.exchange.targets & ~(1u << group.rank)),
        sources_(plan.exchange.sources & ~(1u << group.rank)) {}

  // False if a wait was given up.
  COLL_DEVICE bool run(ExchangeRole role) const {
    if (messages_.plan.direct)
      return role == ExchangeRole::Push ? pushDirectly() : awaitDirect();
    return role == ExchangeRole::Push ? push() : land();
  }

private:
  using At = Stretch<kPlain>;

  COLL_DEVICE bool pushDirectly() const {
    if (!rings_.awaitEntry(targets_))
      return false;
    for (uint32_t d = 1; d < size_; ++d)
      if (const uint32_t p = memberAfter(rank_, d, size_); isIn(targets_, p))
        for (uint32_t k = 0; k < pieces_.count(); ++k) {
          const Piece piece = pieces_.at(k);
          copy(At(messages_.to(p), piece), At(messages_.direct(p), piece), piece.count);
        }
    rings_.publish(0, targets_);
    return true;
  }
  COLL_DEVICE bool awaitDirect() const {
    for (uint32_t k = 0; k < pieces_.count(); ++k)
      landOwn(pieces_.at(k));
    if (!rings_.awaitData(0, sources_))
      return false;
    rings_.release(0, sources_);
    return true;
  }

  // In place, stored data overwrites data that is pushed: the ring to itself counts the pieces that
  // were pushed.
  COLL_DEVICE uint32_t self() const { return 1u << rank_; }

  COLL_DEVICE bool push() const {
    for (uint32_t k = 0; k < pieces_.count(); ++k) {
      const Piece piece = pieces_.at(k);
      if (piece.count == 0)
        break;
      if (!rings_.awaitRoom(0, targets_))
        return false;
      for (uint32_t d = 1; d < size_; ++d)
        if (const uint32_t p = memberAfter(rank_, d, size_); isIn(targets_, p))
          copy(At(messages_.to(p), piece), At(rings_.slotAt(0, p)), piece.count);
      rings_.publish(0, targets_ | self());
    }
    return true;
  }

  COLL_DEVICE bool land() const {
    for (uint32_t k = 0; k < pieces_.count(); ++k) {
      const Piece piece = pieces_.at(k);
      if (piece.count == 0)
        break;
      landOwn(piece);
      if (!rings_.awaitData(0, sources_ | self()))
        return false;
      messages_.landZeros(piece.first + simt::threadIndex(), piece.first + piece.count,
                          simt::blockThreads());
      for (uint32_t d = 1; d < size_; ++d)
        if (const uint32_t p = memberAfter(rank_, size_ - d, size_); isIn(sources_, p))
          copy(At(rings_.dataOf(0, p)), At(messages_.from(p), piece), piece.count);
      rings_.release(0, sources_ | self());
    }
    return true;
  }

  // No other block reads or writes there.
  COLL_DEVICE void landOwn(const Piece &piece) const {
    if (messages_.keepsOwn())
      copy(At(messages_.to(rank_), piece), At(messages_.from(rank_), piece), piece.count);
  }

  const Messages<kPlain> messages_;
  const Rings &rings_;
  const Pieces pieces_;
  const uint32_t rank_;
  const uint32_t size_;
  const uint32_t targets_;
  const uint32_t sources_;
};

// The kernels. `shared`: RingScratch.
template <uint32_t N, bool kPlain>
COLL_DEVICE void exchangeByPackets(const PeerGroup &group, const PeerPlan &plan) {
  const Call call(group, plan.what, speakerOfPackets());
  if (!movesPackets())
    (void)call.enter();
  else
    PacketExchange<N, kPlain>(group, plan.exchange, call).run();
  call.leave();
}
template <bool kPlain>
COLL_DEVICE void exchangeByRings(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  const Call call(group, plan.what);
  if (!simt::syncBlockAny(!call.enter())) {
    const Team team = teamOfBlock(plan.teams);
    const Rings rings(group, call, shared, team.number);
    (void)RingExchange<kPlain>(group, plan, rings, team.number)
        .run(static_cast<ExchangeRole>(team.role));
  }
  call.leave();
}
// Afterwards, on all members, the accesses of members to each other's memory before the barrier are
// done. The fences do not rely on the ends of kernels: stores to another GPU may be later than the
// token of entry.
COLL_DEVICE void meetPeers(const PeerGroup &group, const PeerPlan &plan) {
  const Call call(group, plan.what);
  simt::fenceSystem(); // Release: this rank's stores at its peers must precede the token.
  (void)call.enter();
  call.leave();
  simt::fenceSystem(); // Acquire: later work sees the peers' stores.
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_EXCHANGE_DEVICE_CUH
