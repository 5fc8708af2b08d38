// fnv.h - FNV-1a (Fowler, Noll, Vo), 64 bits: against chance, not against malice.

#ifndef COLL_RUNTIME_BASE_FNV_H
#define COLL_RUNTIME_BASE_FNV_H

#include <cstdint>

namespace coll::rt {

inline constexpr uint64_t kFnvStart = 0xcbf29ce484222325u;

// A byte, as the inventors have it, or a whole number at a time. Multiplying carries upwards only:
// who uses the low bits of whole numbers' hash folds the upper ones in.
constexpr uint64_t fnvMixed(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x100000001b3u;
}

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_FNV_H
