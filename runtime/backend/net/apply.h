// apply.h - what a member does once it has everyone's contribution in memory.

#ifndef COLL_RUNTIME_BACKEND_NET_APPLY_H
#define COLL_RUNTIME_BACKEND_NET_APPLY_H

#include "runtime/backend.h"

#include <vector>

namespace coll::rt::network {

// Bytes of the source that the member at `position` contributes to a collective.
int64_t contribution(const Call &call, int64_t n, int position);

// Writes member `me`'s destination. sources[i] is what position i contributes, dense as
// in its source. Only for n = 1 may a source be the destination.
void applyCall(const Call &call, int me, const std::vector<const char *> &sources);

// Blocks of [outer][n][count] elements one after the other, and back; sizes in bytes.
void packBlocks(const char *src, char *packed, int64_t outer, int64_t n, int64_t count);
void unpackBlocks(const char *packed, char *dst, int64_t outer, int64_t n, int64_t count);

// Zeros or copies where a member has a destination that the collective does not reach:
// reduce and gather off the root, permute off the targets.
void fillUnreached(const Call &call, int64_t n, int me);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_APPLY_H
