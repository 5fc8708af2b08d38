// route_layout.h - the words of a token route: dispatch writes them, combine reads them, on the
// host (step/tokens/route.h) and on GPUs (kernels/tokens).
//
// int32 words: a header, the source position of each received row, then the target positions of
// each token, ascending. Unused words are -1. Positions are those in the group.

#ifndef COLL_RUNTIME_BASE_ROUTE_LAYOUT_H
#define COLL_RUNTIME_BASE_ROUTE_LAYOUT_H

#include <cstdint>

namespace coll::rt {

// Words of the header; collRouteBytes has room for them.
enum RouteWord {
  kRouteMagicWord,
  kRouteGroupSize,
  kRoutePosition,
  kRouteSerial,
  kRouteTokens,
  kRouteTopk,
  kRouteCapacity,
  kRouteUnused
};
inline constexpr int kRouteHeaderWords = 8;
inline constexpr int32_t kRouteMagic = 0x6d6f6531;

} // namespace coll::rt

#endif // COLL_RUNTIME_BASE_ROUTE_LAYOUT_H
