// relay_device.cuh - a broadcast with rings: from member to member.
//
// Members form a chain that begins at the root. A team is one block, with one lane of the rings of
// a number. It has pieces t, t + teams, … of the message, and sends each to the next member, into a
// slot or directly into its dst, as soon as it arrives. So every link moves the message once, and
// no incoming link has two writers, which would slow down the link for which all others wait.

#ifndef COLL_RUNTIME_KERNELS_PEER_RELAY_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_RELAY_DEVICE_CUH

#include "runtime/kernels/peer/ring_device.cuh"

namespace coll::kernels::peer {

template <bool kPlain>
class Relay {
public:
  COLL_DEVICE Relay(const PeerGroup &group, const PeerPlan &plan, const Rings &rings)
      : plan_(plan.exchange), rings_(rings),
        pieces_(plan, simt::blockIndex(), vectorsOf(plan.exchange.bytes)),
        lane_(simt::blockIndex() / group.layout.ringBlocks), isRoot_(plan.exchange.sources == 0),
        next_(memberAfter(group.rank, 1, group.size)) {}

  // False if a wait was given up.
  COLL_DEVICE bool run() const {
    if (plan_.direct && !rings_.awaitEntry(plan_.targets))
      return false;
    for (uint32_t k = 0; k < pieces_.count(); ++k) {
      const Piece piece = pieces_.at(k);
      if (piece.count == 0)
        break;
      if (!rings_.await({{RingWait::Data, lane_, plan_.sources},
                         {RingWait::Room, lane_, plan_.direct ? 0 : plan_.targets}}))
        return false;
      pass(piece);
      rings_.signal({{RingSignal::Release, lane_, plan_.sources},
                     {RingSignal::Publish, lane_, plan_.targets}});
    }
    return true;
  }

private:
  COLL_DEVICE Stretch<kPlain> in(const PeerPlace &place, const Piece &piece) const {
    return Stretch<kPlain>(BufferOf<kPlain>(place, 0, plan_.bytes), piece);
  }
  COLL_DEVICE Stretch<kPlain> source(const Piece &piece) const {
    if (isRoot_ || plan_.direct)
      return in(isRoot_ ? plan_.src : plan_.dst, piece);
    return Stretch<kPlain>(rings_.dataOf(lane_, simt::lowestBit(plan_.sources)));
  }
  COLL_DEVICE Stretch<kPlain> target(const Piece &piece) const {
    if (!plan_.direct)
      return Stretch<kPlain>(rings_.slotAt(lane_, next_));
    PeerPlace place = plan_.dst;
    place.base = plan_.directDst[next_];
    return in(place, piece);
  }
  // A root's dst may be its src, or absent; other members' dst may have been written by their peer.
  COLL_DEVICE bool stores() const {
    return isRoot_ ? plan_.dst.base && plan_.dst.base != plan_.src.base : !plan_.direct;
  }

  COLL_DEVICE void pass(const Piece &piece) const {
    if (plan_.targets != 0 && stores())
      copy(source(piece), target(piece), in(plan_.dst, piece), piece.count);
    else if (plan_.targets != 0)
      copy(source(piece), target(piece), piece.count);
    else if (stores())
      copy(source(piece), in(plan_.dst, piece), piece.count);
  }

  const ExchangePlan &plan_;
  const Rings &rings_;
  const Pieces pieces_;
  const uint32_t lane_;
  const bool isRoot_;
  const uint32_t next_;
};

// The kernel. `shared`: RingScratch.
template <bool kPlain>
COLL_DEVICE void relay(const PeerGroup &group, const PeerPlan &plan, char *shared) {
  const Call call(group, plan.what);
  if (!simt::syncBlockAny(!call.enter())) {
    const Rings rings(group, call, shared, simt::blockIndex() % group.layout.ringBlocks);
    (void)Relay<kPlain>(group, plan, rings).run();
  }
  call.leave();
}

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_RELAY_DEVICE_CUH
