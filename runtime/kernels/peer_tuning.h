// peer_tuning.h - sizes of the kernels of a peer group, and why.

#ifndef COLL_RUNTIME_KERNELS_PEER_TUNING_H
#define COLL_RUNTIME_KERNELS_PEER_TUNING_H

#include <cstdint>

namespace coll::kernels {

// Packets of all sources together, per parity. In two shots a message takes up to twice its
// bytes, so 8 MiB fit; beyond, the rings are faster.
inline constexpr uint64_t kPacketArea = uint64_t{16} << 20;

// A block pushes a slot to each peer between two fences: long enough that these do not
// matter (one costs about 2 us, a slot at a block's share of the links 12 us), short enough that
// 16 MiB on 4 GPUs makes several rounds.
inline constexpr uint64_t kSlotBytes = uint64_t{32} << 10;
inline constexpr uint32_t kSlots = 2;

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_TUNING_H
