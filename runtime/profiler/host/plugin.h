// plugin.h - one profiler plugin, of any version of NCCL's ABI.
//
// The caller uses version 7; the plugin gets its own version. If a plugin throws an exception, it
// is not called any more.

#ifndef COLL_RUNTIME_PROFILER_HOST_PLUGIN_H
#define COLL_RUNTIME_PROFILER_HOST_PLUGIN_H

#include "runtime/base/status.h"
#include "runtime/dl/library.h"
#include "runtime/profiler/abi/tables.h"

#include <memory>
#include <string>
#include <vector>

namespace coll::profiler {

// The NCCL whose layout of version 7 the host follows: 2.31.2.
inline constexpr int kHostNcclVersion = 23102;

// The description of a communicator that a plugin receives.
struct CommunicatorInfo {
  uint64_t id = 0;            // equal on all ranks
  const char *name = nullptr; // may be null
  int numNodes = 1;
  int numRanks = 1;
  int rank = 0;
  abi::NcclLogger logger = nullptr;
};

class Plugin {
public:
  virtual ~Plugin() = default;

  const std::string &name() const { return name_; } // the plugin's own name
  int version() const { return version_; }

  // Returns a context, and the events that the plugin wants in `mask`, which the plugin may write
  // at any time. `mask` outlives the process's last call to the plugin. False if the plugin
  // rejects.
  virtual bool init(void **context, int *mask, const CommunicatorInfo &info) = 0;
  // The plugin's handle; null if it drops the event, or its version has no such event. Handles in
  // the descriptor are the plugin's own.
  virtual void *start(void *context, const abi::EventDescriptorV7 &event) = 0;
  virtual void stop(void *handle) = 0;
  virtual void record(void *handle, abi::EventState state, const abi::StateArgsV7 &args) = 0;
  virtual void finalize(void *context) = 0;

protected:
  Plugin(const char *name, int version) : name_(name ? name : "?"), version_(version) {}

private:
  std::string name_;
  int version_;
};

// The newest table of the library. kCollUnsupported if it has none, or if a function is missing.
rt::Result<std::shared_ptr<Plugin>> pluginOf(const rt::dl::Library &library);

// Finds a plugin as NCCL does: tries `name` itself, then libnccl-profiler-<name>.so; STATIC_PLUGIN:
// in the program itself; empty: libnccl-profiler.so.
rt::Result<std::shared_ptr<Plugin>> loadPlugin(const std::string &name);

// The names in a list, separated by commas; empty ones are skipped.
std::vector<std::string> splitNames(const std::string &list);

// Loads each plugin; one that cannot be loaded is reported in one warning.
std::vector<std::shared_ptr<Plugin>> loadPlugins(const std::vector<std::string> &names);

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_PLUGIN_H
