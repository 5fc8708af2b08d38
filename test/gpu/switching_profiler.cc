// A profiler plugin for NCCL that acts in turn as no plugin, as one that records nothing, and as
// those that it is given. So the cost of each can be measured in turns on one communicator.
// libnccl-profiler-switch.so.

#include "runtime/dl/library.h"
#include "runtime/profiler/abi/tables.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <vector>

namespace {

using namespace coll::profiler::abi;

constexpr int kNone = 0, kEmpty = 1, kFirst = 2, kMost = 8;
int anything = 0; // the handle of the one that records nothing

struct Context {
  std::array<void *, kMost> contexts{};
  std::array<int, kMost> masks{};
  int *mask = nullptr; // NCCL's, one of the process
};

std::atomic<int> current{kEmpty};
std::mutex mutex;
std::vector<ProfilerV5 *> plugins;
std::vector<Context *> all;

// Handles of libnccl-profiler-coll are not addresses: their first bit is set. At most one other
// plugin can be distinguished from it.
bool isOurs(ProfilerV5 *plugin) { return plugin->name[0] == 'c'; }
int ownerOf(const void *handle) {
  if (handle == &anything)
    return kEmpty;
  const bool isNumber = reinterpret_cast<uint64_t>(handle) >> 63;
  for (size_t i = 0; i < plugins.size(); ++i)
    if (isOurs(plugins[i]) == isNumber)
      return static_cast<int>(i) + kFirst;
  return kEmpty;
}
ProfilerV5 *pluginOf(int which) {
  return which < kFirst ? nullptr : plugins[static_cast<size_t>(which - kFirst)];
}

NcclResult init(void **context, uint64_t id, int *mask, const char *name, int nodes, int ranks,
                int rank, NcclLogger logger) {
  std::lock_guard<std::mutex> lock(mutex);
  auto *made = new Context();
  made->mask = mask;
  made->masks[kEmpty] = static_cast<int>(allEvents(5));
  for (size_t i = 0; i < plugins.size(); ++i)
    if (plugins[i]->init(&made->contexts[i + kFirst], id, &made->masks[i + kFirst], name, nodes,
                         ranks, rank, logger) != kNcclSuccess)
      return kNcclSystemError;
  *mask = made->masks[static_cast<size_t>(current)];
  all.push_back(made);
  *context = made;
  return kNcclSuccess;
}

// A child goes to the plugin of its parent, even after a switch.
NcclResult start(void *context, void **handle, EventDescriptorV5 *descriptor) {
  const int which =
      descriptor->parent ? ownerOf(descriptor->parent) : current.load(std::memory_order_relaxed);
  *handle = &anything;
  ProfilerV5 *plugin = pluginOf(which);
  if (!plugin || !context)
    return kNcclSuccess;
  return plugin->startEvent(static_cast<Context *>(context)->contexts[static_cast<size_t>(which)],
                            handle, descriptor);
}
NcclResult stop(void *handle) {
  ProfilerV5 *plugin = pluginOf(ownerOf(handle));
  return plugin ? plugin->stopEvent(handle) : kNcclSuccess;
}
NcclResult record(void *handle, EventState state, StateArgsV5 *args) {
  ProfilerV5 *plugin = pluginOf(ownerOf(handle));
  return plugin ? plugin->recordEventState(handle, state, args) : kNcclSuccess;
}
NcclResult finalize(void *context) {
  for (size_t i = 0; i < plugins.size(); ++i)
    plugins[i]->finalize(static_cast<Context *>(context)->contexts[i + kFirst]);
  return kNcclSuccess;
}

} // namespace

#define COLL_EXPORT extern "C" __attribute__((visibility("default")))

COLL_EXPORT const ProfilerV5 ncclProfiler_v5 = {"switch", init, start, stop, record, finalize};

// Adds a plugin; call it before NCCL makes a communicator. Returns false if it cannot be loaded.
COLL_EXPORT bool profilerSwitchAdd(const char *path) {
  auto library = coll::rt::dl::Library::open(path);
  auto *plugin = library ? library->symbol<ProfilerV5>("ncclProfiler_v5") : nullptr;
  if (!plugin || plugins.size() + kFirst == kMost)
    return false;
  plugins.push_back(plugin);
  return true;
}

// Selects the plugin from now on: 0 none, 1 the empty one, 2 and more those that were added.
COLL_EXPORT void profilerSwitch(int which) {
  std::lock_guard<std::mutex> lock(mutex);
  current = which;
  for (Context *context : all)
    *context->mask = which == kNone ? 0 : context->masks[static_cast<size_t>(which)];
}
