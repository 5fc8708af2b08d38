// settings.h - the plugin's settings from the environment.

#ifndef COLL_RUNTIME_PROFILER_NCCL_PLUGIN_SETTINGS_H
#define COLL_RUNTIME_PROFILER_NCCL_PLUGIN_SETTINGS_H

#include "runtime/base/status.h"

#include <cstdint>
#include <string>

namespace coll::profiler::plugin {

struct Settings {
  std::string tracePath;      // empty: no trace
  std::string summaryPath;    // empty: none; "-": to stderr
  std::string prometheusPath; // empty: none
  uint64_t events = 0;        // mask
  size_t ringSlots = 0;       // a power of two

  // Reads COLL_PROFILER_*; %p and %h in a path become process and host. kCollInvalidCall names the
  // variable and the wrong word.
  static rt::Result<Settings> fromEnv();
};

// "all", "none", or names of levels as of coll's traces ("coll,proxy_op"), separated by commas.
rt::Result<uint64_t> parseEvents(const std::string &text);

} // namespace coll::profiler::plugin

#endif // COLL_RUNTIME_PROFILER_NCCL_PLUGIN_SETTINGS_H
