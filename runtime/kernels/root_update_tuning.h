// root_update_tuning.h - sizes of the root update's kernel, and why.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H

#include "runtime/kernels/root_update.h"

#include <cstdint>

namespace coll::kernels {

// A block a multiprocessor, 128 registers a thread: units in flight count, not warps.
inline constexpr uint32_t kUpdateThreads = 512;

// 16-byte loads in flight per thread where aligned gradients or parameters are copied: a slot of
// 32 KiB has four for each thread.
inline constexpr uint32_t kPushVectors = 4;
inline constexpr uint32_t kForwardVectors = 4;
// Elements in flight per thread in an update on two members; on more, one unit's loads are
// enough. More would not fit into the registers.
inline constexpr uint32_t kPairElems = 8;

namespace root_update {

// What a kernel gets.
struct Arguments {
  PeerGroup group;
  RootUpdate update;   // with the numbers of blocks and threads that are launched
  uint32_t blockElems; // positions of a block in a chunk; a multiple of kUpdateGrain
  uint32_t chunks;     // of the longest list
  uint32_t call;       // what the members compare when they enter
};

// Cuts a call that was checked into blocks and chunks: the same on all members, if their GPUs
// have the same number of multiprocessors or the call names its blocks.
Arguments arrange(const PeerGroup &group, const RootUpdate &update, uint32_t processors,
                  int numSlots);

} // namespace root_update
} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H
