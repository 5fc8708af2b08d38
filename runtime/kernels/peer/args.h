// args.h - a call's arguments on their way into a plan: checked, as sizes, as places in
// memory.
//
// Functions of the arguments alone, for plan.cc and grid.cc. Any thread.

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
  uint64_t all;   // of a side with a block per member
};

// kCollInvalidCall for a broken group or tuning, a root outside the group, a reduction that the
// type has not, sides of different sizes, and messages of 2^60 bytes or more. Of the buffers, only
// the src that all members of a reduction have is looked at.
rt::Result<PeerSizes> sizesOf(const PeerGroup &group, const ReduceArgs &args);
rt::Result<PeerSizes> sizesOf(const PeerGroup &group, const CopyArgs &args);
// kCollInvalidCall for a null pointer that is needed.
rt::Status checkBuffer(const char *name, const void *buffer, bool needed);

// The widest access, in bytes, that is aligned everywhere and, unless it is a whole vector, ends
// with the message. `bits`: of all addresses and distances, ored.
uint32_t widthOf(uint64_t bits, uint64_t bytes);

// Blocks of `bytes` each, `stride` apart; 0: one block.
PeerPlace contiguous(const void *base, uint64_t bytes, uint64_t stride = 0);
// [rows][size][rowBytes]: a block per member.
PeerPlace interleaved(const void *base, uint32_t size, uint64_t rows, uint64_t rowBytes);
// Whether both sides of a message, in blocks of so many bytes, are whole aligned vectors
// (SlicePlan::plain).
bool arePlain(const PeerPlace &a, const PeerPlace &b, uint64_t bytes);

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_PEER_ARGS_H
