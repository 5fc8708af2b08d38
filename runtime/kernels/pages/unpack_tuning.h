// unpack_tuning.h - the sizes of unpack and pack, with their reasons.
//
// One warp keeps a ring of stages in shared memory, few large or many small ones; both need about
// the same room. With 16 warps: 220 KiB of an SM's 227. Measured on an H200
// (test/perf/unpack.jsonl).

#ifndef COLL_RUNTIME_KERNELS_PAGES_UNPACK_TUNING_H
#define COLL_RUNTIME_KERNELS_PAGES_UNPACK_TUNING_H

#include <cstdint>

namespace coll::kernels {

// Besides its bytes a stage has room for the 16-aligned cover of an unaligned piece, up to 15 bytes
// by which the last piece of a page may be longer, and 16 bytes that the last shifted vector reads
// but does not use. 128 keeps stages on separate lines.
inline constexpr uint32_t kStagePaddingBytes = 128;

// Large pages: a piece costs a warp some 300 instructions, so it is large. Two of three stages are
// being loaded, while the store of the third may lag.
inline constexpr uint32_t kLargePieceBytes = 4096;
inline constexpr uint32_t kLargeStages = 3;
inline constexpr uint32_t kLargeLag = 1;
inline constexpr uint32_t kLargeStageBytes = kLargePieceBytes + kStagePaddingBytes;

// Small pages, in groups: two groups are being loaded, while the stores of the third lag.
inline constexpr uint32_t kSmallPieceBytes = 1024;
inline constexpr uint32_t kGroupPieces = 4;
inline constexpr uint32_t kGroups = 3;
inline constexpr uint32_t kSmallStageBytes = kSmallPieceBytes + kStagePaddingBytes;

inline constexpr uint32_t kMaxStages = kGroups * kGroupPieces;
inline constexpr uint32_t kMaxLoads = kGroups > kLargeStages ? kGroups : kLargeStages;
inline constexpr uint32_t kRingBytes = kMaxStages * kSmallStageBytes;
static_assert(kRingBytes % 128 == 0 && kLargeStages <= kMaxStages &&
              kLargeStages * kLargeStageBytes <= kRingBytes);

// A block: 16 warps fill an SM's shared memory, and one block is enough for an SM.
inline constexpr uint32_t kUnpackThreads = 512;

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PAGES_UNPACK_TUNING_H
