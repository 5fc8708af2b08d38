#include "runtime/profiler/perfetto/vocabulary.h"

#include <iterator>

namespace coll::profiler::perfetto {

namespace {

// In the order of Level.
constexpr std::string_view kLevelNames[] = {
    "step",         "compute",       "wait",       "group_api", "coll_api",
    "p2p_api",      "kernel_launch", "group",      "coll",      "p2p",
    "proxy_op",     "proxy_step",    "proxy_ctrl", "net",       "kernel_ch",
    "kernel_phase", "ce_coll",       "ce_sync",    "ce_batch",  "note"};
static_assert(std::size(kLevelNames) == kLevels);

// In the order of Key.
constexpr std::string_view kKeyNames[] = {"rank",           "comm",        "comm_name",
                                          "ranks",          "nodes",       "seq",
                                          "func",           "datatype",    "count",
                                          "bytes",          "root",        "peer",
                                          "algorithm",      "protocol",    "channels",
                                          "channel",        "op",          "reason",
                                          "location",       "user_tag",    "step",
                                          "steps",          "chunk_bytes", "direction",
                                          "enqueued_ns",    "completion",  "gpu_wait_ns",
                                          "peer_wait_ns",   "transfer_ns", "flush_ns",
                                          "gpu_start_ns",   "gpu_end_ns",  "clock_error_ns",
                                          "flag",           "pid",         "host",
                                          "graph_captured", "group_depth", "dropped",
                                          "transport",      "device",      "connection",
                                          "message",        "variant",     "phase",
                                          "state",          "version",     "clock_offset_ns",
                                          "parent",         "chakra_node", "id",
                                          "proxy_delay_ns"};
static_assert(std::size(kKeyNames) == kKeys);

template <typename Value, size_t count>
std::optional<Value> find(const std::string_view (&names)[count], std::string_view name) {
  for (size_t i = 0; i < count; ++i)
    if (names[i] == name)
      return static_cast<Value>(i);
  return std::nullopt;
}

} // namespace

std::string_view levelName(Level level) { return kLevelNames[static_cast<size_t>(level)]; }
std::string_view keyName(Key key) { return kKeyNames[static_cast<size_t>(key)]; }
std::optional<Level> levelOf(std::string_view name) { return find<Level>(kLevelNames, name); }
std::optional<Key> keyOf(std::string_view name) { return find<Key>(kKeyNames, name); }

} // namespace coll::profiler::perfetto
