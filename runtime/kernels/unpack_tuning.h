// unpack_tuning.h - the numbers behind unpack and pack, and why.
//
// One warp keeps a ring of stages in shared memory, of many small or few large ones; both
// take about the same room, so a warp chooses for each call. With 16 warps: 222 KiB of an
// SM's 227. Measured on an H200 (test/perf/unpack.jsonl).

#ifndef COLL_RUNTIME_KERNELS_UNPACK_TUNING_H
#define COLL_RUNTIME_KERNELS_UNPACK_TUNING_H

#include <cstdint>

namespace coll::kernels {

// Beyond its bytes a stage holds the 16-aligned cover of an unaligned piece, up to 15
// bytes that the last piece of a page may be longer, and 16 that are read, not used, by
// the last shifted vector. 128 keeps stages on lines of their own.
inline constexpr uint32_t kStagePaddingBytes = 128;

struct RingShape {
  // Pages up to 1 KiB would leave most of a large stage empty, and too little in flight.
  // Large pieces, on the other hand, cost fewer instructions a byte.
  bool small;

  constexpr uint32_t pieceBytes() const { return small ? 1024 : 4096; }
  constexpr uint32_t stages() const { return small ? 12 : 3; }
  // Stores by bulk copies may lag so many pieces behind; loads run stages() - lag() ahead.
  constexpr uint32_t lag() const { return small ? 6 : 1; }
  constexpr uint32_t stageBytes() const { return pieceBytes() + kStagePaddingBytes; }
};

inline constexpr uint32_t kMaxStages = RingShape{true}.stages();
inline constexpr uint32_t kRingBytes = RingShape{true}.stages() * RingShape{true}.stageBytes();
static_assert(kRingBytes % 128 == 0 && RingShape{false}.stages() <= kMaxStages &&
              RingShape{false}.stages() * RingShape{false}.stageBytes() <= kRingBytes);

// A block: 16 warps fill an SM's shared memory, and one block is enough for an SM.
inline constexpr uint32_t kUnpackThreads = 512;

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_UNPACK_TUNING_H
