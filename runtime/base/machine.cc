#include "runtime/base/machine.h"

#include "runtime/base/env.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <unistd.h>

namespace coll::rt {

//===-- processors --------------------------------------------------------------===//

namespace {

constexpr size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
// More words than any kernel needs; a kernel rejects a set that is smaller than its own.
constexpr size_t kMostWords = 1 << 16;

} // namespace

ProcessorSet ProcessorSet::allowed() {
  ProcessorSet set;
  for (size_t words = CPU_SETSIZE / kWordBits; words <= kMostWords; words *= 2) {
    set.words_.assign(words, 0);
    if (sched_getaffinity(0, set.bytes(), reinterpret_cast<cpu_set_t *>(set.words_.data())) == 0)
      return set;
    if (errno != EINVAL)
      break;
  }
  set.words_.clear();
  return set;
}

ProcessorSet::ProcessorSet(const std::vector<int> &processors) {
  for (int processor : processors) {
    const auto number = static_cast<size_t>(processor);
    if (words_.size() <= number / kWordBits)
      words_.resize(number / kWordBits + 1);
    words_[number / kWordBits] |= 1ul << number % kWordBits;
  }
}

std::vector<int> ProcessorSet::numbers() const {
  std::vector<int> numbers;
  for (size_t i = 0; i < words_.size() * kWordBits; ++i)
    if (words_[i / kWordBits] >> i % kWordBits & 1)
      numbers.push_back(static_cast<int>(i));
  return numbers;
}

int numAllowedProcessors() {
  return std::max(1, static_cast<int>(ProcessorSet::allowed().numbers().size()));
}

//===-- caches ------------------------------------------------------------------===//

namespace {

constexpr int64_t kUnknownCache = 16 << 20;

std::string firstWord(const std::string &path) {
  std::string word;
  std::ifstream(path) >> word;
  return word;
}

// "32768K", "2M" or "512"; 0 for anything else.
int64_t parseSize(const std::string &text) {
  int64_t number = 0;
  char unit = 0;
  std::istringstream stream(text);
  if (!(stream >> number))
    return 0;
  stream >> unit;
  return number << (unit == 'K' ? 10 : unit == 'M' ? 20 : unit == 'G' ? 30 : 0);
}

} // namespace

// Does not use sysconf(_SC_LEVEL3_CACHE_SIZE), which adds up caches that the process cannot use,
// and on virtual machines those of the host.
int64_t cacheBytesOf(const std::vector<int> &processors, const std::string &sysfs) {
  int lastLevel = 0;
  int64_t bytes = 0;
  std::set<std::string> counted; // caches of that level, by the processors that share them
  for (int processor : processors)
    for (int index = 0;; ++index) {
      const std::string folder =
          sysfs + "/cpu" + std::to_string(processor) + "/cache/index" + std::to_string(index) + "/";
      const int level = static_cast<int>(parseSize(firstWord(folder + "level")));
      if (level == 0)
        break;
      if (level < lastLevel || firstWord(folder + "type") == "Instruction")
        continue;
      if (level > lastLevel) {
        lastLevel = level;
        bytes = 0;
        counted.clear();
      }
      if (counted.insert(firstWord(folder + "shared_cpu_list")).second)
        bytes += parseSize(firstWord(folder + "size"));
    }
  return bytes;
}

int64_t cacheBytes() {
  static const int64_t bytes = [] {
    if (const int64_t chosen = envInt(EnvVar::StreamBytes); chosen > 0)
      return chosen;
    const int64_t found =
        cacheBytesOf(ProcessorSet::allowed().numbers(), "/sys/devices/system/cpu");
    return found > 0 ? found : kUnknownCache;
  }();
  return bytes;
}

//===-- memory ------------------------------------------------------------------===//

namespace {

// The smallest limit that files of that name set in a group's folder or above it.
int64_t leastLimit(const std::string &mount, std::string group, const char *file) {
  int64_t least = INT64_MAX;
  while (true) {
    int64_t bytes = 0;
    if (std::ifstream stream(mount + group + "/" + file); stream >> bytes && bytes > 0)
      least = std::min(least, bytes);
    if (group.empty())
      return least;
    group.erase(group.find_last_of('/'));
  }
}

// What is left of a limit after the pages that a column of /proc/self/statm counts.
int64_t leftOf(int resource, int column) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return INT64_MAX;
  int64_t pages = 0;
  std::ifstream stream("/proc/self/statm");
  for (int i = 0; i <= column; ++i)
    stream >> pages;
  const auto used = static_cast<uint64_t>(pages * sysconf(_SC_PAGESIZE));
  return limit.rlim_cur > used ? static_cast<int64_t>(limit.rlim_cur - used) : 0;
}

int64_t ownCgroupBytes() {
  std::ifstream file("/proc/self/cgroup");
  std::stringstream groups;
  groups << file.rdbuf();
  return cgroupMemoryBytes(groups.str(), "/sys/fs/cgroup");
}

} // namespace

int64_t physicalMemoryBytes() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<int64_t>(sysconf(_SC_PAGESIZE));
}

int64_t cgroupMemoryBytes(const std::string &groups, const std::string &mount) {
  int64_t least = INT64_MAX;
  std::istringstream lines(groups);
  for (std::string line; std::getline(lines, line);) { // number:controllers:/group
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos)
      continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string group = line.substr(second + 1);
    if (group.find("..") != std::string::npos || group.rfind('/', 0) != 0 || group == "/")
      group.clear(); // outside what this process sees: its namespace's own
    if (controllers == ",,")
      least = std::min(least, leastLimit(mount, group, "memory.max"));
    else if (controllers.find(",memory,") != std::string::npos)
      least = std::min(least, leastLimit(mount + "/memory", group, "memory.limit_in_bytes"));
  }
  return least;
}

int64_t addressSpaceLeft() {
  constexpr int kSize = 0, kData = 5; // columns of statm
  return std::min(leftOf(RLIMIT_AS, kSize), leftOf(RLIMIT_DATA, kData));
}

MemoryLimit memoryLimit() {
  static const int64_t machine = physicalMemoryBytes(), cgroup = ownCgroupBytes();
  MemoryLimit least = {machine, "the machine's memory"};
  if (cgroup < least.bytes)
    least = {cgroup, "the cgroup's memory limit"};
  if (const int64_t left = addressSpaceLeft(); left < least.bytes)
    least = {left, "the rest of the address space (ulimit -v, ulimit -d)"};
  return least;
}

} // namespace coll::rt
