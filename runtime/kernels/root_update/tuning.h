// tuning.h - sizes of the root update's kernel, with their reasons.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H

#include "runtime/kernels/root_update/root_update.h"

#include <cstdint>
#include <cstring>

namespace coll::kernels {

// A block a multiprocessor, 128 registers a thread: units in flight matter, not warps. On 2 H200
// with Adam in f32, 16 Mi parameters took 200 us with 132 blocks, 222 with 96, 235 with 64; with
// 256 threads 205. A chunk has its own fence and flags, so it is a whole slot if there is enough to
// do: with slots of 64 KiB 197 us, with 32 KiB 201.
inline constexpr uint32_t kUpdateThreads = 512;

// For a group of one, which waits for no peer: enough threads to keep its memory busy, and the
// number of blocks that have to fit on a multiprocessor.
inline constexpr uint32_t kAloneThreads = 256;
inline constexpr uint32_t kAloneBlocks = 3;

// 16-byte loads in flight per thread when aligned gradients or parameters are copied: a slot of 32
// KiB has four for each thread.
inline constexpr uint32_t kPushVectors = 4;
inline constexpr uint32_t kForwardVectors = 4;
// Elements in flight per thread in an update on two members; on more, one unit's loads are
// enough. More would not fit into the registers.
inline constexpr uint32_t kPairElems = 8;

// Calls with at most this many bytes of gradients use packets; with more, links are busy for longer
// than fences take.
inline constexpr uint64_t kUpdatePacketBytes = uint64_t{8} << 20;

namespace root_update {

// The argument of the kernel.
struct Arguments {
  PeerGroup group;
  RootUpdate update;   // with the numbers of blocks and threads that are launched
  bool packets;        // false: rings
  uint32_t blockElems; // positions of a block in a chunk; a multiple of kUpdateGrain
  uint32_t chunks;     // of the longest list, 1 at least
  uint32_t call;       // a hash that the members compare when they enter
};

// Divides a checked call into blocks and chunks: the same on all members, if their GPUs
// have the same number of multiprocessors or the call sets its blocks. `optimizer`: see
// markOf().
Arguments arrange(const PeerGroup &group, const RootUpdate &update, uint32_t processors,
                  uint32_t optimizer);

// FNV-1a.
inline void mix(uint32_t &hash, uint64_t value) {
  for (int i = 0; i < 8; ++i)
    hash = (hash ^ static_cast<uint32_t>(value >> 8 * i & 0xFF)) * 16777619u;
}

// A hash of the optimizer's kind and constants, computed from its results in some steps. Its bytes
// cannot be hashed, because some of them may be padding.
template <typename Optimizer>
uint32_t markOf(const Optimizer &optimizer) {
  constexpr UpdateStep kStep = {0.125f, 1, 3};
  const typename Optimizer::Step step = optimizer.prepare(kStep);
  uint32_t hash = 2166136261u + static_cast<uint32_t>(Optimizer::kSlots);
  float slots[Optimizer::kSlots + 1] = {};
  float parameter = 0.75f;
  for (float gradient : {1e-7f, -0.3f, 2.0f, -90.0f}) {
    parameter = optimizer.apply(step, parameter, gradient, slots);
    slots[Optimizer::kSlots] = parameter;
    for (float value : slots) {
      uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      mix(hash, bits);
    }
  }
  return hash;
}

} // namespace root_update
} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_TUNING_H
