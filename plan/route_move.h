// route_move.h - exchanges between two layouts in which every rank receives just what it lacks.
//
// The routes of routes.h, as rounds of one message: in a round all messages have one shape, no rank
// sends twice and none receives twice, so that a round is one permute of a slice. Where the source
// is partial, one of the ranks that want an element, preferably one that has a contribution to it,
// receives the other contributions and combines them; then it sends the result to the others that
// want it.
//
//   [x],[] -> [],[x]                each rank keeps one block, and receives one from each other
//   6 over 2 -> 6 over 4            rank 1 has 3 4 5 and wants 2 3: one element comes from rank 0
//   [x] partial [y] -> [y]          half of the contributions are sent to where they are wanted

#ifndef COLL_PLAN_ROUTE_MOVE_H
#define COLL_PLAN_ROUTE_MOVE_H

#include "plan/move.h"

#include <cstdint>
#include <vector>

namespace coll::plan {

// Larger groups are not routed.
inline constexpr int64_t kMostRoutedRanks = 32;

// The axes along which ranks trade elements, in the order of the mesh.
std::vector<int> routedAxes(const Mesh &mesh, const std::vector<int64_t> &shape, const Layout &from,
                            const Layout &to);

// Whether planRoute() has an answer: something has to be sent, the target is partial over no other
// axes than the source, and there are neither too many ranks nor more bytes than can be counted.
bool canBeRouted(const Mesh &mesh, const std::vector<int64_t> &shape, const Layout &from,
                 const Layout &to);

// Whether each rank holds contributions to all that it wants. Such a change stays a reduction, of
// which passes make calls for many tensors, ring updates and sums over micro-batches.
bool onlyReduces(const Mesh &mesh, const Layout &from, const Layout &to);

// The move from one canonical layout to another, if it can be routed.
Move planRoute(const Mesh &mesh, const std::vector<int64_t> &shape, int64_t elemBytes,
               const Layout &from, const Layout &to);

// What a route sends. `rounds` are those in which anything is sent.
MoveBytes bytesOfRoute(const Move &route, const Mesh &mesh, int64_t elemBytes);

} // namespace coll::plan

#endif // COLL_PLAN_ROUTE_MOVE_H
