// args.h - checks a call's arguments, and converts them to sizes and places in memory for a plan.
//
// The functions depend on their arguments alone; plan.cc and grid.cc use them. Any thread may call
// them.

#ifndef COLL_RUNTIME_KERNELS_PEER_ARGS_H
#define COLL_RUNTIME_KERNELS_PEER_ARGS_H

#include "runtime/kernels/peer/plan.h"

#include <cstdint>

namespace coll::kernels {

inline constexpr uint64_t kVectorBytes = 16;

constexpr uint64_t ceilDiv(uint64_t a, uint64_t b) { return (a + b - 1) / b; }
constexpr uint64_t vectorCount(uint64_t bytes) { return ceilDiv(bytes, kVectorBytes); }

struct PeerSizes {
  uint64_t block; // bytes of one member
  uint64_t all;   // of a side that has a block per member
};

// kCollInvalidCall for an invalid group or tuning, a root outside the group, a reduction that the
// type does not support, sides of different sizes, and messages of 2^60 bytes or more. It checks no
// buffer except the src that all members of a reduction have.
rt::Result<PeerSizes> sizesOf(const PeerGroup &group, const ReduceArgs &args);
rt::Result<PeerSizes> sizesOf(const PeerGroup &group, const CopyArgs &args);
// kCollInvalidCall for a null pointer that is needed.
rt::Status checkBuffer(const char *name, const void *buffer, bool needed);

// The widest access, in bytes, that is aligned everywhere and, unless it is a complete vector, ends
// with the message. `bits`: all addresses and distances, ored.
uint32_t widthOf(uint64_t bits, uint64_t bytes);

// Blocks of `bytes` each, `stride` apart; 0: one block.
PeerPlace contiguous(const void *base, uint64_t bytes, uint64_t stride = 0);
// [rows][size][rowBytes]: a block per member.
PeerPlace interleaved(const void *base, uint32_t size, uint64_t rows, uint64_t rowBytes);
// Whether both sides of a message, in blocks of this size, are complete aligned vectors
// (SlicePlan::plain).
bool arePlain(const PeerPlace &a, const PeerPlace &b, uint64_t bytes);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_ARGS_H
