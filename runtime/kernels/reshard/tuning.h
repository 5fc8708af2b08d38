// tuning.h - sizes of the kernel that copies boxes, with their reasons.

#ifndef COLL_RUNTIME_KERNELS_RESHARD_TUNING_H
#define COLL_RUNTIME_KERNELS_RESHARD_TUNING_H

#include <cstdint>

namespace coll::kernels {

// Two blocks of this size fit on a multiprocessor, so one stores while the other's loads are in
// flight. Four words in flight for each thread are 64 KiB per multiprocessor, several times what a
// link needs.
inline constexpr int kReshardThreads = 512;
inline constexpr int kReshardBlocksPerProcessor = 2;
inline constexpr uint32_t kReshardBatch = 4;
// Words narrower than 16 bytes: more words are in flight, for the same number of bytes.
inline constexpr uint32_t kReshardNarrowBatch = 8;

// Words that a block takes at once: one batch of all its threads. Small enough that all blocks are
// in the same phase of the permutation.
inline constexpr uint32_t kReshardUnit = kReshardThreads * kReshardBatch;
inline constexpr uint32_t kReshardNarrowUnit = kReshardThreads * kReshardNarrowBatch;

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_RESHARD_TUNING_H
