// route_certificate.h - the bytes that a plan moves between ranks beside the bytes that every plan
// has to move.
//
// A rank has to receive the part of its region that it does not hold itself: no plan brings fewer
// bytes into it, even if ranks forward data. If several ranks hold the bytes, the plan chooses the
// sender, so a single pair has no such bound.

#ifndef COLL_PLAN_ROUTE_CERTIFICATE_H
#define COLL_PLAN_ROUTE_CERTIFICATE_H

#include "plan/routes.h"

#include <string>

namespace coll::plan {

// The bytes that one rank receives, and their senders.
struct RouteInflow {
  struct Link {
    int from = 0; // rank
    int64_t bytes = 0;
  };
  int rank = 0;
  int64_t bytes = 0, leastBytes = 0;
  std::vector<Link> links; // other ranks; in the order of ranks, none of 0 bytes
};

struct RouteCertificate {
  RouteStrategy strategy = RouteStrategy::Routed;
  std::vector<RouteInflow> inflows; // by receiver

  // Whether each rank receives no more than it has to.
  bool isLeast() const;
  // The inflow with the most bytes; an empty one if there are no receivers.
  RouteInflow busiest() const;
  // A line for each link and each receiver, and whether the plan meets the bound.
  std::string describe() const;
};

// `plan` is one of `spec`. Sums up its routes, and counts the bounds from the spec alone.
RouteCertificate certify(const RouteSpec &spec, const RoutePlan &plan);

} // namespace coll::plan

#endif // COLL_PLAN_ROUTE_CERTIFICATE_H
