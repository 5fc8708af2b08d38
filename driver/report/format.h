//===- format.h - numbers for people ------------------------------------*- C++ -*-===//

#ifndef COLL_DRIVER_REPORT_FORMAT_H
#define COLL_DRIVER_REPORT_FORMAT_H

#include <cstdint>
#include <string>
#include <vector>

namespace coll::run {

/// "512 B", "1.31 MB": three digits, powers of 1000.
std::string formatBytes(double bytes);
/// "850 ns", "12.3 µs", "1.2 s".
std::string formatTime(double ns);
/// "1,440"
std::string formatCount(int64_t count);
/// "12.3 steps/s", "8,840 steps/s".
std::string formatRate(double perSecond);
/// Three digits or more: "12.3", "0.5", "148".
std::string formatNumber(double value);
/// "37 %", "0.4 %"
std::string formatPercent(double share);
/// "0–3, 7" from ascending inclusive ranges.
std::string formatRanges(const std::vector<std::pair<int, int>> &ranges);
/// "1 rank", "4 ranks".
std::string formatPlural(int64_t count, const char *noun);
/// A coordinate of a picture.
std::string formatCoordinate(double value);

} // namespace coll::run

#endif // COLL_DRIVER_REPORT_FORMAT_H
