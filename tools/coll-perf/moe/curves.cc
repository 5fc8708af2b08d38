#include "tools/coll-perf/moe/curves.h"

namespace coll::perf {

std::vector<Chart> moeCharts(const std::vector<MoePoint> &points, const std::string &countOf) {
  Chart time{"time of the slowest rank", "us", {}, countOf};
  Chart speed{"rows that a rank receives", "GB/s", {}, countOf};
  for (const MoePoint &point : points) {
    if (point.count < 1 || point.us <= 0)
      continue; // the logarithmic scales cannot show it
    curveOf(time, point.curve).points.emplace_back(point.count, point.us);
    if (point.received > 0)
      curveOf(speed, point.curve).points.emplace_back(point.count, point.received);
  }
  return {time, speed};
}

} // namespace coll::perf
