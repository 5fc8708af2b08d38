// low_latency_combine_device.cuh - returns experts' rows to their tokens, and adds them up.
//
// Send: blocks share the experts. One warp or several read a row where the expert wrote it, convert
// it, and store it at its token's member, followed by the row's word. Rows for a rank of another
// node are written into its message, by expert; the first block writes the header.
//
// Receive, for every n-th token: threads wait for the rows of its experts; then all threads add
// them up in f32, weighted, in the order of the token's experts, and round once.

#ifndef COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_COMBINE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_COMBINE_DEVICE_CUH

#include "runtime/kernels/moe/low_latency_device.cuh"
#include "runtime/kernels/moe/low_latency_format_device.cuh"

namespace coll::kernels::low_latency {

// Rounds once, on the GPU and on the host.
COLL_DEVICE float multiplyAdd(float a, float b, float c) {
#ifdef __CUDA_ARCH__
  return __fmaf_rn(a, b, c);
#else
  return std::fma(a, b, c);
#endif
}

class Combiner {
public:
  COLL_DEVICE Combiner(const PeerGroup &group, const Combine &plan, char *shared)
      : group_(group), args_(plan.args), call_(plan.args.call), shape_(plan.args.call.shape),
        round_(group, plan), far_(group, plan.args.call.far),
        scratch_(*reinterpret_cast<Scratch *>(shared)), local_(shape_.numExperts / far_.numRanks()),
        thread_(simt::threadIndex()) {}

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
    if (!round_.awaitRoom())
      return false;
    const uint32_t parts = partsOf(local_);
    for (uint32_t i = simt::blockIndex(); i < local_ * parts; i += simt::gridBlocks())
      sendExpert(i % local_, i / local_, parts);
    if (simt::blockIndex() == 0)
      for (uint32_t i = thread_; i < far_.count(); i += simt::blockThreads())
        announce(far_.rankAt(i));
    round_.ring();
    return true;
  }

  // The number of rows that an expert has from a source.
  COLL_DEVICE uint32_t countOf(uint32_t expert, uint32_t source) const {
    const auto count = static_cast<uint32_t>(args_.from.ranges[expert * far_.numRanks() + source]);
    return count <= shape_.maxTokens ? count : 0;
  }
  // The number of rows of all experts before it.
  COLL_DEVICE uint32_t beginOf(uint32_t expert, uint32_t source) const {
    uint32_t begin = 0;
    for (uint32_t e = 0; e < expert; ++e)
      begin += countOf(e, source);
    return begin;
  }

  // The number of rows for which a message has room; only wrong `ranges` have more.
  COLL_DEVICE uint32_t roomOf() const {
    return shape_.maxTokens * (local_ < shape_.numTopk ? local_ : shape_.numTopk);
  }
  COLL_DEVICE uint32_t travelBytes() const {
    return args_.log ? logBytes(shape_.hidden) : plainBytes(shape_.hidden);
  }
  COLL_DEVICE void announce(uint32_t rank) const {
    LowLatencyMessage message;
    message.kind = LowLatencyMessage::kCombine;
    message.rowBytes = travelBytes();
    const uint32_t rows = beginOf(local_, rank);
    message.rows = rows < roomOf() ? rows : roomOf();
    round_.announce(rank, message);
  }

  COLL_DEVICE void sendExpert(uint32_t expert, uint32_t part, uint32_t parts) const {
    simt::syncBlock(); // the counts were read
    for (uint32_t s = thread_; s < far_.numRanks(); s += simt::blockThreads()) {
      scratch_.counts[s] = countOf(expert, s);
      scratch_.begins[s] = far_.isFar(s) ? beginOf(expert, s) : 0;
    }
    simt::syncBlock();
    const Share share(totalOf(scratch_.counts, far_.numRanks()), part, parts);
    for (uint32_t turn = 0; turn < share.turns(); ++turn) {
      uint64_t *word = nullptr;
      uint32_t says = 0;
      if (share.isBusy(turn))
        word = sendRow(expert, share, turn, says);
      if (share.isWhole())
        simt::syncWarp();
      else
        simt::syncBlock();
      if (word && simt::lane() == 0 && share.piece(turn) == 0)
        simt::storeRelease(word, wordOf(round_.sending(), says));
    }
  }

  // The word that announces the row; null if no thread waits for it.
  COLL_DEVICE uint64_t *sendRow(uint32_t expert, const Share &share, uint32_t turn,
                                uint32_t &says) const {
    const uint32_t row = share.row(turn);
    const uint64_t at = uint64_t{expert} * far_.numRanks() * shape_.maxTokens + row;
    const Origin origin = originOf(scratch_.counts, row);
    const uint32_t source = origin.source;
    says = args_.from.sources[at];
    const char *from = static_cast<const char *>(args_.x) + at * rowBytes(shape_.hidden);
    if (far_.isFar(source)) {
      if (scratch_.begins[source] + origin.slot >= roomOf())
        return nullptr;
      char *to = messageRow(origin);
      push(from, to, share, turn);
      // The receiver checks whether the token exists.
      if (simt::lane() == 0 && share.piece(turn) == 0)
        *reinterpret_cast<uint32_t *>(to + travelBytes()) = says;
      return nullptr;
    }
    const uint32_t token = says & ((1u << kPlaceShift) - 1), place = says >> kPlaceShift;
    if (token >= shape_.maxTokens || place >= shape_.numTopk)
      return nullptr;
    push(from, round_.backOf(far_.memberOf(source), token, place), share, turn);
    return round_.returnOf(far_.memberOf(source), token, place);
  }
  COLL_DEVICE char *messageRow(const Origin &origin) const {
    return far_.messageTo(origin.source) + kReturnsAt +
           uint64_t{scratch_.begins[origin.source] + origin.slot} * (travelBytes() + kTailBytes);
  }

  COLL_DEVICE void push(const char *from, char *to, const Share &share, uint32_t turn) const {
    if (args_.log)
      pushLog(from, to, share, turn);
    else
      copyVectors(from, to, share.first(turn), shape_.hidden / 8, share.stride());
  }

  COLL_DEVICE void pushLog(const char *from, char *to, const Share &share, uint32_t turn) const {
    const uint32_t units = shape_.hidden / kUnit, lane = simt::lane();
    for (uint32_t first = share.first(turn) - lane; first < units; first += share.stride()) {
      const uint32_t i = first + lane;
      const LogUnit unit = LogUnit::of(Unit::load(from, i, i < units));
      if (i >= units)
        continue;
      simt::storeGlobal16(to + uint64_t{i} * kVec, unit.low);
      highOf(to)[i] = unit.high;
      if (lane % kGroupLanes == 0)
        rangesOf(to)[i / kGroupLanes] = unit.range;
    }
  }
  COLL_DEVICE uint32_t *highOf(char *row) const {
    return reinterpret_cast<uint32_t *>(row + shape_.hidden);
  }
  COLL_DEVICE uint32_t *rangesOf(char *row) const { return highOf(row) + shape_.hidden / kUnit; }

  // --- receive

  COLL_DEVICE bool receive() const {
    if (!round_.awaitMembers())
      return false;
    for (uint32_t token = simt::blockIndex(); token < call_.numTokens;
         token += simt::gridBlocks()) {
      simt::syncBlock(); // the table was read
      if (simt::syncBlockAny(thread_ < call_.numTopk && !awaitRow(token, thread_)))
        return false;
      char *out = static_cast<char *>(args_.out) + token * rowBytes(shape_.hidden);
      if (args_.log)
        addLog(out);
      else
        addPlain(out);
    }
    return true;
  }

  COLL_DEVICE bool awaitRow(uint32_t token, uint32_t k) const {
    const uint32_t entry = token * call_.numTopk + k;
    bool isWrong = false;
    const int32_t expert = expertAt(call_, entry, isWrong);
    scratch_.rows[k] = expert < 0 ? nullptr : round_.backOf(group_.rank, token, k);
    scratch_.weights[k] = args_.topkWeights[entry];
    const uint32_t rank = expert < 0 ? 0 : static_cast<uint32_t>(expert) / local_;
    if (expert >= 0 && far_.isFar(rank))
      return findRow(token, k, rank);
    uint32_t says = 0;
    return expert < 0 ||
           round_.awaitWord(round_.returnOf(group_.rank, token, k), far_.memberOf(rank), says);
  }

  // Finds the row in the message of another node's rank, which has arrived.
  COLL_DEVICE bool findRow(uint32_t token, uint32_t k, uint32_t rank) const {
    const uint64_t word = simt::loadRelaxed(far_.returned(token * shape_.numTopk + k));
    if (word >> 32 != round_.receiving()) {
      peer::fail(group_, KernelError::PeerMismatch, Far::named(rank));
      return false;
    }
    // The sums load such rows in the same way as those of this GPU.
    scratch_.rows[k] = const_cast<char *>(far_.messageFrom(rank)) + kReturnsAt +
                       static_cast<uint32_t>(word) * uint64_t{travelBytes() + kTailBytes};
    return true;
  }

  // Eight values per thread; the loads of the rows are in flight together.
  COLL_DEVICE void addPlain(char *out) const {
    constexpr uint32_t kBatch = 4;
    const uint32_t vectors = shape_.hidden / 8;
    for (uint32_t i = thread_; i < vectors; i += simt::blockThreads()) {
      float sums[8] = {};
      for (uint32_t first = 0; first < call_.numTopk; first += kBatch) {
        Vec16 v[kBatch] = {};
        COLL_UNROLL()
        for (uint32_t b = 0; b < kBatch; ++b)
          if (has(first + b))
            v[b] = simt::loadGlobal16(scratch_.rows[first + b] + uint64_t{i} * kVec);
        COLL_UNROLL()
        for (uint32_t b = 0; b < kBatch; ++b)
          if (has(first + b))
            addVector(v[b], scratch_.weights[first + b], sums);
      }
      simt::storeGlobal16(out + uint64_t{i} * kVec, rounded(sums));
    }
  }
  COLL_DEVICE bool has(uint32_t k) const { return k < call_.numTopk && scratch_.rows[k]; }
  COLL_DEVICE static void addVector(const Vec16 &v, float weight, float *sums) {
    COLL_UNROLL()
    for (uint32_t j = 0; j < 8; ++j)
      sums[j] = multiplyAdd(
          weight, BfloatType::load(static_cast<uint16_t>(v.word[j / 2] >> (j % 2 * 16))), sums[j]);
  }
  COLL_DEVICE static Vec16 rounded(const float *sums) {
    Vec16 v = {};
    COLL_UNROLL()
    for (uint32_t w = 0; w < 4; ++w)
      v.word[w] = BfloatType::storePair(sums[2 * w], sums[2 * w + 1]);
    return v;
  }

  COLL_DEVICE void addLog(char *out) const {
    const uint32_t units = shape_.hidden / kUnit;
    for (uint32_t i = thread_; i < units; i += simt::blockThreads()) {
      float sums[kUnit] = {};
      for (uint32_t k = 0; k < call_.numTopk; ++k) {
        char *row = scratch_.rows[k];
        if (!row)
          continue;
        const LogUnit unit = {simt::loadGlobal16(row + uint64_t{i} * kVec), highOf(row)[i],
                              rangesOf(row)[i / kGroupLanes]};
        const LogRange range(unit.range);
        COLL_UNROLL()
        for (uint32_t j = 0; j < kUnit; ++j)
          sums[j] = multiplyAdd(scratch_.weights[k], unit.value(j, range), sums[j]);
      }
      simt::storeGlobal16(out + uint64_t{2 * i} * kVec, rounded(sums));
      simt::storeGlobal16(out + uint64_t{2 * i + 1} * kVec, rounded(sums + 8));
    }
  }

  const PeerGroup &group_;
  const LowLatencyCombineArgs &args_;
  const LowLatencyCall &call_;
  const LowLatencyShape &shape_;
  const Round round_;
  const Far far_;
  Scratch &scratch_;
  const uint32_t local_, thread_;
};

} // namespace coll::kernels::low_latency

#endif // COLL_RUNTIME_KERNELS_MOE_LOW_LATENCY_COMBINE_DEVICE_CUH
