// moe_layout_device.cuh - where tokens go, by counting; one GPU alone.
//
// Every block reads all indices, in the order of memory, so that none waits for another. Blocks
// 0, 1, … of the ranks: a warp takes as many tokens as fit, a lane for each index; a vote says
// which of them are for the rank, and the token's row of isTokenInRank gets it. One more block, if
// asked for, counts tokens for any of the ranks. The other blocks: every thread counts
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
    const uint32_t block = simt::blockIndex(), ranks = args_.numRanks;
    const uint32_t perRank = args_.numExperts / ranks;
    const uint32_t others = args_.tokensOfAny ? ranks + 1 : ranks;
    if (block < ranks)
      countTokens(block * perRank, perRank, args_.tokensPerRank + block);
    else if (block < others)
      countTokens(0, args_.numExperts, args_.tokensOfAny);
    else
      countExperts((block - others) * kMoeExpertsPerBlock);
  }

private:
  // Loads in flight per thread.
  static constexpr uint32_t kBatch = 8;
  // Of what is no expert, in place of its number.
  static constexpr uint32_t kDropped = ~0u, kWrong = ~0u - 1;

  // Tokens with an expert among `count` from `low` on: how many, and, of a rank's block, which.
  COLL_DEVICE void countTokens(uint32_t low, uint32_t count, int32_t *sum) const {
    const uint32_t block = simt::blockIndex();
    const TokenLane at(args_.numTopk);
    const uint32_t steps = (args_.numTokens + at.tokens - 1) / at.tokens;
    const uint32_t warps = simt::blockThreads() / simt::kWarpThreads;
    uint32_t counts[1] = {};
    for (uint32_t base = simt::threadIndex() / simt::kWarpThreads; base < steps;
         base += kBatch * warps) {
      int64_t index[kBatch];
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u) {
        const uint64_t token = uint64_t{base + u * warps} * at.tokens + at.token;
        index[u] =
            at.isUsed && token < args_.numTokens ? args_.topkIdx[token * args_.numTopk + at.k] : -1;
      }
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u) {
        const uint32_t step = base + u * warps, token = step * at.tokens + at.token;
        if (step >= steps)
          continue;
        const uint32_t number = numberOf(index[u]);
        const bool found = (simt::ballot(number - low < count) & at.mask) != 0;
        if (step % args_.numRanks == block)
          check(at, token, number);
        if (at.k != 0 || !at.isUsed || token >= args_.numTokens)
          continue;
        counts[0] += found;
        if (block < args_.numRanks)
          args_.isTokenInRank[uint64_t{token} * args_.rankStride + block] = found;
      }
    }
    sumUp(counts, 1, sum);
  }

  // A lane of a warp that looks at several tokens at once.
  struct TokenLane {
    COLL_DEVICE explicit TokenLane(uint32_t topk)
        : tokens(simt::kWarpThreads / topk), token(simt::lane() / topk), first(token * topk),
          k(simt::lane() - first), isUsed(token < tokens),
          mask(isUsed ? (~0u >> (simt::kWarpThreads - topk)) << first : 0) {}

    const uint32_t tokens; // of the warp
    const uint32_t token;  // of this lane, among them
    const uint32_t first;  // lane of that token
    const uint32_t k;
    const bool isUsed;
    const uint32_t mask; // the token's lanes
  };

  // Each token is one block's to check.
  COLL_DEVICE void check(const TokenLane &at, uint32_t token, uint32_t number) const {
    bool isWrong = number == kWrong;
    for (uint32_t distance = 1; distance < args_.numTopk; ++distance) {
      const uint32_t k = at.k + distance;
      const uint32_t from = at.first + (k < args_.numTopk ? k : k - args_.numTopk);
      const uint32_t other = simt::shuffle(number, at.isUsed ? from : simt::lane());
      isWrong |= at.isUsed && number < kWrong && other == number;
    }
    if (isWrong)
      simt::storeRelaxed(args_.error, errorWord(KernelError::MoeIndex, token));
  }

  COLL_DEVICE void countExperts(uint32_t first) const {
    const uint64_t all = uint64_t{args_.numTokens} * args_.numTopk;
    const uint32_t threads = simt::blockThreads();
    uint32_t counts[kMoeExpertsPerBlock] = {};
    for (uint64_t base = simt::threadIndex(); base < all; base += uint64_t{kBatch} * threads) {
      int64_t index[kBatch];
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u)
        index[u] = base + u * threads < all ? args_.topkIdx[base + u * threads] : -1;
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u) {
        const uint32_t number = numberOf(index[u]) - first;
        COLL_UNROLL()
        for (uint32_t e = 0; e < kMoeExpertsPerBlock; ++e)
          counts[e] += number == e;
      }
    }
    const uint32_t left = args_.numExperts - first;
    sumUp(counts, left < kMoeExpertsPerBlock ? left : kMoeExpertsPerBlock,
          args_.tokensPerExpert + first);
  }

  template <uint32_t kCount>
  COLL_DEVICE void sumUp(const uint32_t (&counts)[kCount], uint32_t count, int32_t *to) const {
    const uint32_t thread = simt::threadIndex(), warp = thread / simt::kWarpThreads;
    COLL_UNROLL()
    for (uint32_t i = 0; i < kCount; ++i) {
      const uint32_t sum = simt::sum(counts[i]);
      if (simt::lane() == 0)
        shared_.counts[warp][i] = sum;
    }
    simt::syncBlock();
    if (thread >= count)
      return;
    uint32_t sum = 0;
    for (uint32_t w = 0; w < simt::blockThreads() / simt::kWarpThreads; ++w)
      sum += shared_.counts[w][thread];
    to[thread] = static_cast<int32_t>(sum);
  }

  // Among the experts of these ranks; kDropped: -1, or an expert of other ranks.
  COLL_DEVICE uint32_t numberOf(int64_t index) const {
    const auto number = static_cast<uint64_t>(index) - args_.firstExpert;
    if (number < args_.numExperts)
      return static_cast<uint32_t>(number);
    return index == -1 || static_cast<uint64_t>(index) < args_.allExperts ? kDropped : kWrong;
  }

  const MoeLayoutArgs &args_;
  LayoutScratch &shared_;
};

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_LAYOUT_DEVICE_CUH
