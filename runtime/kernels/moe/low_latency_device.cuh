// low_latency_device.cuh - code that both calls of the low-latency exchange share: numbers, waits,
// ends of calls.
//
// Phases of a block:
//
//   1. begin   reads the numbers of the buffer's last calls
//   2. send    waits until all members have received the previous content of the buffer, and until
//              messages to other nodes may be overwritten; block 0 announces the call; rows are
//              stored directly into the members' buffers, each followed by its word, or into a
//              message, which the last block to finish announces to the host
//   3. receive waits for each member's word about its call, then for the words of rows; before
//              these, for the messages of other nodes, for which block 0 polls the host's words
//   4. leave   the last block raises the numbers, and tells the members what may be overwritten
//
// **Memory order.** A thread releases a row's word after a barrier with the threads that stored the
// row; a thread acquires it before a barrier with the threads that read the row. At the end every
// block fences and counts itself out, so the last block's releases cover all blocks.

#ifndef COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_DEVICE_CUH

#include "runtime/kernels/moe/low_latency_far_device.cuh"
#include "runtime/kernels/moe/low_latency_plan.h"
#include "runtime/kernels/peer/device.cuh"

namespace coll::kernels::low_latency {

using simt::Vec16;

inline constexpr uint32_t kVec = sizeof(Vec16);
inline constexpr uint32_t kWarp = simt::kWarpThreads;
// A row's word contains its origin: the place among the token's experts, and the token.
inline constexpr uint32_t kPlaceShift = 16;

COLL_DEVICE uint64_t wordOf(uint32_t number, uint32_t says) {
  return uint64_t{number} << 32 | says;
}

class Round {
public:
  template <typename Plan>
  COLL_DEVICE Round(const PeerGroup &group, const Plan &plan)
      : group_(group), call_(plan.args.call), area_(plan.area), what_(plan.what),
        far_(group, plan.args.call.far), own_(stateOf(group.rank)),
        sent_(simt::loadRelaxed(&own_.sent)), received_(simt::loadRelaxed(&own_.received)) {}

  // All threads of a block call these, and get the same result. False means: give up.

  COLL_DEVICE bool begin() const {
    const uint32_t failed = simt::loadRelaxed(&peer::stateOf(group_, group_.rank).failed);
    if (failed != 0)
      peer::passOnFailure(group_, failed);
    return !simt::syncBlockAny(failed != 0);
  }

  COLL_DEVICE bool awaitRoom() const {
    const uint32_t member = simt::threadIndex();
    bool over = false;
    if (member < group_.size) {
      const uint32_t *taken = &own_.taken[member];
      peer::Watch watch(group_);
      // A member that receives data only from other blocks may already have finished this call.
      while (static_cast<int32_t>(simt::loadRelaxed(taken) - sent_) < 0 && !over)
        over = watch.isOver(member);
      (void)simt::loadAcquire(taken);
      if (!over && simt::blockIndex() == 0)
        simt::storeRelaxed(&stateOf(member).said[group_.rank], wordOf(sent_ + 1, what_));
    }
    for (uint32_t i = member; i < far_.count() && !over; i += simt::blockThreads())
      over = !awaitNumber(far_.sent(far_.rankAt(i)), sent_, far_.rankAt(i));
    return !simt::syncBlockAny(over);
  }

  // All blocks call it when their data is written: the last one tells the host about the messages.
  COLL_DEVICE void ring() const {
    if (far_.count() == 0)
      return;
    simt::syncBlock();
    const bool isLast = simt::threadIndex() == 0 && isLastBlock(own_.written);
    if (simt::syncBlockAny(isLast))
      for (uint32_t i = simt::threadIndex(); i < far_.count(); i += simt::blockThreads())
        simt::storeRelease(far_.rung(far_.rankAt(i)), uint64_t{sent_} + 1);
  }

  COLL_DEVICE bool awaitMembers() const {
    const uint32_t member = simt::threadIndex();
    bool over = false;
    uint32_t what = what_;
    if (member < group_.size) {
      over = !awaitWord(&own_.said[member], member, what);
      if (!over && what != what_)
        peer::fail(group_, KernelError::PeerMismatch, member);
    }
    over |= what != what_;
    if (far_.count() > 0)
      over |= !(simt::blockIndex() == 0 ? awaitMessages() : awaitFirstBlock());
    if (simt::syncBlockAny(over))
      return false;
    if (far_.count() > 0 && simt::blockIndex() == 0 && simt::threadIndex() == 0)
      simt::storeRelease(&own_.arrived, received_ + 1);
    return true;
  }

  COLL_DEVICE void leave() const {
    simt::syncBlock();
    const bool isLast = simt::threadIndex() == 0 && leaveOfBlock();
    // A thread for each member: a release waits for earlier stores, over the link too.
    if (!simt::syncBlockAny(isLast) || !(call_.phases & kLowLatencyReceive))
      return;
    if (simt::threadIndex() < group_.size)
      simt::storeRelease(&stateOf(simt::threadIndex()).taken[group_.rank], received_ + 1);
    if (simt::threadIndex() == 0 && far_.count() > 0)
      simt::storeRelease(far_.taken(), uint64_t{received_} + 1);
  }

  // One thread: waits until the word is that of the call to receive, and returns its value.
  COLL_DEVICE bool awaitWord(const uint64_t *word, uint32_t member, uint32_t &says) const {
    peer::Watch watch(group_);
    while (static_cast<uint32_t>(simt::loadRelaxed(word) >> 32) != received_ + 1)
      if (watch.isOver(member))
        return false;
    // The word keeps its value until this call is over here.
    says = static_cast<uint32_t>(simt::loadAcquire(word));
    return true;
  }

  COLL_DEVICE uint32_t sending() const { return sent_ + 1; }
  COLL_DEVICE uint32_t receiving() const { return received_ + 1; }

  // One thread: writes the header of the message to a rank of another node. `message` has the
  // fields that only the call knows.
  COLL_DEVICE void announce(uint32_t rank, LowLatencyMessage message) const {
    message.what = what_;
    message.number = sent_ + 1;
    *reinterpret_cast<LowLatencyMessage *>(far_.messageTo(rank)) = message;
  }

  // Places in a member's buffer. `pair`: local expert, then source.
  COLL_DEVICE uint64_t *countOf(uint32_t member, uint32_t pair) const {
    return words(member, area_.counts) + pair;
  }
  COLL_DEVICE uint64_t *arrivalOf(uint32_t member, uint32_t pair, uint32_t slot) const {
    return words(member, area_.arrivals) + uint64_t{pair} * call_.shape.maxTokens + slot;
  }
  COLL_DEVICE char *rowOf(uint32_t member, uint32_t pair, uint32_t slot) const {
    return call_.buffers[member] + area_.rows +
           (uint64_t{pair} * call_.shape.maxTokens + slot) * rowBytes(call_.shape.hidden);
  }
  COLL_DEVICE uint64_t *returnOf(uint32_t member, uint32_t token, uint32_t place) const {
    return words(member, area_.returns) + token * call_.shape.numTopk + place;
  }
  COLL_DEVICE char *backOf(uint32_t member, uint32_t token, uint32_t place) const {
    return call_.buffers[member] + area_.back +
           (uint64_t{token} * call_.shape.numTopk + place) * rowBytes(call_.shape.hidden);
  }

private:
  // One thread: counts the block; true for the last one, which clears the count.
  COLL_DEVICE static bool isLastBlock(uint32_t &count) {
    simt::fenceSystem();
    if (simt::fetchAdd(&count, 1) + 1 != simt::gridBlocks())
      return false;
    simt::storeRelaxed(&count, 0);
    return true;
  }

  // One thread; true for the last block, which sets the counters for the next call.
  COLL_DEVICE bool leaveOfBlock() const {
    if (!isLastBlock(own_.left))
      return false;
    if (call_.phases & kLowLatencySend)
      simt::storeRelaxed(&own_.sent, sent_ + 1);
    if (call_.phases & kLowLatencyReceive)
      simt::storeRelaxed(&own_.received, received_ + 1);
    return true;
  }

  // One thread: waits until the host has raised the word of a rank of another node to this number.
  COLL_DEVICE bool awaitNumber(const uint64_t *word, uint32_t number, uint32_t rank) const {
    peer::Watch watch(group_);
    while (static_cast<int32_t>(static_cast<uint32_t>(simt::loadRelaxed(word)) - number) < 0)
      if (watch.isOver(Far::named(rank)))
        return false;
    (void)simt::loadAcquire(word);
    return true;
  }

  // A thread of the first block: waits for a share of the messages. The other blocks wait for that
  // block, because the host's words are read over the bus.
  COLL_DEVICE bool awaitMessages() const {
    for (uint32_t i = simt::threadIndex(); i < far_.count(); i += simt::blockThreads()) {
      const uint32_t rank = far_.rankAt(i);
      if (!awaitNumber(far_.arrived(rank), received_ + 1, rank))
        return false;
      if (Far::headerOf(far_.messageFrom(rank)).what != what_) {
        peer::fail(group_, KernelError::PeerMismatch, Far::named(rank));
        return false;
      }
    }
    return true;
  }
  // A thread of another block: waits for the first block.
  COLL_DEVICE bool awaitFirstBlock() const {
    if (simt::threadIndex() != 0)
      return true;
    // The first block's waits have deadlines, and only it knows the rank for which it waits.
    const uint32_t *failed = &peer::stateOf(group_, group_.rank).failed;
    while (simt::loadRelaxed(&own_.arrived) != received_ + 1) {
      simt::giveWay();
      if (simt::loadRelaxed(failed) != 0)
        return false;
    }
    (void)simt::loadAcquire(&own_.arrived);
    return true;
  }

  COLL_DEVICE State &stateOf(uint32_t member) const {
    return *reinterpret_cast<State *>(call_.buffers[member] + area_.state);
  }
  COLL_DEVICE uint64_t *words(uint32_t member, uint64_t offset) const {
    return reinterpret_cast<uint64_t *>(call_.buffers[member] + offset);
  }

  const PeerGroup &group_;
  const LowLatencyCall &call_;
  const LowLatencyArea &area_;
  const uint32_t what_;
  const Far far_;
  State &own_;
  const uint32_t sent_, received_;
};

// The expert that entry i of topkIdx names; -1 if there is none, or it does not count (`isWrong`).
COLL_DEVICE int32_t expertAt(const LowLatencyCall &call, uint32_t i, bool &isWrong) {
  const int64_t expert = call.topkIdx[i];
  isWrong = expert < -1 || expert >= call.shape.numExperts;
  if (expert == -1 || isWrong)
    return -1;
  for (uint32_t before = i - i % call.numTopk; before < i; ++before)
    isWrong |= call.topkIdx[before] == expert;
  return isWrong ? -1 : static_cast<int32_t>(expert);
}

// The rows of an expert that a block handles: every n-th row, if n blocks share the expert. If
// there are more warps than rows, several warps share a row; they work on it in the same turn of
// the block.
class Share {
public:
  COLL_DEVICE Share(uint32_t total, uint32_t part, uint32_t parts)
      : part_(part), parts_(parts), warps_(simt::blockThreads() / kWarp),
        warp_(simt::threadIndex() / kWarp),
        count_(total > part ? (total - part + parts - 1) / parts : 0) {
    while (2 * pieces_ * count_ <= warps_ && warps_ % (2 * pieces_) == 0 && pieces_ < kMostPieces)
      pieces_ *= 2;
  }
  // Turns of the block.
  COLL_DEVICE uint32_t turns() const { return (count_ * pieces_ + warps_ - 1) / warps_; }
  COLL_DEVICE bool isBusy(uint32_t turn) const { return index(turn) < count_ * pieces_; }
  COLL_DEVICE uint32_t row(uint32_t turn) const { return part_ + index(turn) / pieces_ * parts_; }
  // This warp's part of the row: vectors, or units, first, first + stride, …
  COLL_DEVICE uint32_t piece(uint32_t turn) const { return index(turn) % pieces_; }
  COLL_DEVICE uint32_t first(uint32_t turn) const { return piece(turn) * kWarp + simt::lane(); }
  COLL_DEVICE uint32_t stride() const { return pieces_ * kWarp; }
  // Whether a single warp handles a row.
  COLL_DEVICE bool isWhole() const { return pieces_ == 1; }

private:
  static constexpr uint32_t kMostPieces = 8;
  COLL_DEVICE uint32_t index(uint32_t turn) const { return turn * warps_ + warp_; }

  const uint32_t part_, parts_, warps_, warp_, count_;
  uint32_t pieces_ = 1;
};

// Blocks that share an expert's rows.
COLL_DEVICE uint32_t partsOf(uint32_t localExperts) {
  const uint32_t parts = simt::gridBlocks() / localExperts;
  return parts == 0 ? 1 : parts;
}

// The origin of row `row` of an expert, by the sources' counts.
struct Origin {
  uint32_t source, slot;
};
COLL_DEVICE Origin originOf(const uint32_t *counts, uint32_t row) {
  uint32_t source = 0;
  for (; row >= counts[source]; ++source)
    row -= counts[source];
  return {source, row};
}
COLL_DEVICE uint32_t totalOf(const uint32_t *counts, uint32_t size) {
  uint32_t total = 0;
  for (uint32_t s = 0; s < size; ++s)
    total += counts[s];
  return total;
}

// Vectors first, first + stride, … below `count`.
COLL_DEVICE void copyVectors(const char *from, char *to, uint32_t first, uint32_t count,
                             uint32_t stride) {
  constexpr uint32_t kBatch = 4; // loads in flight
  for (uint32_t at = first; at < count; at += kBatch * stride) {
    Vec16 v[kBatch] = {};
    COLL_UNROLL()
    for (uint32_t u = 0; u < kBatch; ++u)
      if (at + u * stride < count)
        v[u] = simt::loadGlobal16(from + uint64_t{at + u * stride} * kVec);
    COLL_UNROLL()
    for (uint32_t u = 0; u < kBatch; ++u)
      if (at + u * stride < count)
        simt::storeGlobal16(to + uint64_t{at + u * stride} * kVec, v[u]);
  }
}

} // namespace coll::kernels::low_latency

#endif // COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_DEVICE_CUH
