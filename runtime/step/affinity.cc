#include "runtime/step/affinity.h"

#include "runtime/base/machine.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <map>
#include <sched.h>
#include <sstream>
#include <unistd.h>

namespace coll::rt {

namespace {

constexpr int kMaxCpu = (1 << 20) - 1; // more than any kernel knows

// The whole number in a file of /sys, or 0.
int readNumber(const std::string &path) {
  int value = 0;
  std::ifstream(path) >> value;
  return value;
}

// /sys/devices/system/cpu/cpuN holds a link nodeM.
int nodeOf(const std::string &folder) {
  for (int node = 0; node < 1024; ++node)
    if (access((folder + "/node" + std::to_string(node)).c_str(), F_OK) == 0)
      return node;
  return 0;
}

bool parseCpu(const std::string &text, int &cpu) {
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  return error == std::errc() && stop == text.data() + text.size() && cpu >= 0 && cpu <= kMaxCpu;
}

Result<std::vector<int>> parseList(const std::string &spec) {
  std::vector<int> cpus;
  std::istringstream parts(spec);
  for (std::string part; std::getline(parts, part, ',');) {
    size_t dash = part.find('-');
    int first = 0, last = 0;
    bool valid = parseCpu(part.substr(0, dash), first);
    last = first;
    if (valid && dash != std::string::npos)
      valid = parseCpu(part.substr(dash + 1), last) && last >= first;
    if (!valid) {
      cpus.clear();
      break;
    }
    for (int cpu = first; cpu <= last; ++cpu)
      cpus.push_back(cpu);
  }
  if (cpus.empty())
    return Status::invalid("\"" + spec +
                           "\" is neither none, compact or spread, nor a list such as 0,2,4-7");
  return cpus;
}

// One processor of each core first, then the second one of each.
std::vector<Processor> coresFirst(const std::vector<Processor> &processors) {
  std::vector<std::pair<int, Processor>> ranked; // by the processor's number within its core
  std::map<std::pair<int, int>, int> seen;
  for (const Processor &p : processors)
    ranked.emplace_back(seen[{p.package, p.core}]++, p);
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<Processor> ordered;
  for (auto &entry : ranked)
    ordered.push_back(entry.second);
  return ordered;
}

std::vector<int> order(const std::vector<Processor> &processors, bool spread) {
  std::map<int, std::vector<Processor>> nodes;
  for (const Processor &p : processors)
    nodes[p.node].push_back(p);
  std::vector<std::vector<Processor>> ordered;
  size_t most = 0;
  for (auto &[node, members] : nodes) {
    ordered.push_back(coresFirst(members));
    most = std::max(most, members.size());
  }
  std::vector<int> cpus;
  if (!spread) {
    for (const std::vector<Processor> &node : ordered)
      for (const Processor &p : node)
        cpus.push_back(p.cpu);
    return cpus;
  }
  for (size_t i = 0; i < most; ++i)
    for (const std::vector<Processor> &node : ordered)
      if (i < node.size())
        cpus.push_back(node[i].cpu);
  return cpus;
}

} // namespace

std::vector<Processor> availableProcessors() {
  std::vector<Processor> processors;
  for (int cpu : ProcessorSet::allowed().numbers()) {
    std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    processors.push_back({cpu, nodeOf(folder), readNumber(folder + "/topology/physical_package_id"),
                          readNumber(folder + "/topology/core_id")});
  }
  return processors;
}

Result<Affinity> Affinity::create(const std::string &spec) {
  if (spec == "none")
    return Affinity();
  return create(spec, availableProcessors());
}

Result<Affinity> Affinity::create(const std::string &spec, std::vector<Processor> processors) {
  Affinity affinity;
  if (spec == "none")
    return affinity;
  if (spec == "compact" || spec == "spread") {
    affinity.cpus_ = order(processors, spec == "spread");
    return affinity;
  }
  Result<std::vector<int>> cpus = parseList(spec);
  if (!cpus)
    return cpus.status();
  for (int cpu : *cpus)
    if (std::none_of(processors.begin(), processors.end(),
                     [&](const Processor &p) { return p.cpu == cpu; }))
      return Status::invalid("\"" + spec + "\": this process may not use processor " +
                             std::to_string(cpu));
  affinity.cpus_ = cpus.take();
  return affinity;
}

int Affinity::processorOf(int rank) const {
  return cpus_.empty() ? -1 : cpus_[static_cast<size_t>(rank) % cpus_.size()];
}

Status Affinity::pinThisThread(int rank) const {
  int cpu = processorOf(rank);
  if (cpu < 0)
    return {};
  const ProcessorSet set({cpu});
  if (sched_setaffinity(0, set.bytes(), set.data()) != 0)
    return Status(kCollDevice, "rank " + std::to_string(rank) + " cannot be kept on processor " +
                                   std::to_string(cpu) + ": " + std::strerror(errno));
  return {};
}

} // namespace coll::rt
