// tuning.h - sizes of the kernels of the token exchange, with their reasons. They are estimates;
// the README links the measurements.

#ifndef COLL_RUNTIME_KERNELS_MOE_TUNING_H
#define COLL_RUNTIME_KERNELS_MOE_TUNING_H

#include <cstdint>

namespace coll::kernels {

// Layout: a block for each rank and one for each kMoeExpertsPerBlock experts, all of which read all
// indices. Counting in registers needs no atomics, and is as fast if all tokens go to one expert.
inline constexpr uint32_t kMoeExpertsPerBlock = 8;
inline constexpr uint32_t kMoeCountThreads = 1024;

// Notify: a block for the counts, one for each rank's column.
inline constexpr uint32_t kMoeNotifyThreads = 1024;

// Dispatch and combine: enough to fill a multiprocessor's shared memory. A link takes 365 GB/s and
// answers after about 2 us, so 24 blocks need 30 KB in flight each.
inline constexpr uint32_t kMoeBlocks = 24;
inline constexpr uint32_t kMoeThreads = 256;

// Dispatch: rows are moved in pieces of up to this many bytes through the stages of a warp; some
// stages are being loaded, the others stored.
inline constexpr uint32_t kMoePieceBytes = 4096;
inline constexpr uint32_t kMoeSendStages = 6;
inline constexpr uint32_t kMoeSendAhead = 3;

// Combine: a stage holds the same piece of a token's rows from all members.
inline constexpr uint32_t kMoeStageBytes = 8192;
inline constexpr uint32_t kMoeFetchStages = 3;
inline constexpr uint32_t kMoeFetchAhead = 2;

// The low-latency mode: a block for each of 128 tokens. All blocks run at once on any GPU that has
// the instructions, two per multiprocessor if necessary.
inline constexpr uint32_t kLowLatencyBlocks = 128;
inline constexpr uint32_t kLowLatencyMaxBlocks = 228;
inline constexpr uint32_t kLowLatencyThreads = 512;

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_MOE_TUNING_H
