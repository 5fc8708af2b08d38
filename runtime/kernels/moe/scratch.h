// scratch.h - shared memory of the kernels of moe.h. Internal to runtime/kernels.

#ifndef COLL_RUNTIME_KERNELS_MOE_SCRATCH_H
#define COLL_RUNTIME_KERNELS_MOE_SCRATCH_H

#include "runtime/kernels/moe/tuning.h"
#include "runtime/kernels/peer/state.h"

#include <cstdint>

namespace coll::kernels::moe {

inline constexpr uint32_t kWarp = 32;
inline constexpr uint32_t kMaxWarps = 32; // of a block

struct LayoutScratch {
  uint32_t counts[kMaxWarps][kMoeExpertsPerBlock];
};

// Ring counts of a block: peer::RingScratch.
struct alignas(128) RingsPlace {
  uint32_t words[2 * kRingLanes * kMaxPeers];
};

struct NotifyScratch {
  RingsPlace rings;
  uint32_t counts[kMaxPeers][kMaxPeers]; // [source][target]
  uint32_t sums[kMaxWarps];
};

// Dispatch and combine: the block's RingsPlace, then one of these for each warp, then the warps'
// stages.
inline constexpr uint32_t kMaxStages = 8;
struct alignas(128) WarpScratch {
  uint32_t rows[kWarp][kMaxPeers]; // of a token at a member, or kNoRow
  uint64_t full[kMaxStages];       // barriers of the stages
};
inline constexpr uint32_t kNoRow = ~0u;
static_assert(kMoeSendStages <= kMaxStages && kMoeFetchStages <= kMaxStages);
static_assert(kMoeSendAhead < kMoeSendStages && kMoeFetchAhead < kMoeFetchStages);

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_SCRATCH_H
