//===- series.cc - long series, condensed ---------------------------------------===//

#include "driver/report/series.h"

#include <algorithm>
#include <cmath>

namespace coll::run {

std::vector<SeriesPoint> downsample(const std::vector<double> &values, size_t maxPoints) {
  std::vector<SeriesPoint> points;
  size_t stride = std::max<size_t>(1, (values.size() + maxPoints - 1) / maxPoints);
  for (size_t begin = 0; begin < values.size(); begin += stride) {
    size_t end = std::min(begin + stride, values.size());
    SeriesPoint &point = points.emplace_back();
    point.first = static_cast<int64_t>(begin) + 1;
    point.last = static_cast<int64_t>(end);
    double scaledSum = 0; // so that two large values do not overflow
    for (size_t i = begin; i < end; ++i) {
      double value = values[i];
      if (!std::isfinite(value))
        continue;
      point.min = point.numFinite ? std::min(point.min, value) : value;
      point.max = point.numFinite ? std::max(point.max, value) : value;
      scaledSum += value / static_cast<double>(stride);
      ++point.numFinite;
    }
    if (point.numFinite)
      point.mean = scaledSum * (static_cast<double>(stride) / double(point.numFinite));
    // Rounding may leave the range, as with a point of one value.
    point.mean = std::clamp(point.mean, point.min, point.max);
  }
  return points;
}

} // namespace coll::run
