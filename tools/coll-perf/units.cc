#include "tools/coll-perf/units.h"

#include "runtime/base/machine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <unistd.h>

namespace coll::perf {

using rt::Result;
using rt::Status;

namespace {

constexpr uint64_t kMaxBytes = uint64_t(1) << 40;

Status badSize(const std::string &text) {
  return Status::invalid("\"" + text + "\" is not a size: write 8, 64K, 1M or 2G");
}

// Reads the list of the driver's kernel module, because the CUDA driver must not be started before
// a fork.
std::map<std::string, int> gpuNames() {
  std::map<std::string, int> names;
  std::error_code error;
  for (const auto &gpu : std::filesystem::directory_iterator("/proc/driver/nvidia/gpus", error)) {
    std::ifstream info(gpu.path() / "information");
    for (std::string line; std::getline(info, line);)
      if (line.rfind("Model:", 0) == 0)
        ++names[line.substr(std::min(line.find_first_not_of(" \t", 6), line.size()))];
  }
  return names;
}

} // namespace

Status checkRange(const char *flag, double value, double low, double high) {
  if (value >= low && value <= high)
    return {};
  char text[160];
  std::snprintf(text, sizeof(text), "%s is %.10g; it has to be between %.10g and %.10g", flag,
                value, low, high);
  return Status::invalid(text);
}

Result<uint64_t> parseBytes(const std::string &text) {
  double value = 0;
  auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !(value >= 0))
    return badSize(text);
  std::string unit(end, text.data() + text.size() - end);
  for (const char *suffix : {"iB", "B"})
    if (unit.size() > 1 && unit.substr(1) == suffix)
      unit.resize(1);
  const std::string letters = "KMGT";
  if (!unit.empty() && unit != "B") {
    size_t power = letters.find(unit);
    if (unit.size() != 1 || power == std::string::npos)
      return badSize(text);
    value = std::ldexp(value, 10 * (static_cast<int>(power) + 1));
  }
  if (value > static_cast<double>(kMaxBytes) || value != std::floor(value))
    return badSize(text);
  return static_cast<uint64_t>(value);
}

Result<std::vector<uint64_t>> parseSizes(const std::string &text) {
  std::vector<uint64_t> sizes;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    std::string entry = text.substr(begin, end - begin);
    begin = end + 1;
    size_t dots = entry.find("..");
    Result<uint64_t> first = parseBytes(entry.substr(0, dots));
    if (!first.ok())
      return first.status();
    if (dots == std::string::npos) {
      sizes.push_back(*first);
      continue;
    }
    Result<uint64_t> last = parseBytes(entry.substr(dots + 2));
    if (!last.ok())
      return last.status();
    if (*first == 0 || *first > *last)
      return Status::invalid("\"" + entry + "\" is not a range of sizes: write 4K..1M");
    for (uint64_t size = *first; size <= *last; size *= 2)
      sizes.push_back(size);
  }
  return sizes;
}

std::string formatBytes(uint64_t bytes) {
  const char *units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  while (unit < 4 && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + " " + units[unit];
}

std::string machineName() {
  std::string model = "unknown processor", line;
  std::ifstream info("/proc/cpuinfo");
  while (std::getline(info, line))
    if (line.rfind("model name", 0) == 0) {
      size_t colon = line.find(": ");
      if (colon != std::string::npos)
        model = line.substr(colon + 2);
      break;
    }
  std::string gpus;
  for (const auto &[name, count] : gpuNames())
    gpus += ", " + std::to_string(count) + " x " + name;
  const int cores = rt::numAllowedProcessors();
  long gib = sysconf(_SC_PHYS_PAGES) / 1024 * sysconf(_SC_PAGESIZE) / (1 << 20);
  return model + ", " + std::to_string(cores) + " cores, " + std::to_string(gib) + " GiB" + gpus;
}

double quantile(std::vector<double> values, double fraction) {
  if (values.empty())
    return 0;
  auto index = static_cast<size_t>(fraction * static_cast<double>(values.size() - 1) + 0.5);
  auto at = values.begin() + static_cast<ptrdiff_t>(index);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

} // namespace coll::perf
