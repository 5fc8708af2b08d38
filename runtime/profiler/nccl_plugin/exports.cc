// exports.cc - the tables that NCCL and other hosts look up, one per version of the ABI.

#include "runtime/base/log.h"
#include "runtime/dl/beside.h"
#include "runtime/profiler/nccl_plugin/plugin.h"
#include "runtime/profiler/nccl_plugin/translate.h"

#include <exception>

namespace coll::profiler::plugin {
namespace {

template <int version>
abi::NcclResult init(void **context, int *mask, CommunicatorInfo info) {
  try {
    info.version = version;
    uint64_t events = 0;
    *context = Plugin::instance().init(std::move(info), events);
    *mask = static_cast<int>(events);
    return abi::kNcclSuccess;
  } catch (const std::exception &error) {
    rt::log(rt::LogLevel::Warn, std::string("profiler: it is off: ") + error.what());
    return abi::kNcclSystemError;
  }
}

template <int version>
abi::NcclResult initUntilV3(void **context, int *mask) {
  return init<version>(context, mask, {});
}

// Forks of NCCL have other structs under the name v7, so the version is requested from the library
// that contains the logger, which is NCCL's own.
void findNcclVersion(abi::NcclLogger logger) {
  if (Plugin::instance().knowsNcclVersion() || !logger)
    return;
  using GetVersion = int(int *version);
  int version = 0;
  auto *get =
      rt::dl::symbolBeside<GetVersion>(reinterpret_cast<const void *>(logger), "ncclGetVersion");
  if (get && get(&version) == abi::kNcclSuccess)
    Plugin::instance().setNcclVersion(version);
}

CommunicatorInfo describe(uint64_t id, const char *name, int nodes, int ranks, int rank) {
  CommunicatorInfo info;
  info.id = id;
  info.name = name ? name : "";
  info.nodes = nodes;
  info.ranks = ranks;
  info.rank = rank;
  return info;
}

abi::NcclResult initV4(void **context, int *mask, const char *name, uint64_t hash, int nodes,
                       int ranks, int rank, abi::NcclLogger) {
  return init<4>(context, mask, describe(hash, name, nodes, ranks, rank));
}

template <int version>
abi::NcclResult initSinceV5(void **context, uint64_t id, int *mask, const char *name, int nodes,
                            int ranks, int rank, abi::NcclLogger logger) {
  if constexpr (version >= 7)
    findNcclVersion(logger);
  return init<version>(context, mask, describe(id, name, nodes, ranks, rank));
}

template <int version, typename Descriptor>
abi::NcclResult startEvent(void *context, void **handle, Descriptor *descriptor) {
  if (!handle)
    return abi::kNcclSuccess;
  *handle = nullptr;
  if (!descriptor)
    return abi::kNcclSuccess;
  Plugin &plugin = Plugin::instance();
  if constexpr (version >= 4)
    if (descriptor->type == abi::kKernelCh &&
        (*handle = plugin.beginKernel(context, descriptor->parent, descriptor->kernelCh.channelId,
                                      descriptor->kernelCh.pTimer)))
      return abi::kNcclSuccess;
  Record record;
  record.type = typeOf<version>(descriptor->type, record.flags);
  Plugin::Place place;
  if (record.type == 255 || !plugin.begin(context, place, record))
    return abi::kNcclSuccess;
  const uint64_t parent =
      read<version>(*descriptor, {plugin.names(), version >= 7 && plugin.hasV7Fields()}, record);
  *handle = plugin.push(place, parent, record);
  return abi::kNcclSuccess;
}

abi::NcclResult stopEvent(void *handle) {
  Plugin &plugin = Plugin::instance();
  // The stop stamp of a channel has already reported its stop.
  if (plugin.hasEndedKernel(handle) || plugin.endKernel(handle, 0))
    return abi::kNcclSuccess;
  Record record;
  record.kind = RecordKind::Stop;
  plugin.push(handle, record);
  return abi::kNcclSuccess;
}

template <int version, typename StateArgs>
abi::NcclResult recordEventState(void *handle, abi::EventState state, StateArgs *args) {
  Plugin &plugin = Plugin::instance();
  if constexpr (version >= 4)
    if (state == abi::kKernelChStop && args && plugin.endKernel(handle, args->kernelCh.pTimer))
      return abi::kNcclSuccess;
  Record record;
  record.kind = RecordKind::State;
  readState<version>(state, args, record);
  plugin.push(handle, record);
  return abi::kNcclSuccess;
}

abi::NcclResult finalize(void *context) {
  Plugin::instance().finalize(context);
  return abi::kNcclSuccess;
}

constexpr char kName[] = "coll";

} // namespace
} // namespace coll::profiler::plugin

using namespace coll::profiler;

#define COLL_EXPORT __attribute__((visibility("default")))
#define COLL_TABLE(version, initialize)                                                            \
  COLL_EXPORT abi::ProfilerV##version ncclProfiler_v##version = {                                  \
      plugin::kName,                                                                               \
      initialize,                                                                                  \
      plugin::startEvent<version, abi::EventDescriptorV##version>,                                 \
      plugin::stopEvent,                                                                           \
      plugin::recordEventState<version, abi::StateArgsV##version>,                                 \
      plugin::finalize}

extern "C" {
COLL_TABLE(2, plugin::initUntilV3<2>);
COLL_TABLE(3, plugin::initUntilV3<3>);
COLL_TABLE(4, plugin::initV4);
COLL_TABLE(5, plugin::initSinceV5<5>);
COLL_TABLE(6, plugin::initSinceV5<6>);
COLL_TABLE(7, plugin::initSinceV5<7>);

COLL_EXPORT void collProfilerSetNcclVersion(int version) {
  plugin::Plugin::instance().setNcclVersion(version);
}
}
