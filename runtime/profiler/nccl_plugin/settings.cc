#include "runtime/profiler/nccl_plugin/settings.h"

#include "runtime/base/env.h"
#include "runtime/base/path_pattern.h"
#include "runtime/profiler/abi/events.h"
#include "runtime/profiler/perfetto/vocabulary.h"

#include <iterator>
#include <unistd.h>

namespace coll::profiler::plugin {

using perfetto::Level;

namespace {

// In the order of the events' bits.
constexpr Level kLevels[] = {
    Level::Group,     Level::Coll,      Level::P2p,      Level::ProxyOp,
    Level::ProxyStep, Level::ProxyCtrl, Level::KernelCh, Level::Net,
    Level::GroupApi,  Level::CollApi,   Level::P2pApi,   Level::KernelLaunch,
    Level::CeColl,    Level::CeSync,    Level::CeBatch,  Level::KernelPhase};

/// The file that a variable names; empty if it names none.
std::string fileOf(rt::EnvVar variable) {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  const std::string path = rt::expandPath(rt::envString(variable), {{'h', host}});
  return path == "none" ? "" : path;
}

size_t powerOfTwo(int64_t least) {
  size_t value = 1;
  while (value < static_cast<size_t>(least))
    value *= 2;
  return value;
}

} // namespace

rt::Result<uint64_t> parseEvents(const std::string &text) {
  if (text == "all")
    return abi::allEvents(abi::kNewestVersion);
  if (text == "none")
    return uint64_t(0);
  uint64_t mask = 0;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    size_t bit = 0;
    while (bit < std::size(kLevels) && perfetto::levelName(kLevels[bit]) != word)
      ++bit;
    if (bit == std::size(kLevels)) {
      std::string known;
      for (Level level : kLevels)
        known += (known.empty() ? "" : ", ") + std::string(perfetto::levelName(level));
      return rt::Status::invalid("COLL_PROFILER_EVENTS: \"" + word +
                                 "\" is not an event; known are all, " + "none, " + known);
    }
    mask |= uint64_t(1) << bit;
    begin = end + 1;
  }
  return mask;
}

rt::Result<Settings> Settings::fromEnv() {
  Settings settings;
  settings.tracePath = fileOf(rt::EnvVar::ProfilerFile);
  settings.summaryPath = fileOf(rt::EnvVar::ProfilerSummary);
  settings.prometheusPath = fileOf(rt::EnvVar::ProfilerPrometheus);
  settings.ringSlots = powerOfTwo(rt::envInt(rt::EnvVar::ProfilerRing));
  rt::Result<uint64_t> events = parseEvents(rt::envString(rt::EnvVar::ProfilerEvents));
  if (!events.ok())
    return events.status();
  settings.events = *events;
  if (settings.tracePath.empty() && settings.summaryPath.empty() && settings.prometheusPath.empty())
    settings.events = 0; // they would be used for nothing
  return settings;
}

} // namespace coll::profiler::plugin
