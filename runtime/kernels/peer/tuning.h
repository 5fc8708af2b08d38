// tuning.h - sizes of the kernels of a peer group, with their reasons.
//
// Measured on two H200s (the README links the measurements). The sizes of packets were estimates
// that the measurements confirmed.

#ifndef COLL_RUNTIME_KERNELS_PEER_TUNING_H
#define COLL_RUNTIME_KERNELS_PEER_TUNING_H

#include <cstdint>

namespace coll::kernels {

// Packets of all sources together, per parity. In two shots a message takes up to twice its bytes,
// so 8 MiB fit; for larger messages the rings are faster.
inline constexpr uint64_t kPacketArea = uint64_t{16} << 20;

// Slots of the rings from all sources, for one block and lane. A block pushes a slot to each peer
// between two fences, of some 2 us each: 64 KiB of four members take 140 us. With 32 KiB all_reduce
// took 12 % longer at 256 MiB on two members. Four slots, two of them filled ahead, took as long as
// two of the same size.
inline constexpr uint64_t kRingBytes = uint64_t{512} << 10;
inline constexpr uint32_t kSlots = 2;

// Threads of a block that moves packets, and of one that serves rings.
inline constexpr uint32_t kPeerMaxThreads = 256;
inline constexpr uint32_t kRingMaxThreads = 512;

// Multiprocessors of an H100 or H200.
inline constexpr uint32_t kMultiprocessors = 132;

// Every vector has its own thread as long as there are enough blocks.
struct PacketGrid {
  uint64_t vectors; // up to this many
  uint32_t threads; // of a block
};
inline constexpr PacketGrid kPacketGrids[] = {{4096, 64}, {16384, 128}};
inline constexpr uint32_t kPacketThreads = 256; // with more vectors
inline constexpr uint32_t kPacketBlocksPerProcessor = 2;

// Rings: teams have a block for each role. 512 threads fill a multiprocessor with loads in flight,
// in one block, or in two if there are two roles. Two blocks of a relay on a multiprocessor hide
// each other's fences; each has a ring per lane.
inline constexpr uint32_t kExchangeRoles = 2;
inline constexpr uint32_t kMaxTeams = 132; // if each has all lanes of its rings
inline constexpr uint32_t kRingThreads = 256;
inline constexpr uint64_t kRingMinVectors = 512; // per team, before another team is used
// The fixed cost of a round for a team, about 0.7 us of its share of a link; an estimate.
inline constexpr uint64_t kRoundCostVectors = 64;

// The largest message (for exchanges: of one pair of members) for which packets are used.
struct PacketLimits {
  uint64_t whole;  // every owner gets all of it
  uint64_t rooted; // the same if the root is the only owner
  uint64_t sliced; // owners get slices
  uint64_t exchange;
};
constexpr PacketLimits packetLimits(uint32_t size) {
  // With two members, complete messages and slices put the same bytes on the links.
  if (size == 2)
    return {uint64_t{2} << 20, uint64_t{2} << 20, 0, uint64_t{1} << 20};
  return {(uint64_t{512} << 10) / size, (uint64_t{2} << 20) / size, uint64_t{8} << 20,
          (uint64_t{2} << 20) / size};
}

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_TUNING_H
