// low_latency_dispatch_device.cuh - sends tokens to their experts, and packs them there.
//
// Send, in each block:
//
//   1. reads all indices into shared memory, where wrong ones become -1;
//   2. a warp for an expert counts its tokens and sends the count to the expert's member, without
//      waiting and in any order;
//   3. for every n-th token: a warp for each of its experts counts the earlier tokens, which gives
//      the place there; all threads load the row once, convert it, and store it at all its places;
//      then each row's word is stored.
//
// For a rank of another node the same is written into its message: step 2 writes the position of an
// expert's first entry, step 3 an entry for each expert and one row for all of them.
//
// Receive: blocks share the experts. Counts determine the place of a source's rows; a row of this
// node is copied when its word has arrived, rows of other nodes out of their messages, which have
// arrived.

#ifndef COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_DISPATCH_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_DISPATCH_DEVICE_CUH

#include "runtime/kernels/moe/index_word.h"
#include "runtime/kernels/moe/low_latency_device.cuh"
#include "runtime/kernels/moe/low_latency_format_device.cuh"

namespace coll::kernels::low_latency {

class Dispatcher {
public:
  COLL_DEVICE Dispatcher(const PeerGroup &group, const Dispatch &plan, char *shared)
      : group_(group), args_(plan.args), call_(plan.args.call), shape_(plan.args.call.shape),
        round_(group, plan), far_(group, plan.args.call.far),
        scratch_(*reinterpret_cast<Scratch *>(shared)),
        experts_(reinterpret_cast<int16_t *>(shared + sizeof(Scratch))),
        local_(shape_.numExperts / far_.numRanks()), thread_(simt::threadIndex()),
        warp_(thread_ / kWarp), warps_(simt::blockThreads() / kWarp) {}

  COLL_DEVICE void run() const {
    if (!round_.begin())
      return;
    if ((call_.phases & kLowLatencySend) && !send())
      return;
    if ((call_.phases & kLowLatencyReceive) && !receive())
      return;
    round_.leave();
  }

private:
  // --- send

  COLL_DEVICE bool send() const {
    const uint32_t entries = call_.numTokens * call_.numTopk;
    for (uint32_t i = thread_; i < entries; i += simt::blockThreads()) {
      bool isWrong = false;
      experts_[i] = static_cast<int16_t>(expertAt(call_, i, isWrong));
      if (isWrong && simt::blockIndex() == 0 && args_.error)
        simt::storeRelaxed(args_.error, moeIndexWord(i / call_.numTopk, i % call_.numTopk));
    }
    if (!round_.awaitRoom())
      return false;
    for (uint32_t e = simt::blockIndex() * warps_ + warp_; e < shape_.numExperts;
         e += simt::gridBlocks() * warps_) {
      if (far_.isFar(e / local_)) {
        tellBegin(e, entries);
        continue;
      }
      const uint32_t count = tokensOf(static_cast<int32_t>(e), entries);
      if (simt::lane() == 0)
        simt::storeRelaxed(round_.countOf(far_.memberOf(e / local_), pairOf(e)),
                           wordOf(round_.sending(), count));
    }
    for (uint32_t token = simt::blockIndex(); token < call_.numTokens; token += simt::gridBlocks())
      sendToken(token);
    round_.ring();
    return true;
  }

  // A warp: writes the position of the expert's first entry in its rank's message and, with the
  // last expert, the header.
  COLL_DEVICE void tellBegin(uint32_t expert, uint32_t entries) const {
    const uint32_t rank = expert / local_, first = rank * local_;
    auto *begins = reinterpret_cast<uint32_t *>(far_.messageTo(rank) + kBeginsAt);
    const uint32_t begin = entriesOf(first, expert, entries);
    if (simt::lane() == 0)
      begins[expert - first] = begin;
    if (expert + 1 != first + local_)
      return;
    LowLatencyMessage message;
    message.kind = LowLatencyMessage::kDispatch;
    message.rowBytes = travelBytes();
    message.rows = rowsFor(rank, call_.numTokens);
    message.entries = entriesOf(first, first + local_, entries);
    message.tokens = call_.numTokens;
    message.numTopk = call_.numTopk;
    if (simt::lane() != 0)
      return;
    begins[local_] = message.entries;
    round_.announce(rank, message);
  }

  // Entries before the `end`-th one that name the expert.
  COLL_DEVICE uint32_t tokensOf(int32_t expert, uint32_t end) const {
    uint32_t count = 0;
    for (uint32_t i = simt::lane(); i < end; i += kWarp)
      count += experts_[i] == expert;
    simt::syncWarp();
    return simt::sum(count);
  }
  // Entries among those that name an expert from `first` to `last` - 1.
  COLL_DEVICE uint32_t entriesOf(uint32_t first, uint32_t last, uint32_t end) const {
    uint32_t count = 0;
    for (uint32_t i = simt::lane(); i < end; i += kWarp)
      count += isBetween(experts_[i], first, last);
    simt::syncWarp();
    return simt::sum(count);
  }
  // Tokens before the `end`-th one that have an expert at that rank.
  COLL_DEVICE uint32_t rowsFor(uint32_t rank, uint32_t end) const {
    uint32_t count = 0;
    for (uint32_t token = simt::lane(); token < end; token += kWarp)
      count += hasBefore(rank, token, call_.numTopk);
    simt::syncWarp();
    return simt::sum(count);
  }
  // Whether one of the token's first `k` experts is at that rank.
  COLL_DEVICE bool hasBefore(uint32_t rank, uint32_t token, uint32_t k) const {
    bool has = false;
    for (uint32_t i = 0; i < k; ++i)
      has |= isBetween(experts_[token * call_.numTopk + i], rank * local_, (rank + 1) * local_);
    return has;
  }
  COLL_DEVICE static bool isBetween(int16_t expert, uint32_t first, uint32_t last) {
    return expert >= static_cast<int32_t>(first) && expert < static_cast<int32_t>(last);
  }
  COLL_DEVICE uint32_t travelBytes() const {
    return args_.fp8 ? fp8Bytes(shape_.hidden) : plainBytes(shape_.hidden);
  }
  COLL_DEVICE uint32_t pairOf(uint32_t expert) const {
    return expert % local_ * far_.numRanks() + far_.rankOf(group_.rank);
  }

  COLL_DEVICE void sendToken(uint32_t token) const {
    for (uint32_t k = warp_; k < call_.numTopk; k += warps_)
      findPlace(token, k);
    simt::syncBlock();
    const char *row = static_cast<const char *>(args_.x) + token * rowBytes(shape_.hidden);
    if (args_.fp8)
      pushFp8(row);
    else
      pushPlain(row);
    simt::syncBlock();
    for (uint32_t k = warp_; k < call_.numTopk; k += warps_)
      if (simt::lane() == 0 && scratch_.words[k])
        simt::storeRelease(scratch_.words[k], wordOf(round_.sending(), k << kPlaceShift | token));
  }

  COLL_DEVICE void findPlace(uint32_t token, uint32_t k) const {
    const uint32_t entry = token * call_.numTopk + k;
    const int32_t expert = experts_[entry];
    const uint32_t slot = expert < 0 ? 0 : tokensOf(expert, entry);
    const auto e = static_cast<uint32_t>(expert < 0 ? 0 : expert);
    if (expert >= 0 && far_.isFar(e / local_)) {
      findPlaceFar(token, k, e, slot);
      return;
    }
    if (simt::lane() != 0)
      return;
    const uint32_t member = far_.memberOf(e / local_);
    scratch_.rows[k] = expert < 0 ? nullptr : round_.rowOf(member, pairOf(e), slot);
    scratch_.words[k] = expert < 0 ? nullptr : round_.arrivalOf(member, pairOf(e), slot);
  }

  COLL_DEVICE void findPlaceFar(uint32_t token, uint32_t k, uint32_t expert, uint32_t slot) const {
    const uint32_t rank = expert / local_;
    const uint32_t begin = entriesOf(rank * local_, expert, call_.numTokens * call_.numTopk);
    const uint64_t row = rowsFor(rank, token);
    if (simt::lane() != 0)
      return;
    char *message = far_.messageTo(rank);
    reinterpret_cast<uint64_t *>(message + entriesAt(local_))[begin + slot] =
        row << 32 | k << kPlaceShift | token;
    // The message already contains the row, for another of the token's experts there.
    scratch_.rows[k] =
        hasBefore(rank, token, k)
            ? nullptr
            : message + rowsAt(local_, call_.numTokens, call_.numTopk) + row * travelBytes();
    scratch_.words[k] = nullptr;
  }

  COLL_DEVICE void pushPlain(const char *row) const {
    const uint32_t vectors = shape_.hidden / 8;
    for (uint32_t i = thread_; i < vectors; i += simt::blockThreads()) {
      const Vec16 v = simt::loadGlobal16(row + uint64_t{i} * kVec);
      for (uint32_t k = 0; k < call_.numTopk; ++k)
        if (char *to = scratch_.rows[k])
          simt::storeGlobal16(to + uint64_t{i} * kVec, v);
    }
  }

  COLL_DEVICE void pushFp8(const char *row) const {
    const uint32_t units = shape_.hidden / kUnit, lane = simt::lane();
    for (uint32_t first = warp_ * kWarp; first < units; first += simt::blockThreads()) {
      const uint32_t i = first + lane;
      const Fp8Unit unit = Fp8Unit::of(Unit::load(row, i, i < units));
      for (uint32_t k = 0; k < call_.numTopk && i < units; ++k) {
        char *to = scratch_.rows[k];
        if (!to)
          continue;
        simt::storeGlobal16(to + uint64_t{i} * kVec, unit.values);
        if (lane % kGroupLanes == 0)
          reinterpret_cast<float *>(to + shape_.hidden)[i / kGroupLanes] = unit.scale;
      }
    }
  }

  // --- receive

  COLL_DEVICE bool receive() const {
    if (!round_.awaitMembers())
      return false;
    const uint32_t parts = partsOf(local_);
    for (uint32_t i = simt::blockIndex(); i < local_ * parts; i += simt::gridBlocks())
      if (!receiveExpert(i % local_, i / local_, parts))
        return false;
    return true;
  }

  COLL_DEVICE bool receiveExpert(uint32_t expert, uint32_t part, uint32_t parts) const {
    bool over = false;
    for (uint32_t s = thread_; s < far_.numRanks(); s += simt::blockThreads()) {
      uint32_t count = 0;
      if (far_.isFar(s))
        count = countFar(s, expert);
      else
        over |= !round_.awaitWord(round_.countOf(group_.rank, expert * far_.numRanks() + s),
                                  far_.memberOf(s), count);
      scratch_.counts[s] = count <= shape_.maxTokens ? count : 0;
    }
    if (simt::syncBlockAny(over))
      return false;
    const uint32_t total = totalOf(scratch_.counts, far_.numRanks());
    const Share share(total, part, parts);
    for (uint32_t turn = 0; turn < share.turns(); ++turn)
      if (share.isBusy(turn))
        over |= !takeRow(expert, share, turn);
    if (part == 0)
      describe(expert, total);
    return !simt::syncBlockAny(over);
  }

  // Entries in the message of a source on another node.
  COLL_DEVICE uint32_t countFar(uint32_t source, uint32_t expert) const {
    const auto *begins =
        reinterpret_cast<const uint32_t *>(far_.messageFrom(source) + kBeginsAt) + expert;
    scratch_.begins[source] = begins[0];
    return begins[1] - begins[0];
  }

  // The place of a row of another node, and its entry.
  COLL_DEVICE const char *rowFar(const Origin &origin, uint32_t &says) const {
    const char *message = far_.messageFrom(origin.source);
    const LowLatencyMessage &header = Far::headerOf(message);
    const uint64_t entry = reinterpret_cast<const uint64_t *>(
        message + entriesAt(local_))[scratch_.begins[origin.source] + origin.slot];
    says = static_cast<uint32_t>(entry);
    return message + rowsAt(local_, header.tokens, header.numTopk) + (entry >> 32) * travelBytes();
  }
  // The same for this node, once the row has arrived. Null means: give up.
  COLL_DEVICE const char *rowNear(uint32_t expert, const Origin &origin, uint32_t &says) const {
    const uint32_t pair = expert * far_.numRanks() + origin.source;
    bool isThere = true;
    if (simt::lane() == 0)
      isThere = round_.awaitWord(round_.arrivalOf(group_.rank, pair, origin.slot),
                                 far_.memberOf(origin.source), says);
    if (simt::ballot(!isThere) != 0)
      return nullptr;
    simt::syncWarp(); // all lanes see what lane 0 has acquired
    return round_.rowOf(group_.rank, pair, origin.slot);
  }

  COLL_DEVICE bool takeRow(uint32_t expert, const Share &share, uint32_t turn) const {
    const uint32_t row = share.row(turn);
    const Origin origin = originOf(scratch_.counts, row);
    uint32_t says = 0;
    const char *from =
        far_.isFar(origin.source) ? rowFar(origin, says) : rowNear(expert, origin, says);
    if (!from)
      return false;
    const uint64_t to = uint64_t{expert} * far_.numRanks() * shape_.maxTokens + row;
    const uint32_t bytes = args_.fp8 ? shape_.hidden : shape_.hidden * 2;
    copyVectors(from, static_cast<char *>(args_.out.x) + to * bytes, share.first(turn),
                bytes / kVec, share.stride());
    const uint32_t groups = shape_.hidden / kLowLatencyGroup;
    if (args_.fp8)
      for (uint32_t g = share.first(turn); g < groups; g += share.stride())
        args_.out.scales[to * groups + g] =
            reinterpret_cast<const float *>(from + shape_.hidden)[g];
    if (simt::lane() == 0 && share.piece(turn) == 0)
      args_.out.sources[to] = says;
    return true;
  }

  COLL_DEVICE void describe(uint32_t expert, uint32_t total) const {
    for (uint32_t s = thread_; s < far_.numRanks(); s += simt::blockThreads())
      args_.out.ranges[expert * far_.numRanks() + s] =
          uint64_t{totalOf(scratch_.counts, s)} << 32 | scratch_.counts[s];
    if (thread_ != 0)
      return;
    args_.out.counts[expert] = static_cast<int32_t>(total);
    if (args_.stats)
      args_.stats[expert] += static_cast<int32_t>(total);
  }

  const PeerGroup &group_;
  const LowLatencyDispatchArgs &args_;
  const LowLatencyCall &call_;
  const LowLatencyShape &shape_;
  const Round round_;
  const Far far_;
  Scratch &scratch_;
  int16_t *experts_; // of all entries
  const uint32_t local_, thread_, warp_, warps_;
};

} // namespace coll::kernels::low_latency

#endif // COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_DISPATCH_DEVICE_CUH
