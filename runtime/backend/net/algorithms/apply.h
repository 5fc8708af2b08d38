// apply.h - what a member does once it has everyone's contribution in memory.

#ifndef COLL_RUNTIME_BACKEND_NET_ALGORITHMS_APPLY_H
#define COLL_RUNTIME_BACKEND_NET_ALGORITHMS_APPLY_H

#include "runtime/backend/backend.h"

#include <vector>

namespace coll::rt::network {

// Bytes of the source that the member at `position` contributes to a collective.
int64_t contribution(const Call &call, int64_t n, int position);

// Writes member `me`'s destination. sources[i] is what position i contributes, dense as
// in its source. Only for n = 1 may a source be the destination.
void applyCall(const Call &call, int me, const std::vector<const char *> &sources);

// Bytes of a member's destination, of a receive too.
int64_t destinationBytes(const Call &call, int64_t n);

// What a member's destination gets where the collective does not reach it: reduce and
// gather off the root, permute off the targets.
enum class Unreached : uint8_t { None, Copy, Zeros };
Unreached unreached(const Call &call, int me);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_ALGORITHMS_APPLY_H
