//===- format.cc - numbers for people -------------------------------------------===//

#include "driver/report/format.h"

#include <cmath>
#include <cstdio>

namespace coll::run {
namespace {

/// Three significant digits without an exponent: 1.23, 12.3, 123.
std::string threeDigits(double value) {
  double size = std::fabs(value);
  int digits = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  char text[48];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  std::string number = text;
  if (digits > 0) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.')
      number.pop_back();
  }
  return number;
}

template <size_t N>
std::string scaled(double value, const char *const (&units)[N]) {
  size_t unit = 0;
  for (; value >= 999.5 && unit + 1 < N; ++unit)
    value /= 1000;
  return (unit == 0 ? std::to_string(std::llround(value)) : threeDigits(value)) + " " + units[unit];
}

} // namespace

std::string formatBytes(double bytes) {
  static constexpr const char *kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  return scaled(bytes, kUnits);
}

std::string formatTime(double ns) {
  if (ns == 0)
    return "0";
  static constexpr const char *kUnits[] = {"ns", "µs", "ms", "s"};
  return scaled(ns, kUnits);
}

std::string formatCount(int64_t count) {
  std::string digits = std::to_string(count);
  size_t sign = count < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > sign + 3; i -= 3)
    digits.insert(i - 3, ",");
  return digits;
}

std::string formatRate(double perSecond) {
  return (perSecond < 1000 ? threeDigits(perSecond) : formatCount(std::llround(perSecond))) +
         " steps/s";
}

std::string formatNumber(double value) {
  double size = std::fabs(value);
  if (size != 0 && (size < 1 || size >= 1e5)) {
    char text[48];
    std::snprintf(text, sizeof(text), "%.3g", value);
    return text;
  }
  return threeDigits(value);
}

std::string formatPercent(double share) {
  double percent = 100 * share;
  char text[48];
  std::snprintf(text, sizeof(text), "%.*f %%", percent < 9.95 ? 1 : 0, percent);
  return text;
}

std::string formatRanges(const std::vector<std::pair<int, int>> &ranges) {
  std::string text;
  for (auto [first, last] : ranges) {
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first)
      text += (last == first + 1 ? ", " : "–") + std::to_string(last);
  }
  return text;
}

std::string formatPlural(int64_t count, const char *noun) {
  return formatCount(count) + " " + noun + (count == 1 ? "" : "s");
}

std::string formatCoordinate(double value) {
  char text[48];
  std::snprintf(text, sizeof(text), "%.2f", value);
  std::string number = text;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.')
    number.pop_back();
  return number == "-0" ? "0" : number;
}

} // namespace coll::run
