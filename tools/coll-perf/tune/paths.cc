#include "tools/coll-perf/tune/paths.h"

#include "runtime/backend/net/gpu/mover.h"
#include "runtime/base/env.h"
#include "runtime/base/paths.h"
#include "tools/coll-perf/op/options.h"
#include "tools/coll-perf/units.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace coll::perf {

namespace {

using rt::DataPath;
using rt::network::GpuMover;
using rt::network::GpuPath;

// A path must be faster than the best one before it by this share, so that noise does not make
// rules.
constexpr double kMargin = 0.05;
// Shorter messages of backend net use no path, because they travel with their offer.
constexpr uint64_t kLeastBytes = 16 << 10;
constexpr auto kMostBytes = static_cast<uint64_t>(GpuMover::kSlotBytes);

// Up to this size one call is one message; longer calls consist of 16 messages
// (backend/net/transfer.cc).
constexpr uint64_t kOneMessageBytes = 256 << 10;
uint64_t callOf(uint64_t messageBytes) {
  return messageBytes <= kOneMessageBytes ? messageBytes : 16 * messageBytes;
}

struct Way {
  DataPath path;
  std::unique_ptr<Team> team;
};

// The default comes first. Scattered data arrives in the device transport, which bypasses the
// kernel's slots.
Result<std::vector<Way>> startWays(const OpPlan &plan, bool scatter) {
  std::vector<Way> ways;
  for (auto [path, name] : {std::pair(DataPath::Kernel, GpuPath::Kernel),
                            {DataPath::Host, GpuPath::Copy},
                            {DataPath::Unpack, GpuPath::Unpack},
                            {DataPath::Pack, GpuPath::Pack}}) {
    if (scatter && path == DataPath::Kernel)
      continue;
    rt::setForeignEnv("COLL_NET_GPU_PATH", nameOf(name)); // for the processes that are started next
    Result<Side> side = parseSide("net:gpu");
    if (!side)
      return side.status();
    side->label = std::string("path ") + pathName(path);
    Result<std::vector<std::unique_ptr<Team>>> started = startTeams(plan, {*side});
    if (!started)
      return started.status();
    if (!started->empty())
      ways.push_back({path, std::move(started->front())});
  }
  return ways;
}

struct Choice {
  DataPath path = DataPath::Kernel;
  std::string why;
};

Result<Choice> best(const OpPlan &plan, std::vector<Way> &ways, uint64_t bytes) {
  const uint64_t callBytes = callOf(bytes);
  Choice choice;
  double bestRate = 0;
  for (Way &way : ways) {
    Result<OpFigure> figure =
        measureMedian(plan, *way.team, {callBytes, Placement::Out, Timing::Eager});
    if (!figure)
      return figure.status().annotate(way.team->side().label);
    if (figure->wrong > 0)
      return Status(kCollInternal, way.team->side().label + ": the results are wrong");
    const double rate = static_cast<double>(callBytes) / std::max(figure->maxUs, 1e-3) * 1e-3;
    char text[48];
    std::snprintf(text, sizeof(text), "%s %.2f GB/s", pathName(way.path), rate);
    choice.why += (choice.why.empty() ? "measured: at " + formatBytes(bytes) + " " : "; ") + text;
    if (rate > bestRate * (1 + kMargin)) {
      bestRate = rate;
      choice.path = way.path;
    }
  }
  return choice;
}

// Turns consecutive sizes with the same path into one rule.
void addRule(const std::string &kind, uint64_t bytes, const Choice &choice,
             nlohmann::ordered_json &rules) {
  if (!rules.empty() && rules.back()["path"] == pathName(choice.path))
    rules.erase(rules.size() - 1);
  rules.push_back(
      {{"kind", kind}, {"max_bytes", bytes}, {"path", pathName(choice.path)}, {"why", choice.why}});
}

} // namespace

Result<nlohmann::ordered_json> tunePaths(const OpPlan &asked) {
  std::vector<uint64_t> sizes;
  for (uint64_t bytes : asked.sizes())
    if (bytes >= kLeastBytes && bytes <= kMostBytes)
      sizes.push_back(bytes);
  if (sizes.empty())
    return Status::invalid("-b, -e: messages that have a path are of 16 KiB to 2 MiB");
  if (rt::envInt(rt::EnvVar::NetGpuCompress) != 0)
    return Status::invalid(
        "COLL_NET_GPU_COMPRESS=1 leaves only the path kernel: nothing to choose");
  OpPlan plan = asked;
  plan.op = "send_recv";
  plan.ranks = 2;
  plan.fromBytes = plan.toBytes = callOf(sizes.back()); // room for the largest
  const bool scatter = rt::envInt(rt::EnvVar::NetScatter) != 0;
  const std::string kind = rt::transportKind(rt::envString(rt::EnvVar::NetTransport), scatter);
  nlohmann::ordered_json rules = nlohmann::ordered_json::array();
  Result<std::vector<Way>> ways = startWays(plan, scatter);
  if (!ways)
    return ways.status();
  if (ways->empty()) {
    std::printf("SKIPPED: paths of GPU memory over %s: none can be measured here, so no table is "
                "written\n",
                kind.c_str());
    return rules;
  }
  std::printf("%s\n", kind.c_str());
  for (uint64_t bytes : sizes) {
    Result<Choice> choice = best(plan, *ways, bytes);
    if (!choice)
      return choice.status();
    std::printf("  %s: %s\n", pathName(choice->path), choice->why.c_str());
    std::fflush(stdout);
    addRule(kind, bytes, *choice, rules);
  }
  rules.back().erase("max_bytes"); // the last has no end
  return rules;
}

} // namespace coll::perf
