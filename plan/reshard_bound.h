// reshard_bound.h - the bytes that every way from one layout to another has to send.
//
// A rank has to receive the elements that it wants and does not hold. If c contributions to an
// element are combined for T ranks, one of these ranks is the first to have the result: after at
// least c - 1 messages if it holds a contribution itself, else c. Each of the others receives at
// least one message after that: c + T - 2 or, if none of the T holds a contribution, c + T - 1.

#ifndef COLL_PLAN_RESHARD_BOUND_H
#define COLL_PLAN_RESHARD_BOUND_H

#include "plan/reshard.h"

namespace coll::plan {

// Bytes of all ranks together, without padding.
int64_t leastWireBytes(const Mesh &mesh, const Reshard &reshard);

// The part of the bytes that the moves send which is padding: blocks beyond the end of the tensor.
int64_t paddingBytes(const Mesh &mesh, const Reshard &reshard, const std::vector<Move> &moves);

} // namespace coll::plan

#endif // COLL_PLAN_RESHARD_BOUND_H
