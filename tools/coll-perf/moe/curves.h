// curves.h - measurements of `coll-perf moe` as charts.

#ifndef COLL_TOOLS_COLL_PERF_MOE_CURVES_H
#define COLL_TOOLS_COLL_PERF_MOE_CURVES_H

#include "tools/coll-perf/plot.h"

#include <string>
#include <vector>

namespace coll::perf {

struct MoePoint {
  std::string curve;   // "dispatch bf16"
  int count = 0;       // multiprocessors, or tokens
  double us = 0;       // one call
  double received = 0; // GB/s; 0: there is no such figure
};

// Charts of times, and of GB/s if a point has them. `countOf`: what a point counts, such as
// "multiprocessors".
std::vector<Chart> moeCharts(const std::vector<MoePoint> &points, const std::string &countOf);

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_MOE_CURVES_H
