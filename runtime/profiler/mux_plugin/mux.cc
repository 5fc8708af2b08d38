// mux.cc - the multiplexer as a profiler plugin: NCCL calls this plugin, which calls all plugins
// that COLL_PROFILER_PLUGINS names, each with its own version of the ABI.
//
// NCCL has one activation mask for the process, which each communicator's init sets: it gets the
// events that any plugin wants of any communicator. If a plugin changes its mask later, it receives
// other events at once, but NCCL learns of the change at the next init.

#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/profiler/host/multiplexer.h"
#include "runtime/profiler/host/translate.h"

#include <algorithm>

namespace coll::profiler {
namespace {

using namespace abi;

constexpr char kName[] = "coll-mux";

// Null if no plugin could be loaded. It is never destroyed: when the process ends, threads of NCCL
// may still be inside a callback.
Multiplexer *multiplexer() {
  static Multiplexer *const only = []() -> Multiplexer * {
    auto plugins = loadPlugins(splitNames(rt::envString(rt::EnvVar::ProfilerPlugins)));
    // If this library were in the list, it would call itself for ever.
    plugins.erase(std::remove_if(plugins.begin(), plugins.end(),
                                 [](const auto &plugin) { return plugin->name() == kName; }),
                  plugins.end());
    if (plugins.empty()) {
      rt::log(rt::LogLevel::Warn,
              "profiler plugin coll-mux: COLL_PROFILER_PLUGINS names no plugin that can be loaded");
      return nullptr;
    }
    return new Multiplexer(std::move(plugins));
  }();
  return only;
}

NcclResult open(void **context, int *mask, const CommunicatorInfo &info) {
  Multiplexer *all = multiplexer();
  if (!all)
    return kNcclInvalidUsage; // NCCL continues without a profiler
  *context = all->init(info);
  *mask = static_cast<int>(all->mask());
  return kNcclSuccess;
}

NcclResult initUntilV3(void **context, int *mask) { return open(context, mask, {}); }

NcclResult initV4(void **context, int *mask, const char *commName, uint64_t commHash, int nNodes,
                  int nRanks, int rank, NcclLogger logger) {
  return open(context, mask, {commHash, commName, nNodes, nRanks, rank, logger});
}

NcclResult initSinceV5(void **context, uint64_t commId, int *mask, const char *commName, int nNodes,
                       int nRanks, int rank, NcclLogger logger) {
  return open(context, mask, {commId, commName, nNodes, nRanks, rank, logger});
}

// Profiling never fails a call of NCCL.
template <typename Descriptor>
NcclResult startEvent(void *context, void **handle, Descriptor *descriptor) {
  *handle = nullptr;
  EventDescriptorV7 event;
  if (Multiplexer *all = multiplexer(); all && descriptor && raise(*descriptor, event))
    *handle = all->start(context, event);
  return kNcclSuccess;
}

NcclResult stopEvent(void *handle) {
  if (Multiplexer *all = multiplexer())
    all->stop(handle);
  return kNcclSuccess;
}

NcclResult recordUntilV3(void *handle, EventState state, StateArgsV2 *args) {
  if (Multiplexer *all = multiplexer())
    all->record(handle, state, raiseArgs(state, args));
  return kNcclSuccess;
}

NcclResult recordSinceV4(void *handle, EventState state, StateArgsV7 *args) {
  if (Multiplexer *all = multiplexer())
    all->record(handle, state, args ? *args : StateArgsV7{});
  return kNcclSuccess;
}

NcclResult finalize(void *context) {
  if (Multiplexer *all = multiplexer())
    all->finalize(context);
  return kNcclSuccess;
}

} // namespace
} // namespace coll::profiler

// NCCL looks for the newest of these that it knows.
#define COLL_EXPORT extern "C" __attribute__((visibility("default")))

namespace abi = coll::profiler::abi;
using coll::profiler::finalize;
using coll::profiler::initSinceV5;
using coll::profiler::initUntilV3;
using coll::profiler::initV4;
using coll::profiler::kName;
using coll::profiler::recordSinceV4;
using coll::profiler::recordUntilV3;
using coll::profiler::startEvent;
using coll::profiler::stopEvent;

COLL_EXPORT const abi::ProfilerV2 ncclProfiler_v2 = {
    kName, initUntilV3, startEvent<abi::EventDescriptorV2>, stopEvent, recordUntilV3, finalize};
COLL_EXPORT const abi::ProfilerV3 ncclProfiler_v3 = {
    kName, initUntilV3, startEvent<abi::EventDescriptorV3>, stopEvent, recordUntilV3, finalize};
COLL_EXPORT const abi::ProfilerV4 ncclProfiler_v4 = {
    kName, initV4, startEvent<abi::EventDescriptorV4>, stopEvent, recordSinceV4, finalize};
COLL_EXPORT const abi::ProfilerV5 ncclProfiler_v5 = {
    kName, initSinceV5, startEvent<abi::EventDescriptorV5>, stopEvent, recordSinceV4, finalize};
COLL_EXPORT const abi::ProfilerV6 ncclProfiler_v6 = {
    kName, initSinceV5, startEvent<abi::EventDescriptorV6>, stopEvent, recordSinceV4, finalize};
COLL_EXPORT const abi::ProfilerV7 ncclProfiler_v7 = {
    kName, initSinceV5, startEvent<abi::EventDescriptorV7>, stopEvent, recordSinceV4, finalize};
