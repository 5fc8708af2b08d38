// moe_layout_device.cuh - where tokens go, by counting; one GPU alone.
//
// Block 0: each thread takes every n-th token, finds the set of ranks among its experts, writes
// the token's row of isTokenInRank and counts ranks in registers. Blocks 1, 2, …: the same for
// kMoeExpertsPerBlock experts each. Then the block sums up its threads' counts.

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
      return;
    }
    const uint32_t first = (simt::blockIndex() - 1) * kMoeExpertsPerBlock;
    const uint32_t left = args_.numExperts - first;
    countExperts(first, counts);
    sumUp(counts, left < kMoeExpertsPerBlock ? left : kMoeExpertsPerBlock,
          args_.tokensPerExpert + first);
  }

private:
  COLL_DEVICE void countRanks(uint32_t *counts) const {
    const uint32_t perRank = args_.numExperts / args_.numRanks;
    for (uint32_t t = simt::threadIndex(); t < args_.numTokens; t += simt::blockThreads()) {
      const int64_t *row = args_.topkIdx + uint64_t{t} * args_.numTopk;
      uint32_t ranks = 0;
      bool isWrong = false;
      for (uint32_t k = 0; k < args_.numTopk; ++k) {
        const int64_t expert = row[k];
        if (isExpert(expert))
          ranks |= 1u << static_cast<uint32_t>(expert) / perRank;
        isWrong |= expert != -1 && (!isExpert(expert) || isIn(row, k, expert));
      }
      if (isWrong)
        simt::storeRelaxed(args_.error, errorWord(KernelError::MoeIndex, t));
      COLL_UNROLL(8)
      for (uint32_t r = 0; r < kMaxPeers; ++r)
        if (r < args_.numRanks) {
          args_.isTokenInRank[uint64_t{t} * args_.numRanks + r] =
              static_cast<uint8_t>(ranks >> r & 1u);
          counts[r] += ranks >> r & 1u;
        }
    }
  }

  COLL_DEVICE void countExperts(uint32_t first, uint32_t *counts) const {
    const uint64_t all = uint64_t{args_.numTokens} * args_.numTopk;
    COLL_UNROLL(8)
    for (uint64_t i = simt::threadIndex(); i < all; i += simt::blockThreads()) {
      const int64_t expert = args_.topkIdx[i];
      const int64_t number = isExpert(expert) ? expert - first : -1;
      COLL_UNROLL(8)
      for (uint32_t e = 0; e < kMoeExpertsPerBlock; ++e)
        counts[e] += number == e;
    }
  }

  COLL_DEVICE void sumUp(const uint32_t *counts, uint32_t count, int32_t *to) const {
    const uint32_t warp = simt::threadIndex() / simt::kWarpThreads;
    COLL_UNROLL(8)
    for (uint32_t i = 0; i < kCounts; ++i) {
      const uint32_t sum = simt::sum(counts[i]);
      if (simt::lane() == 0)
        shared_.counts[warp][i] = sum;
    }
    simt::syncBlock();
    if (simt::threadIndex() >= count)
      return;
    uint32_t sum = 0;
    for (uint32_t w = 0; w < simt::blockThreads() / simt::kWarpThreads; ++w)
      sum += shared_.counts[w][simt::threadIndex()];
    to[simt::threadIndex()] = static_cast<int32_t>(sum);
  }

  COLL_DEVICE bool isExpert(int64_t index) const {
    return index >= 0 && index < static_cast<int64_t>(args_.numExperts);
  }
  COLL_DEVICE static bool isIn(const int64_t *row, uint32_t count, int64_t expert) {
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
