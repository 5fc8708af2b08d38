// notify_device.cuh - exchanges the numbers of tokens, and gives every token its place.
//
// Block 0:
//   1. sends every peer this member's tokens per rank, and per expert of that peer, in one slot of
//      a ring;
//   2. sums up what arrived: the rank prefix matrix, and this rank's experts;
//   3. compares the totals with the capacity, and reports them to the host.
// Block 1 + r: numbers this member's tokens for rank r, without peers: a scan of the rank's column
// of isTokenInRank, in which each thread has a run of tokens.

#ifndef COLL_RUNTIME_KERNELS_MOE_NOTIFY_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_NOTIFY_DEVICE_CUH

#include "runtime/kernels/moe/plan.h"
#include "runtime/kernels/moe/scratch.h"
#include "runtime/kernels/peer/ring_device.cuh"

namespace coll::kernels::moe {

class Notifier {
public:
  COLL_DEVICE Notifier(const PeerGroup &group, const MoeNotifyArgs &args, NotifyScratch &shared)
      : group_(group), args_(args), shared_(shared), ranks_(group.size),
        local_(args.numExperts / group.size), thread_(simt::threadIndex()) {}

  COLL_DEVICE void run(uint32_t what) const {
    const peer::Call call(group_, what);
    const bool isDead = simt::syncBlockAny(!call.enter());
    if (simt::blockIndex() != 0) {
      if (!isDead)
        number(simt::blockIndex() - 1);
    } else {
      const peer::Rings rings(group_, call, reinterpret_cast<char *>(&shared_.rings), 0);
      if (!isDead)
        exchange(rings);
    }
    call.leave();
  }

private:
  static constexpr uint32_t kLane = 0;

  COLL_DEVICE void exchange(const peer::Rings &rings) const {
    const uint32_t peers = ((1u << ranks_) - 1) & ~(1u << group_.rank);
    if (!rings.awaitRoom(kLane, peers))
      return;
    for (uint32_t p = 0; p < ranks_; ++p)
      if (p != group_.rank)
        tell(p, reinterpret_cast<uint32_t *>(rings.slotAt(kLane, p)));
    rings.publish(kLane, peers);
    if (!rings.awaitData(kLane, peers))
      return;
    for (uint32_t i = thread_; i < ranks_ * ranks_; i += simt::blockThreads())
      shared_.counts[i / ranks_][i % ranks_] = toldBy(rings, i / ranks_, i % ranks_);
    simt::syncBlock();
    if (!simt::syncBlockAny(sumUpRanks()))
      sumUpExperts(rings);
    rings.release(kLane, peers);
  }

  COLL_DEVICE void tell(uint32_t peer, uint32_t *words) const {
    for (uint32_t i = thread_; i < ranks_ + local_; i += simt::blockThreads())
      words[i] = ownWord(peer, i);
  }
  // The values that this member sends to `peer`, which may be itself.
  COLL_DEVICE uint32_t ownWord(uint32_t peer, uint32_t i) const {
    return static_cast<uint32_t>(i < ranks_ ? args_.tokensPerRank[i]
                                            : args_.tokensPerExpert[peer * local_ + i - ranks_]);
  }
  COLL_DEVICE uint32_t toldBy(const peer::Rings &rings, uint32_t source, uint32_t i) const {
    if (source == group_.rank)
      return ownWord(source, i);
    return reinterpret_cast<const uint32_t *>(rings.dataOf(kLane, source))[i];
  }

  // Column by column. True if there are too many tokens for a member; all members get the same
  // result.
  COLL_DEVICE bool sumUpRanks() const {
    if (thread_ >= ranks_)
      return false;
    uint64_t sum = 0;
    for (uint32_t s = 0; s < ranks_; ++s) {
      sum += shared_.counts[s][thread_];
      args_.rankPrefix[s * ranks_ + thread_] = static_cast<int32_t>(sum);
    }
    if (sum <= args_.capacity)
      return false;
    peer::fail(group_, KernelError::MoeCapacity, thread_);
    return true;
  }

  COLL_DEVICE void sumUpExperts(const peer::Rings &rings) const {
    if (!args_.counters)
      return;
    for (uint32_t e = thread_; e < local_; e += simt::blockThreads()) {
      uint32_t sum = 0;
      for (uint32_t s = 0; s < ranks_; ++s)
        sum += toldBy(rings, s, ranks_ + e);
      const uint32_t unit = args_.expertAlignment;
      simt::storeRelaxed(reinterpret_cast<uint32_t *>(&args_.counters->perExpert[e]),
                         (sum + unit - 1) / unit * unit);
    }
    uint32_t total = 0;
    for (uint32_t s = 0; s < ranks_; ++s)
      total += shared_.counts[s][group_.rank];
    simt::syncBlock();
    // Release: a reader of the total also sees the experts' counts.
    if (thread_ == 0)
      simt::storeRelease(reinterpret_cast<uint32_t *>(&args_.counters->received), total);
  }

  COLL_DEVICE bool goesTo(uint32_t token, uint32_t rank) const {
    return args_.isTokenInRank[uint64_t{token} * ranks_ + rank] != 0;
  }

  COLL_DEVICE void number(uint32_t rank) const {
    const uint32_t tokens = args_.numTokens, channels = args_.numChannels;
    const uint32_t each = (tokens + simt::blockThreads() - 1) / simt::blockThreads();
    const uint32_t first = thread_ * each < tokens ? thread_ * each : tokens;
    const uint32_t end = tokens - first < each ? tokens : first + each;
    const uint32_t ofChannel = tokens == 0 ? 1 : (tokens + channels - 1) / channels;
    uint32_t place = 0;
    for (uint32_t t = first; t < end; ++t)
      place += goesTo(t, rank);
    place = before(place);
    int32_t *prefix = args_.channelPrefix + uint64_t{rank} * channels;
    for (uint32_t t = first; t < end; ++t) {
      const bool goes = goesTo(t, rank);
      args_.sendHead[uint64_t{t} * ranks_ + rank] = goes ? static_cast<int32_t>(place) : -1;
      place += goes;
      if ((t + 1) % ofChannel == 0 || t + 1 == tokens)
        prefix[t / ofChannel] = static_cast<int32_t>(place);
      // Channels without tokens come last.
      for (uint32_t c = t / ofChannel + 1; t + 1 == tokens && c < channels; ++c)
        prefix[c] = static_cast<int32_t>(place);
    }
    for (uint32_t c = thread_; tokens == 0 && c < channels; c += simt::blockThreads())
      prefix[c] = 0;
  }

  // Sum of the values of all threads before this one.
  COLL_DEVICE uint32_t before(uint32_t value) const {
    uint32_t sum = value;
    for (uint32_t delta = 1; delta < simt::kWarpThreads; delta *= 2) {
      const uint32_t other = simt::shuffleUp(sum, delta);
      sum += simt::lane() >= delta ? other : 0;
    }
    const uint32_t warp = thread_ / simt::kWarpThreads;
    if (simt::lane() == simt::kWarpThreads - 1)
      shared_.sums[warp] = sum;
    simt::syncBlock();
    for (uint32_t w = 0; w < warp; ++w)
      sum += shared_.sums[w];
    return sum - value;
  }

  const PeerGroup &group_;
  const MoeNotifyArgs &args_;
  NotifyScratch &shared_;
  const uint32_t ranks_, local_; // experts of a rank
  const uint32_t thread_;
};

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_NOTIFY_DEVICE_CUH
