// routes.h - which rank sends which region of a tensor to which rank.
//
//   senders    hold regions of a global tensor, together all that any receiver wants
//   receivers  want regions of it
//
// The ranks of the two sides may be the same or different ones, in any number. A plan names regions
// of the global tensor, neither buffers nor pointers: all ranks make the same plan from the same
// spec.
//
// Two strategies:
//   Routed  each sender sends its part of what a receiver wants directly to the receiver
//   Gather  each receiver takes the whole tensor, then slices it, as a framework that has only
//           all_gather does; the baseline
//
// If several senders hold an element, a receiver prefers its own rank, then the sender that has
// least to send. Routes are in the order of a permutation: in each phase a sender has one receiver
// and a receiver one sender, so no link has two writers.

#ifndef COLL_PLAN_ROUTES_H
#define COLL_PLAN_ROUTES_H

#include "plan/region.h"
#include "plan/result.h"

#include <cstdint>
#include <vector>

namespace coll::plan {

// The region that one rank of a side holds or wants.
struct Part {
  int rank = 0; // at least 0, once on a side
  Region region;
};

struct RouteSpec {
  std::vector<int64_t> shape; // global
  int64_t elemBytes = 1;
  std::vector<Part> senders, receivers;
};

enum class RouteStrategy { Routed, Gather };
const char *nameOf(RouteStrategy strategy); // "routed", "gather"

// The regions that one sender gives one receiver; both are positions in the spec.
struct Route {
  int sender = 0, receiver = 0;
  int phase = 0;
  bool isLocal = false; // both are the same rank
  int64_t bytes = 0;
  std::vector<Region> regions;
};

struct RoutePlan {
  RouteStrategy strategy = RouteStrategy::Routed;
  std::vector<Route> routes; // by phase, then sender
  // Bytes between different ranks: of the plan, and the least of any plan.
  int64_t wireBytes = 0, leastWireBytes = 0;
};

// An error names the side, the position, the rank and what is wrong with it. It is also an error if
// a receiver wants what no sender holds, or if all together take more bytes than INT64_MAX.
Result<RoutePlan> planRoutes(const RouteSpec &spec, RouteStrategy strategy = RouteStrategy::Routed);

} // namespace coll::plan

#endif // COLL_PLAN_ROUTES_H
