//===- series.h - long series, condensed --------------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_SERIES_H
#define COLL_DRIVER_REPORT_SERIES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace coll::run {

/// Consecutive steps of one output. The numbers are those of the finite values; with none
/// (`numFinite` 0) they mean nothing.
struct SeriesPoint {
  int64_t first = 0, last = 0; // steps, from 1
  double min = 0, max = 0, mean = 0;
  int64_t numFinite = 0;

  int64_t numSteps() const { return last - first + 1; }
};

/// At most `maxPoints` points over all values, of equal numbers of steps but for the last.
std::vector<SeriesPoint> downsample(const std::vector<double> &values, size_t maxPoints);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_SERIES_H
