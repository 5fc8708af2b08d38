// measure.h - figures of one link for one size.

#ifndef COLL_TOOLS_COLL_PERF_NET_MEASURE_H
#define COLL_TOOLS_COLL_PERF_NET_MEASURE_H

#include "tools/coll-perf/net/link.h"

namespace coll::perf {

struct Figure {
  double value = 0; // GB/s per direction, or µs for one way (the median)
  double p99 = 0;   // µs; latency only
  double cores = 0; // busy cores of both processes
};

// Called on rank 0. Takes about plan.seconds. `count` is the number of messages to start with, and
// returns the number that was used.
Result<Figure> measure(Job &job, Link &link, const NetPlan &plan, Mode mode, uint64_t bytes,
                       uint64_t &count);
// Called on rank 1: does its part of one measure().
Status follow(Job &job, Link &link, Mode mode, uint64_t bytes);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_NET_MEASURE_H
