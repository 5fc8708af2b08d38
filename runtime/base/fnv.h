// fnv.h - FNV-1a (Fowler, Noll, Vo), 64 bits: detects accidents, not attacks.

#ifndef COLL_RUNTIME_BASE_FNV_H
#define COLL_RUNTIME_BASE_FNV_H

#include <cstdint>

namespace coll::rt {

inline constexpr uint64_t kFnvStart = 0xcbf29ce484222325u;

// Mixes in a byte, as FNV defines it, or a whole number at a time. Multiplication carries upwards
// only: fold the upper bits in before you use the low bits of a hash of whole numbers.
constexpr uint64_t fnvMixed(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x100000001b3u;
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_FNV_H
