// simulation.h - writes traces of simulated runs, with faults in known places.
//
// Ranks compute, then all-reduce in a ring, repeatedly. Their clocks differ by seconds. Hosts
// either wait for each collective (like backend threads) or run ahead of their GPUs (like NCCL).

#ifndef COLL_TEST_TRACE_SIMULATION_H
#define COLL_TEST_TRACE_SIMULATION_H

#include "tools/coll-trace/diagnose.h"

#include <optional>
#include <string>
#include <vector>

namespace coll::trace::test {

struct Injected {
  Fault fault = Fault::Compute;
  int rank = 0;
  uint64_t seq = 0;            // the first collective that it touches
  double size = 1;             // of the usual compute time
  double share = 1;            // of the collectives from then on
  bool isInCollective = false; // Gpu: slow within it, else late before it
};

struct Simulation {
  int ranks = 8;
  uint64_t collectives = 40;
  bool runsAhead = false; // hosts, of their GPUs
  bool hasProxies = true;
  // Like stock NCCL: every third collective is a Broadcast, and functions are numbered separately.
  bool countsByFunction = false;
  double noise = 0.03; // of every time, as a share of it
  uint64_t seed = 1;
  std::optional<Injected> fault;
};

// Writes one trace per rank into `folder`; returns their paths.
std::vector<std::string> simulate(const Simulation &simulation, const std::string &folder);

} // namespace coll::trace::test

#endif // COLL_TEST_TRACE_SIMULATION_H
