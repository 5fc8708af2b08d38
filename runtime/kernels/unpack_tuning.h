// unpack_tuning.h - the numbers behind unpack and pack, and why.
//
// One warp keeps a ring of stages in shared memory. Small's and Large's rings take the
// same room, so that a warp chooses for each call. With 16 warps: 216 KiB of an SM's
// 227 KiB. Measured on an H200 (test/perf/unpack.jsonl).

#ifndef COLL_RUNTIME_KERNELS_UNPACK_TUNING_H
#define COLL_RUNTIME_KERNELS_UNPACK_TUNING_H

#include <cstdint>

namespace coll::kernels {

// Beyond its bytes a stage holds the 16-aligned cover of an unaligned piece, up to 15
// bytes that the last piece of a page may be longer, and 16 that are read, not used, by
// the last shifted vector. 128 keeps stages on lines of their own.
inline constexpr uint32_t kStagePaddingBytes = 128;

// Bytes of a piece, stages of a ring, and how many pieces a bulk store may lag behind; the
// loads run stages - lag ahead.
template <uint32_t bytes, uint32_t stages, uint32_t lag>
struct RingShape {
  static constexpr uint32_t kPieceBytes = bytes;
  static constexpr uint32_t kStages = stages;
  static constexpr uint32_t kLag = lag;
  static constexpr uint32_t kStageBytes = bytes + kStagePaddingBytes;
};

// Pages of 4 KiB: few large pieces, since each costs the warp some 200 instructions.
using LargePieces = RingShape<4096, 3, 1>;
// Pages up to 1 KiB would leave most of a large stage empty, and too little in flight.
using SmallPieces = RingShape<1024, 12, 6>;

inline constexpr uint32_t kMaxStages = 12;
inline constexpr uint32_t kRingBytes =
    SmallPieces::kStageBytes * SmallPieces::kStages > LargePieces::kStageBytes *LargePieces::kStages
        ? SmallPieces::kStageBytes *SmallPieces::kStages
        : LargePieces::kStageBytes *LargePieces::kStages;
static_assert(kRingBytes % 128 == 0 && SmallPieces::kStages <= kMaxStages &&
              LargePieces::kStages <= kMaxStages);

// A block: 16 warps fill an SM's shared memory, and one block is enough for an SM.
inline constexpr uint32_t kUnpackThreads = 512;

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_UNPACK_TUNING_H
