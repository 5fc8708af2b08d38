// apply.h - computes a member's result once all contributions are in memory.

#ifndef COLL_RUNTIME_BACKEND_NET_ALGORITHMS_APPLY_H
#define COLL_RUNTIME_BACKEND_NET_ALGORITHMS_APPLY_H

#include "runtime/backend/backend.h"

#include <vector>

namespace coll::rt::network {

// Bytes of the source that the member at `position` contributes to a collective.
int64_t contribution(const Call &call, int64_t n, int position);

// Writes member `me`'s destination. sources[i] is the contribution of position i, dense as in its
// source. A source may be the destination only for n = 1.
void applyCall(const Call &call, int me, const std::vector<const char *> &sources);

// Bytes of a member's destination, also of a receive.
int64_t destinationBytes(const Call &call, int64_t n);

// The content of a destination that the collective does not write: of reduce and gather on ranks
// other than the root, of permute on ranks that are not a target.
enum class Unreached : uint8_t { None, Copy, Zeros };
Unreached unreached(const Call &call, int me);

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_ALGORITHMS_APPLY_H
