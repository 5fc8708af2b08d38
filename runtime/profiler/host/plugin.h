// plugin.h - one profiler plugin, whatever version of NCCL's ABI it was built for.
//
// The caller speaks version 7; the plugin hears its own. An exception that a plugin throws ends
// here: the plugin is then told of nothing more.

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

// What a plugin is told of a communicator.
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

  const std::string &name() const { return name_; } // as it calls itself
  int version() const { return version_; }

  // A context and, written to `mask` now or at any time later, the events that the plugin wants.
  // `mask` outlives the process's last call to the plugin. False where the plugin refuses.
  virtual bool init(void **context, int *mask, const CommunicatorInfo &info) = 0;
  // The plugin's handle; null where it drops the event, or its version has none like it. Handles
  // in the descriptor are the plugin's own.
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

// The newest table of the library. kCollUnsupported where it has none, or one that lacks a
// function.
rt::Result<std::shared_ptr<Plugin>> pluginOf(const rt::dl::Library &library);

// Finds a plugin as NCCL does: `name` as it stands, then libnccl-profiler-<name>.so;
// STATIC_PLUGIN: in the program itself; empty: libnccl-profiler.so.
rt::Result<std::shared_ptr<Plugin>> loadPlugin(const std::string &name);

// The names in a list, separated by commas; empty ones are left out.
std::vector<std::string> splitNames(const std::string &list);

// Loads each; one that cannot be loaded is told of in one warning.
std::vector<std::shared_ptr<Plugin>> loadPlugins(const std::vector<std::string> &names);

} // namespace coll::profiler

#endif // COLL_RUNTIME_PROFILER_HOST_PLUGIN_H
