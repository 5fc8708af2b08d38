// layout_device.cuh - counts the tokens by destination, on one GPU alone.
//
// Every block reads all indices, so that none waits for another. Blocks 0, 1, … belong to the
// ranks: a thread takes a token, looks for one of the rank's experts, and writes the token's
// element of isTokenInRank. One more block, if requested, counts tokens for any of the ranks. In
// the other blocks every thread counts kMoeExpertsPerBlock experts in registers. Then each block
// sums up its threads' counts.

#ifndef COLL_RUNTIME_KERNELS_MOE_LAYOUT_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_LAYOUT_DEVICE_CUH

#include "runtime/kernels/moe/index_word.h"
#include "runtime/kernels/moe/plan.h"
#include "runtime/kernels/moe/scratch.h"
#include "runtime/kernels/simt/simt.h"

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
  // Values that stand for indices that are not an expert.
  static constexpr uint32_t kDropped = ~0u, kWrong = ~0u - 1;

  // Counts the tokens with an expert among `count` from `low` on and, in a block for a rank, marks
  // them.
  COLL_DEVICE void countTokens(uint32_t low, uint32_t count, int32_t *sum) const {
    const uint32_t block = simt::blockIndex(), topk = args_.numTopk;
    const bool isPaired =
        topk % 2 == 0 && reinterpret_cast<uintptr_t>(args_.topkIdx) % sizeof(simt::Vec16) == 0;
    uint32_t counts[1] = {};
    for (uint32_t token = simt::threadIndex(); token < args_.numTokens;
         token += simt::blockThreads()) {
      const int64_t *row = args_.topkIdx + uint64_t{token} * topk;
      // Each token is checked by one block.
      const bool checks = token / simt::kWarpThreads % args_.numRanks == block;
      bool found = false, isWrong = false;
      for (uint32_t first = 0; first < topk; first += kBatch) {
        uint32_t numbers[kBatch];
        if (isPaired)
          loadPairs(row + first, topk - first, numbers);
        else
          loadEach(row + first, topk - first, numbers);
        COLL_UNROLL()
        for (uint32_t j = 0; j < kBatch; ++j)
          found |= numbers[j] - low < count;
        isWrong |= checks && isAnyWrong(row, first, numbers);
      }
      if (isWrong)
        simt::storeRelaxed(args_.error, moeIndexWord(token, wrongPlace(row)));
      counts[0] += found;
      if (block < args_.numRanks)
        args_.isTokenInRank[uint64_t{token} * args_.rankStride + block] = found;
    }
    sumUp(counts, 1, sum);
  }

  // Loads up to kBatch indices, of which `left` exist; an even number of them, aligned.
  COLL_DEVICE void loadPairs(const int64_t *row, uint32_t left, uint32_t (&numbers)[kBatch]) const {
    simt::Vec16 pair[kBatch / 2] = {};
    COLL_UNROLL()
    for (uint32_t j = 0; j < kBatch / 2; ++j)
      if (2 * j < left)
        pair[j] = simt::loadGlobal16(row + 2 * j);
    COLL_UNROLL()
    for (uint32_t j = 0; j < kBatch; ++j) {
      const uint32_t *words = pair[j / 2].word + j % 2 * 2;
      numbers[j] =
          j < left ? numberOf(static_cast<int64_t>(uint64_t{words[1]} << 32 | words[0])) : kDropped;
    }
  }
  COLL_DEVICE void loadEach(const int64_t *row, uint32_t left, uint32_t (&numbers)[kBatch]) const {
    COLL_UNROLL()
    for (uint32_t j = 0; j < kBatch; ++j)
      numbers[j] = j < left ? numberOf(row[j]) : kDropped;
  }

  // Whether one of the numbers, which belong to a token from place `first` on, is wrong or repeats
  // an earlier one.
  COLL_DEVICE bool isAnyWrong(const int64_t *row, uint32_t first,
                              const uint32_t (&numbers)[kBatch]) const {
    bool isWrong = false;
    COLL_UNROLL()
    for (uint32_t j = 0; j < kBatch; ++j) {
      isWrong |= numbers[j] == kWrong;
      COLL_UNROLL()
      for (uint32_t i = 0; i < j; ++i)
        isWrong |= numbers[j] < kWrong && numbers[i] == numbers[j];
    }
    for (uint32_t k = 0; k < first; ++k) {
      const uint32_t before = numberOf(row[k]);
      COLL_UNROLL()
      for (uint32_t j = 0; j < kBatch; ++j)
        isWrong |= before < kWrong && numbers[j] == before;
    }
    return isWrong;
  }

  // The first wrong place of a token that has one.
  COLL_DEVICE uint32_t wrongPlace(const int64_t *row) const {
    for (uint32_t place = 0; place < args_.numTopk; ++place) {
      const uint32_t number = numberOf(row[place]);
      bool isWrong = number == kWrong;
      for (uint32_t before = 0; before < place; ++before)
        isWrong |= number < kWrong && numberOf(row[before]) == number;
      if (isWrong)
        return place;
    }
    return 0;
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

  // The number among the experts of these ranks; kDropped for -1, or an expert of other ranks.
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
