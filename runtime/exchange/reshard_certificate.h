// reshard_certificate.h - what a plan moves between ranks beside what every plan has to, for all to
// compare.
//
// A rank that wants a region has to receive what it does not hold itself, from whomever: no plan
// brings fewer bytes into it, also where ranks pass on what they have. From whom they come is the
// plan's choice wherever several ranks hold them, so a single pair has no such bound.

#ifndef COLL_RUNTIME_EXCHANGE_RESHARD_CERTIFICATE_H
#define COLL_RUNTIME_EXCHANGE_RESHARD_CERTIFICATE_H

#include "runtime/exchange/reshard_plan.h"

#include <string>

namespace coll::rt::exchange {

// The way into a rank; and from whom it is used.
struct ReshardInflow {
  struct Link {
    int from = 0; // rank
    int64_t bytes = 0;
  };
  int rank = 0;
  int64_t bytes = 0, leastBytes = 0;
  std::vector<Link> links; // other ranks; in the order of ranks, none of 0 bytes
};

struct ReshardCertificate {
  ReshardStrategy strategy = ReshardStrategy::Routed;
  std::vector<ReshardInflow> inflows; // by receiver

  // Whether each way carries no more than it has to.
  bool isLeast() const;
  // The way that carries most; of no receivers an empty one.
  ReshardInflow busiest() const;
  // A line for each link and each way, and what that comes to.
  std::string describe() const;
};

// `plan` is one of `spec`. Sums up its transfers, and counts the bounds from the spec alone.
ReshardCertificate certify(const ReshardSpec &spec, const ReshardPlan &plan);

} // namespace coll::rt::exchange

#endif // COLL_RUNTIME_EXCHANGE_RESHARD_CERTIFICATE_H
