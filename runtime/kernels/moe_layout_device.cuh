// moe_layout_device.cuh - where tokens go, by counting; one GPU alone.
//
// Block 0 loads indices in the order of memory into shared memory, some thousand at a time; then
// each thread takes a token, finds the set of ranks among its experts, writes the token's row of
// isTokenInRank and counts ranks in registers. Blocks 1, 2, …: every thread counts
// kMoeExpertsPerBlock experts in registers. Then the block sums up its threads' counts.

#ifndef COLL_RUNTIME_KERNELS_MOE_LAYOUT_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_LAYOUT_DEVICE_CUH

#include "runtime/kernels/error_word.h"
#include "runtime/kernels/moe_plan.h"
#include "runtime/kernels/moe_scratch.h"
#include "runtime/kernels/simt.h"

namespace coll::kernels::moe {

class Layouter {
public:
  COLL_DEVICE Layouter(const MoeLayoutArgs &args, LayoutScratch &shared)
      : args_(args), shared_(shared) {}

  COLL_DEVICE void run() const {
    uint32_t counts[kCounts] = {};
    if (simt::blockIndex() == 0) {
      countRanks(counts);
      sumUp(counts, args_.numRanks, args_.tokensPerRank);
      if (args_.tokensOfAny && simt::threadIndex() == 0)
        *args_.tokensOfAny = static_cast<int32_t>(sumOf(kMaxPeers));
      return;
    }
    const uint32_t first = (simt::blockIndex() - 1) * kMoeExpertsPerBlock;
    const uint32_t left = args_.numExperts - first;
    countExperts(first, counts);
    sumUp(counts, left < kMoeExpertsPerBlock ? left : kMoeExpertsPerBlock,
          args_.tokensPerExpert + first);
  }

private:
  // Loads in flight per thread.
  static constexpr uint32_t kBatch = 8;
  // Of what is no expert, in place of its number.
  static constexpr uint32_t kDropped = ~0u, kWrong = ~0u - 1;

  COLL_DEVICE void countRanks(uint32_t *counts) const {
    // Odd, so that threads which read their tokens do not meet in a bank.
    const uint32_t stride = args_.numTopk | 1u, perPass = kLayoutWords / stride;
    for (uint32_t first = 0; first < args_.numTokens; first += perPass) {
      const uint32_t left = args_.numTokens - first, tokens = left < perPass ? left : perPass;
      simt::syncBlock(); // what was staged has been read
      stage(uint64_t{first} * args_.numTopk, tokens * args_.numTopk, stride);
      simt::syncBlock();
      for (uint32_t t = simt::threadIndex(); t < tokens; t += simt::blockThreads())
        countToken(first + t, shared_.words + t * stride, counts);
    }
  }

  // Indices `first` to `first + count - 1`, in the order of memory: a row for a token.
  COLL_DEVICE void stage(uint64_t first, uint32_t count, uint32_t stride) const {
    const uint32_t threads = simt::blockThreads();
    for (uint32_t base = simt::threadIndex(); base < count; base += kBatch * threads) {
      int64_t index[kBatch];
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u)
        index[u] = base + u * threads < count ? args_.topkIdx[first + base + u * threads] : -1;
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u)
        if (const uint32_t i = base + u * threads; i < count)
          shared_.words[i / args_.numTopk * stride + i % args_.numTopk] =
              isExpert(index[u])                        ? numberOf(index[u])
              : index[u] == -1 || isElsewhere(index[u]) ? kDropped
                                                        : kWrong;
    }
  }

  COLL_DEVICE void countToken(uint32_t token, const uint32_t *row, uint32_t *counts) const {
    const uint32_t perRank = args_.numExperts / args_.numRanks;
    uint32_t ranks = 0;
    bool isWrong = false;
    for (uint32_t k = 0; k < args_.numTopk; ++k) {
      const uint32_t expert = row[k];
      if (expert < kWrong)
        ranks |= 1u << expert / perRank;
      isWrong |= expert == kWrong || (expert != kDropped && isIn(row, k, expert));
    }
    if (isWrong)
      simt::storeRelaxed(args_.error, errorWord(KernelError::MoeIndex, token));
    COLL_UNROLL()
    for (uint32_t r = 0; r < kMaxPeers; ++r)
      if (r < args_.numRanks) {
        args_.isTokenInRank[uint64_t{token} * args_.rankStride + r] =
            static_cast<uint8_t>(ranks >> r & 1u);
        counts[r] += ranks >> r & 1u;
      }
    counts[kMaxPeers] += ranks != 0;
  }

  COLL_DEVICE void countExperts(uint32_t first, uint32_t *counts) const {
    const uint64_t all = uint64_t{args_.numTokens} * args_.numTopk;
    const uint32_t threads = simt::blockThreads();
    for (uint64_t base = simt::threadIndex(); base < all; base += uint64_t{kBatch} * threads) {
      int64_t index[kBatch];
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u)
        index[u] = base + u * threads < all ? args_.topkIdx[base + u * threads] : -1;
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u) {
        const uint32_t number = isExpert(index[u]) ? numberOf(index[u]) - first : kDropped;
        COLL_UNROLL()
        for (uint32_t e = 0; e < kMoeExpertsPerBlock; ++e)
          counts[e] += number == e;
      }
    }
  }

  COLL_DEVICE void sumUp(const uint32_t *counts, uint32_t count, int32_t *to) const {
    const uint32_t warp = simt::threadIndex() / simt::kWarpThreads;
    COLL_UNROLL()
    for (uint32_t i = 0; i < kCounts; ++i) {
      const uint32_t sum = simt::sum(counts[i]);
      if (simt::lane() == 0)
        shared_.counts[warp][i] = sum;
    }
    simt::syncBlock();
    if (simt::threadIndex() < count)
      to[simt::threadIndex()] = static_cast<int32_t>(sumOf(simt::threadIndex()));
  }
  COLL_DEVICE uint32_t sumOf(uint32_t count) const {
    uint32_t sum = 0;
    for (uint32_t w = 0; w < simt::blockThreads() / simt::kWarpThreads; ++w)
      sum += shared_.counts[w][count];
    return sum;
  }

  // Of these ranks; of others that there are.
  COLL_DEVICE bool isExpert(int64_t index) const {
    return index >= args_.firstExpert && index < int64_t{args_.firstExpert} + args_.numExperts;
  }
  COLL_DEVICE bool isElsewhere(int64_t index) const {
    return index >= 0 && index < static_cast<int64_t>(args_.allExperts) && !isExpert(index);
  }
  COLL_DEVICE uint32_t numberOf(int64_t index) const {
    return static_cast<uint32_t>(index) - args_.firstExpert;
  }
  COLL_DEVICE static bool isIn(const uint32_t *row, uint32_t count, uint32_t expert) {
    bool found = false;
    for (uint32_t k = 0; k < count; ++k)
      found |= row[k] == expert;
    return found;
  }

  const MoeLayoutArgs &args_;
  LayoutScratch &shared_;
};

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_LAYOUT_DEVICE_CUH
