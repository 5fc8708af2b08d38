// reshard_certificate.h - what a plan of moves claims, for others to check: its steps, the bytes
// over each group of axes, and the bytes that every plan sends.
//
// checkCertificate() recomputes all of it from the positions of every rank's block before and after
// each step. It shares no code with the planner, so a fault in one of them is found by the other.

#ifndef COLL_PLAN_RESHARD_CERTIFICATE_H
#define COLL_PLAN_RESHARD_CERTIFICATE_H

#include "plan/reshard.h"

#include <string>
#include <vector>

namespace coll::plan {

struct ReshardCertificate {
  // Bytes that all ranks send to the others of their group over these axes.
  struct Link {
    std::vector<int> axes;
    int64_t bytes = 0;
  };

  Mesh mesh;
  Reshard reshard;
  std::vector<Move> steps;
  std::vector<Link> links; // in the order in which the steps first use them
  // As MovePlan has them.
  int64_t wireBytes = 0, paddingBytes = 0, leastBytes = 0;
  std::string reason;

  // A line for each step and each link, then the sum beside the bound.
  std::string describe() const;
};

// `plan` is one of `reshard`.
ReshardCertificate certify(const Mesh &mesh, const Reshard &reshard, const MovePlan &plan);

// Says what is wrong with a certificate, with the number of the step; empty if nothing is. Takes
// time in proportion to ranks, steps and dimensions.
std::string checkCertificate(const ReshardCertificate &certificate);

} // namespace coll::plan

#endif // COLL_PLAN_RESHARD_CERTIFICATE_H
