// root_update_tuning.h - sizes of the root update's kernel, and why.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H

#include "runtime/kernels/root_update.h"

#include <cstdint>

namespace coll::kernels {

// A block a multiprocessor, 128 registers a thread: units in flight count, not warps. On 2 H200
// with Adam in f32, 16 Mi parameters took 200 us with 132 blocks, 222 with 96, 235 with 64; with
// 256 threads 205. A chunk has a fence and flags of its own, so it is a whole slot where there is
// enough to do: with slots of 64 KiB 197 us, with 32 KiB 201.
inline constexpr uint32_t kUpdateThreads = 512;

// 16-byte loads in flight per thread where aligned gradients or parameters are copied: a slot of
// 32 KiB has four for each thread.
inline constexpr uint32_t kPushVectors = 4;
inline constexpr uint32_t kForwardVectors = 4;
// Elements in flight per thread in an update on two members; on more, one unit's loads are
// enough. More would not fit into the registers.
inline constexpr uint32_t kPairElems = 8;

// Calls whose gradients have so many bytes, or fewer, go in packets; beyond, links are busy for
// longer than fences take.
inline constexpr uint64_t kUpdatePacketBytes = uint64_t{8} << 20;

namespace root_update {

// What a kernel gets.
struct Arguments {
  PeerGroup group;
  RootUpdate update;   // with the numbers of blocks and threads that are launched
  bool packets;        // else by rings
  uint32_t blockElems; // positions of a block in a chunk; a multiple of kUpdateGrain
  uint32_t chunks;     // of the longest list, 1 at least
  uint32_t call;       // what the members compare when they enter
};

// Cuts a call that was checked into blocks and chunks: the same on all members, if their GPUs
// have the same number of multiprocessors or the call names its blocks.
Arguments arrange(const PeerGroup &group, const RootUpdate &update, uint32_t processors,
                  int numSlots);

} // namespace root_update
} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H
