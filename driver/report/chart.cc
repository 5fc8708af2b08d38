//===- chart.cc - axes and lines of charts --------------------------------------===//

#include "driver/report/chart.h"

#include "driver/report/format.h"

#include <algorithm>
#include <cmath>

namespace coll::run {

namespace json = llvm::json;

Scale::Scale(double low, double high, bool isLog) : low_(low), high_(high), isLog_(isLog) {
  if (isLog_) {
    low_ = std::log10(low);
    high_ = std::log10(high);
  }
  if (!(high_ > low_)) {
    double margin = low_ == 0 ? 1 : std::fabs(low_) * 0.1;
    low_ -= margin;
    high_ += margin;
  }
}

double Scale::at(double value) const {
  double inner = isLog_ ? std::log10(value) : value;
  // Scaled before the difference is formed: the ends may be near the largest double.
  double share = (inner / 2 - low_ / 2) / (high_ / 2 - low_ / 2);
  return 1000 * std::clamp(share, 0.0, 1.0);
}

std::vector<double> Scale::tickValues(int count) const {
  std::vector<double> values;
  if (isLog_) {
    int stride = std::max(1, static_cast<int>(std::ceil((high_ - low_) / count)));
    for (int power = static_cast<int>(std::ceil(low_)); power <= high_; power += stride)
      values.push_back(std::pow(10.0, power));
    if (values.size() > 1)
      return values;
    return {std::pow(10.0, low_), std::pow(10.0, (low_ + high_) / 2), std::pow(10.0, high_)};
  }
  double rough = (high_ / 2 - low_ / 2) / count * 2;
  double power = std::pow(10.0, std::floor(std::log10(rough)));
  double step = power * 10;
  for (double factor : {1.0, 2.0, 5.0})
    if (power * factor >= rough) {
      step = power * factor;
      break;
    }
  if (!std::isfinite(step) || step <= 0)
    return values;
  double first = std::ceil(low_ / step);
  for (int i = 0; i <= 2 * count && (first + i) * step <= high_ * (1 + 1e-12); ++i)
    values.push_back((first + i) * step);
  return values;
}

/// The shift of a label at `percent` of an axis to the left, in percent of its own width: half of
/// it, more towards the end, so that the last label stays on the page.
static double shiftOf(double percent) { return std::max(50.0, 50 + 5 * (percent - 90)); }

json::Array Scale::toTicks(const std::vector<double> &values, bool isFromTop,
                           const Format &format) const {
  json::Array ticks;
  for (double value : values) {
    double at = isFromTop ? fromTop(value) : this->at(value);
    ticks.push_back(json::Object{{"at", formatCoordinate(at / 10)},
                                 {"unit", formatCoordinate(at)},
                                 {"shift", formatCoordinate(shiftOf(at / 10))},
                                 {"text", format(value)}});
  }
  return ticks;
}

json::Array Scale::ticks(int count, bool isFromTop, const Format &format) const {
  return toTicks(tickValues(count), isFromTop, format);
}

json::Array Scale::stepTicks(int count) const {
  std::vector<double> values;
  for (double value : tickValues(count))
    if (value == std::floor(value))
      values.push_back(value);
  return toTicks(values, false, [](double v) { return formatCount(std::llround(v)); });
}

void PathData::add(char command, double x, double y) {
  text_ += command;
  text_ += formatCoordinate(x) + " " + formatCoordinate(y);
}

} // namespace coll::run
