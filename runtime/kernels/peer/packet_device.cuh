// packet_device.cuh - small messages: 16-byte packets whose data is its own flag.
//
// A packet is stored and loaded in one piece of 16 bytes (single-copy atomic: PTX's
// `.relaxed.sys.b128`). The receiver's slots hold the empty value (packet.h); any other value has
// arrived, and needs no fence. After it was read, the slot is set to the empty value again.
//
// There are two sets of slots, for odd and even calls (parity): the sender of call n + 2 has seen,
// in call n + 1, that the receiver's kernel n, which emptied the slots, was over.
//
// A payload that equals the empty value or the escape value is sent as the escape value, and a word
// beside the packets, `epoch << 1 | which`, says which of the two it is. The epoch is the word's
// flag, so words need no cleaning. The two values differ only in the last word, so checking the
// first word is enough for almost every payload.

#ifndef COLL_RUNTIME_KERNELS_PEER_PACKET_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_PACKET_DEVICE_CUH

#include "runtime/kernels/peer/device.cuh"
#include "runtime/kernels/peer/packet.h"
#include "runtime/kernels/peer/place.cuh"

namespace coll::kernels::peer {

COLL_DEVICE Vec16 reserved(uint32_t last) {
  return {{kEmptyWord0, kEmptyWord1, kEmptyWord2, last}};
}
COLL_DEVICE bool isReserved(const Vec16 &v, uint32_t last) {
  return v.word[0] == kEmptyWord0 && v.word[1] == kEmptyWord1 && v.word[2] == kEmptyWord2 &&
         v.word[3] == last;
}
COLL_DEVICE bool hasArrived(const Vec16 &v) { return !isReserved(v, kEmptyWord3); }

// The last block of a grid moves no packets, unless it is the only one: it exchanges tokens with
// the peers while the others wait for data, and so does not delay them.
COLL_DEVICE uint32_t speakerOfPackets() { return simt::gridBlocks() - 1; }
COLL_DEVICE bool movesPackets() {
  return simt::gridBlocks() == 1 || simt::blockIndex() != speakerOfPackets();
}
// A thread's vectors of a message: first, first + stride, …
COLL_DEVICE uint64_t firstVector() {
  return uint64_t{simt::blockIndex()} * simt::blockThreads() + simt::threadIndex();
}
COLL_DEVICE uint64_t vectorStride() {
  const uint32_t blocks = simt::gridBlocks() == 1 ? 1 : simt::gridBlocks() - 1;
  return uint64_t{blocks} * simt::blockThreads();
}

// The packets of one call, as one thread sends and receives them. Slots are numbered per pair
// of members, from 0.
class Packets {
public:
  COLL_DEVICE Packets(const PeerGroup &group, const Call &call)
      : group_(group), epoch_(call.epoch()), row_(call.parity() * group.size) {}

  COLL_DEVICE void send(uint32_t peer, uint64_t slot, Vec16 v) const {
    if (v.word[0] == kEmptyWord0)
      escape(peer, slot, v);
    simt::storePacket(slotOf(peer, group_.rank, slot), v);
  }

  // First of the slots for packets that are sent after others were received.
  COLL_DEVICE uint64_t secondHop() const { return group_.layout.packetBytes / kVec / 2; }

  // The slot's present content; see hasArrived().
  COLL_DEVICE Vec16 peek(uint32_t peer, uint64_t slot) const {
    return simt::loadPacket(slotOf(group_.rank, peer, slot));
  }

  // Reads the payload of a packet that has arrived, and empties its slot. False: give up.
  COLL_DEVICE bool take(uint32_t peer, uint64_t slot, Vec16 &v) const {
    simt::storePacket(slotOf(group_.rank, peer, slot), reserved(kEmptyWord3));
    return v.word[0] != kEmptyWord0 || resolve(peer, slot, v);
  }

  // v[p] = the payload of each source; polls all of them at once. False: give up.
  template <uint32_t N>
  COLL_DEVICE bool await(uint32_t sources, uint64_t slot, Vec16 (&v)[N]) const {
    Watch watch(group_);
    for (;;) {
      uint32_t missing = kMaxPeers;
      COLL_UNROLL()
      for (uint32_t p = 0; p < N; ++p)
        if (isIn(sources, p))
          v[p] = peek(p, slot);
      COLL_UNROLL()
      for (uint32_t p = 0; p < N; ++p)
        if (isIn(sources, p) && !hasArrived(v[p]))
          missing = p;
      if (missing == kMaxPeers)
        break;
      if (watch.isOver(missing))
        return false;
    }
    bool all = true;
    COLL_UNROLL()
    for (uint32_t p = 0; p < N; ++p)
      if (isIn(sources, p))
        all = take(p, slot, v[p]) && all;
    return all;
  }

private:
  COLL_DEVICE char *slotOf(uint32_t member, uint32_t source, uint64_t slot) const {
    return group_.workspace[member] + group_.layout.packets +
           (row_ + source) * group_.layout.packetBytes + slot * kVec;
  }
  COLL_DEVICE uint32_t *escapeOf(uint32_t member, uint32_t source, uint64_t slot) const {
    return reinterpret_cast<uint32_t *>(group_.workspace[member] + group_.layout.escapes) +
           (row_ + source) * (group_.layout.packetBytes / kVec) + slot;
  }

  COLL_DEVICE void escape(uint32_t peer, uint64_t slot, Vec16 &v) const {
    const bool isEscape = isReserved(v, kEscapeWord3);
    if (!isEscape && hasArrived(v))
      return;
    simt::storeRelaxed(escapeOf(peer, group_.rank, slot), epoch_ << 1 | uint32_t{isEscape});
    v = reserved(kEscapeWord3);
  }

  COLL_DEVICE bool resolve(uint32_t peer, uint64_t slot, Vec16 &v) const {
    if (!isReserved(v, kEscapeWord3))
      return true;
    const uint32_t *word = escapeOf(group_.rank, peer, slot);
    Watch watch(group_);
    uint32_t seen = simt::loadRelaxed(word);
    for (; seen >> 1 != (epoch_ & 0x7fffffffu); seen = simt::loadRelaxed(word))
      if (watch.isOver(peer))
        return false;
    if ((seen & 1u) == 0)
      v = reserved(kEmptyWord3);
    return true;
  }

  const PeerGroup &group_;
  const uint32_t epoch_;
  const uint32_t row_;
};

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_PACKET_DEVICE_CUH
