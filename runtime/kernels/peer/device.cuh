// device.cuh - code of all kernels of a peer group: entering, bounded waits, leaving.
//
// Phases of a call, in each block:
//
//   1. enter   read the block's epoch; the speaker, one block, sends every peer the epoch and a
//              hash of the call
//   2. (the kernel's own work; its waits ask a Watch whether to continue)
//   3. leave   the speaker waits until all peers have entered, and compares the calls; every
//              block raises its share of the epochs
//
// **Memory order.** Tokens of entry are relaxed. They mean that the peer's earlier kernels are
// done, which the ends of kernels on both sides order, because these perform all writes at system
// scope. Data that is sent has its own order: packets and rings.

#ifndef COLL_RUNTIME_KERNELS_PEER_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_PEER_DEVICE_CUH

#include "runtime/kernels/error_word.h"
#include "runtime/kernels/peer/group.h"
#include "runtime/kernels/peer/state.h"
#include "runtime/kernels/simt/simt.h"

namespace coll::kernels::peer {

COLL_DEVICE PeerState &stateOf(const PeerGroup &group, uint32_t member) {
  return *reinterpret_cast<PeerState *>(group.workspace[member] + group.layout.state);
}

// Position of the member `distance` after `from`; both below size.
COLL_DEVICE uint32_t memberAfter(uint32_t from, uint32_t distance, uint32_t size) {
  const uint32_t at = from + distance;
  return at < size ? at : at - size;
}

COLL_DEVICE bool isIn(uint32_t members, uint32_t member) { return (members >> member & 1u) != 0; }

// PeerState::failed: 1 + the member that reported it first, and a bit that is set if calls differ.
inline constexpr uint32_t kCallsDiffer = 1u << 16;
COLL_DEVICE uint32_t whoFailed(uint32_t failed) { return (failed & (kCallsDiffer - 1)) - 1; }

// Reports an error and kills the group, here and at the peers. The first report is kept.
COLL_DEVICE void fail(const PeerGroup &group, KernelError error, uint32_t member) {
  if (simt::loadRelaxed(&group.control->error) == 0)
    simt::storeRelaxed(&group.control->error, errorWord(error, member));
  const uint32_t why = error == KernelError::PeerMismatch ? kCallsDiffer : 0;
  for (uint32_t i = 0; i < group.size; ++i)
    if (simt::loadRelaxed(&stateOf(group, i).failed) == 0)
      simt::storeRelaxed(&stateOf(group, i).failed, why | (group.rank + 1));
}
// A failure that a peer reports is reported by this member too, because its call has no result.
COLL_DEVICE void passOnFailure(const PeerGroup &group, uint32_t failed) {
  if (whoFailed(failed) != group.rank)
    fail(group, failed >= kCallsDiffer ? KernelError::PeerMismatch : KernelError::PeerFailed,
         whoFailed(failed));
}

// Bounds one wait of one thread.
class Watch {
public:
  COLL_DEVICE explicit Watch(const PeerGroup &group) : group_(group) {}

  // Called after each unsuccessful check for data of `member`; true: give up.
  COLL_DEVICE bool isOver(uint32_t member) {
    simt::giveWay();
    if (++rounds_ % kRoundsPerLook != 0)
      return false;
    return look(member);
  }

private:
  static constexpr uint32_t kRoundsPerLook = 32;
  // One thread of the GPU at a time reads the host's word over the bus. If all waiting threads read
  // it, each call would be late, so that the next call's waits would be long enough to read it
  // again.
  static constexpr uint64_t kAskNs = 20'000;

  COLL_DEVICE bool look(uint32_t member) {
    PeerState &own = stateOf(group_, group_.rank);
    const uint32_t failed = simt::loadRelaxed(&own.failed);
    if (failed != 0) {
      passOnFailure(group_, failed);
      return true;
    }
    const uint64_t now = simt::clockNs();
    if (start_ == 0) // does not use `rounds_`, which wraps
      start_ = now;
    const uint64_t asked = simt::loadRelaxed(&own.asked);
    if (now - asked > kAskNs && simt::claim(&own.asked, asked, now) &&
        simt::loadRelaxed(&group_.control->abort) != 0) {
      fail(group_, KernelError::PeerAborted, group_.rank);
      return true;
    }
    if (now - start_ <= group_.timeoutNs)
      return false;
    fail(group_, KernelError::PeerTimeout, member);
    return true;
  }

  const PeerGroup &group_;
  uint64_t start_ = 0;
  uint32_t rounds_ = 0;
};

// One call, as a thread sees it. All threads of all blocks create one, enter and leave it. Loads
// between construction and entering cost no extra time.
class Call {
public:
  // `what`: a hash that differs between different calls.
  COLL_DEVICE Call(const PeerGroup &group, uint32_t what, uint32_t speaker = 0)
      : group_(group), own_(stateOf(group, group.rank)), what_(what), speaker_(speaker),
        epoch_(simt::loadRelaxed(&own_.epoch[simt::blockIndex()]) + 1),
        failed_(simt::loadRelaxed(&own_.failed)) {}

  // False: the group had failed before, and there is nothing to do. Threads may differ.
  COLL_DEVICE bool enter() const {
    const uint32_t peer = simt::threadIndex();
    if (speaksWith(peer))
      simt::storeRelaxed(&stateOf(group_, peer).entered[epoch_ % 2][group_.rank], token());
    if (isDead())
      passOnFailure(group_, failed_);
    return !isDead();
  }

  COLL_DEVICE uint32_t epoch() const { return epoch_; }
  COLL_DEVICE uint32_t parity() const { return epoch_ % 2; }

  // Waits until `peer` has entered this call; false if it does not, or makes another one.
  COLL_DEVICE bool awaitEntry(uint32_t peer) const {
    const uint64_t *entered = &own_.entered[epoch_ % 2][peer];
    Watch watch(group_);
    uint64_t seen = simt::loadRelaxed(entered);
    for (; static_cast<uint32_t>(seen >> 32) != epoch_; seen = simt::loadRelaxed(entered))
      if (watch.isOver(peer))
        return false;
    if (seen == token())
      return true;
    fail(group_, KernelError::PeerMismatch, peer);
    return false;
  }

  COLL_DEVICE void leave() const {
    const uint32_t peer = simt::threadIndex();
    if (speaksWith(peer) && !isDead())
      (void)awaitEntry(peer);
    simt::syncBlock();
    const uint32_t stride = simt::gridBlocks() * simt::blockThreads();
    for (uint32_t i = simt::blockIndex() + simt::threadIndex() * simt::gridBlocks();
         i < kPeerMaxBlocks; i += stride)
      simt::storeRelaxed(&own_.epoch[i], epoch_);
  }

private:
  COLL_DEVICE bool isDead() const { return failed_ != 0; }
  COLL_DEVICE uint64_t token() const { return uint64_t{epoch_} << 32 | what_; }
  COLL_DEVICE bool speaksWith(uint32_t peer) const {
    return simt::blockIndex() == speaker_ && peer < group_.size && peer != group_.rank;
  }

  const PeerGroup &group_;
  PeerState &own_;
  const uint32_t what_;
  const uint32_t speaker_;
  const uint32_t epoch_;
  const uint32_t failed_;
};

} // namespace coll::kernels::peer

#endif // COLL_RUNTIME_KERNELS_PEER_DEVICE_CUH
