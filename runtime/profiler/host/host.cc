#include "runtime/profiler/host/host.h"

#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/profiler/host/names.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <string_view>
#include <unistd.h>

namespace coll::profiler {

using namespace abi;
using rt::TraceEvent;
using rt::TraceLevel;
using rt::TracePhase;

namespace {

// Receives the log messages of plugins, with NCCL's levels: 2 and below are warnings.
void logOfPlugins(NcclLogLevel level, unsigned long, const char *, int, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  rt::log(level <= kNcclLogWarn ? rt::LogLevel::Warn : rt::LogLevel::Debug,
          std::string("profiler plugin: ") + text);
}

EventDescriptorV7 descriptorOf(EventType type, int32_t rank, void *parent) {
  EventDescriptorV7 descriptor = {};
  descriptor.type = type;
  descriptor.rank = rank;
  descriptor.parent = parent;
  return descriptor;
}

uint64_t userTagOf(const TraceEvent &event) {
  return event.op < 0 ? 0 : static_cast<uint64_t>(event.op) + 1;
}

} // namespace

//===-- the host of a process ---------------------------------------------------===//

Host::Host(std::vector<std::shared_ptr<Plugin>> plugins)
    : multiplexer_(std::move(plugins)), shards_(new Shard[kNumShards]) {
  if (multiplexer_.numPlugins() > 0 && !rt::addTraceSink(this))
    rt::log(rt::LogLevel::Warn, "profiler plugins are not used: too many listeners are registered");
}

Host::~Host() {
  rt::removeTraceSink(this);
  for (size_t i = 0; i < kNumShards; ++i)
    for (const Member &member : shards_[i].members)
      multiplexer_.finalize(member.context);
  const Multiplexer::Drops drops = this->drops();
  if (drops.events + drops.lateChanges > 0)
    rt::log(rt::LogLevel::Warn, "profiler plugins did not receive " + std::to_string(drops.events) +
                                    " events, for lack of room");
}

Multiplexer::Drops Host::drops() const {
  Multiplexer::Drops drops = multiplexer_.drops();
  drops.events += droppedSpans_.load(std::memory_order_relaxed);
  return drops;
}

std::shared_ptr<Host> Host::ofEnvironment(bool ncclIsInUse) {
  static std::mutex mutex;
  static std::weak_ptr<Host> current;
  std::lock_guard<std::mutex> lock(mutex);
  if (std::shared_ptr<Host> host = current.lock())
    return host;
  std::vector<std::shared_ptr<Plugin>> plugins;
  const std::string names = rt::envString(rt::EnvVar::ProfilerPlugins);
  const std::optional<std::string> ncclName = rt::foreignEnv("NCCL_PROFILER_PLUGIN");
  if (!names.empty()) {
    plugins = names == "none" ? plugins : loadPlugins(splitNames(names));
  } else if (ncclName && !ncclIsInUse) {
    plugins = *ncclName == "none" ? plugins : loadPlugins({*ncclName});
  } else if (!ncclIsInUse) {
    // No plugin was asked for, so a missing one is not reported.
    if (rt::Result<std::shared_ptr<Plugin>> plugin = loadPlugin(""))
      plugins.push_back(plugin.take());
  }
  if (plugins.empty())
    return nullptr;
  std::shared_ptr<Host> host = std::make_shared<Host>(std::move(plugins));
  current = host;
  return host;
}

// ===-- open spans ----------------------------------------------------------------===//

bool Host::find(int32_t rank, uint64_t id, Span &span) {
  Shard &shard = shardOf(rank);
  std::lock_guard<std::mutex> lock(shard.mutex);
  const Span *found = shard.spans.find(id);
  if (found)
    span = *found;
  return found != nullptr;
}

void Host::keep(int32_t rank, uint64_t id, const Span &span) {
  Shard &shard = shardOf(rank);
  std::lock_guard<std::mutex> lock(shard.mutex);
  if (Span *place = shard.spans.insert(id))
    *place = span;
  else
    droppedSpans_.fetch_add(1, std::memory_order_relaxed);
}

// Only the rank's own thread announces its members.
int32_t Host::memberOf(const TraceEvent &event, Span &span) {
  Shard &shard = shardOf(event.rank);
  const rt::TraceGroup &group = *event.group;
  {
    std::lock_guard<std::mutex> lock(shard.mutex);
    for (size_t i = 0; i < shard.members.size(); ++i) {
      const Member &member = shard.members[i];
      if (member.group != &group || member.id != group.id)
        continue;
      span.context = member.context;
      return static_cast<int32_t>(i);
    }
  }
  CommunicatorInfo info;
  info.id = group.id;
  info.name = "coll";
  info.numRanks = group.numRanks;
  info.rank = group.position;
  info.logger = logOfPlugins;
  span.context = multiplexer_.init(info);
  std::lock_guard<std::mutex> lock(shard.mutex);
  shard.members.push_back(
      {&group, group.id, span.context, {group.ranks, group.ranks + group.numRanks}, 0});
  return static_cast<int32_t>(shard.members.size()) - 1;
}

// The rank's number in the communicator.
int Host::positionOf(int32_t rank, int32_t index, int32_t peer) {
  Shard &shard = shardOf(rank);
  std::lock_guard<std::mutex> lock(shard.mutex);
  const std::vector<int32_t> &ranks = shard.members[static_cast<size_t>(index)].ranks;
  if (peer >= 0 && static_cast<size_t>(peer) < ranks.size() &&
      ranks[static_cast<size_t>(peer)] == peer)
    return peer;
  return static_cast<int>(std::find(ranks.begin(), ranks.end(), peer) - ranks.begin());
}

// All members make the same collectives, so they number them in the same way.
uint64_t Host::nextNumber(int32_t rank, int32_t index) {
  Shard &shard = shardOf(rank);
  std::lock_guard<std::mutex> lock(shard.mutex);
  return shard.members[static_cast<size_t>(index)].numCollectives++;
}

//===-- events ------------------------------------------------------------------===//

void Host::onEvent(const TraceEvent &event) {
  switch (event.level) {
  case TraceLevel::Function:
  case TraceLevel::Wait:
  case TraceLevel::Compute:
  case TraceLevel::Launch:
    return; // NCCL has no such events
  case TraceLevel::Device:
    return onDevice(event);
  default:
    break;
  }
  switch (event.phase) {
  case TracePhase::Begin:
    return begin(event);
  case TracePhase::Posted:
  case TracePhase::Landing:
    return state(event);
  case TracePhase::Issued:
  case TracePhase::End:
    return endCall(event);
  case TracePhase::Dropped:
    return;
  }
}

void Host::begin(const TraceEvent &event) {
  if (event.level == TraceLevel::Group)
    return beginGroup(event);
  return event.level == TraceLevel::Call ? beginCall(event) : beginBelow(event);
}

// GroupApi and Group of calls that are made together.
void Host::startGroup(int32_t rank, Span &span) {
  EventDescriptorV7 api = descriptorOf(kGroupApi, rank, nullptr);
  api.groupApi.groupDepth = 1;
  span.groupApi = multiplexer_.start(span.context, api);
  multiplexer_.record(span.groupApi, kGroupStartApiStop, {});
  span.group = multiplexer_.start(span.context, descriptorOf(kGroup, rank, nullptr));
}

void Host::beginGroup(const TraceEvent &event) {
  Span span;
  span.member = memberOf(event, span);
  if (!span.context)
    return;
  startGroup(event.rank, span);
  keep(event.rank, event.id, span);
}

void Host::startApi(const TraceEvent &event, void *groupApi, Span &span) {
  const rt::TraceCall &call = *event.call;
  EventDescriptorV7 api = descriptorOf(call.isTransfer ? kP2pApi : kCollApi, event.rank, groupApi);
  const char *function = ncclFunction(event.name), *datatype = ncclDatatype(call.dtype);
  const size_t count = static_cast<size_t>(call.count);
  if (call.isTransfer)
    api.p2pApi = {function, count, datatype, call.stream, event.isReplay, userTagOf(event)};
  else
    api.collApi = {function,    count,          datatype,        call.root,
                   call.stream, event.isReplay, userTagOf(event)};
  span.api = multiplexer_.start(span.context, api);
}

void Host::startTask(const TraceEvent &event, void *group, Span &span) {
  const rt::TraceCall &call = *event.call;
  EventDescriptorV7 task = descriptorOf(call.isTransfer ? kP2p : kColl, event.rank, span.api);
  const char *function = ncclFunction(event.name), *datatype = ncclDatatype(call.dtype);
  const size_t count = static_cast<size_t>(call.count);
  if (call.isTransfer) {
    void *buffer = event.isSend ? const_cast<void *>(call.src) : call.dst;
    task.p2p = {function,
                buffer,
                datatype,
                count,
                positionOf(event.rank, span.member, event.peer),
                /*nChannels=*/1,
                group,
                userTagOf(event)};
  } else {
    task.coll.seqNumber = nextNumber(event.rank, span.member);
    task.coll.func = function;
    task.coll.sendBuff = call.src;
    task.coll.recvBuff = call.dst;
    task.coll.count = count;
    task.coll.root = call.root;
    task.coll.datatype = datatype;
    task.coll.nChannels = 1;
    task.coll.algo = task.coll.proto = task.coll.kernelVariant = "Unknown";
    task.coll.parentGroup = group;
    task.coll.userTag = userTagOf(event);
  }
  span.handle = multiplexer_.start(span.context, task);
}

// Lasts until the call is on the stream. A graph's replay launches no single call.
void Host::startLaunch(const TraceEvent &event, void *groupApi, Span &span) {
  if (!event.call->stream || event.isReplay)
    return;
  EventDescriptorV7 launch = descriptorOf(kKernelLaunch, event.rank, groupApi);
  launch.kernelLaunch.stream = event.call->stream;
  span.launch = multiplexer_.start(span.context, launch);
}

// The creation of a communicator has no event in NCCL.
void Host::beginCall(const TraceEvent &event) {
  if (std::string_view(event.name) == "init")
    return;
  Span span, outer;
  span.member = memberOf(event, span);
  if (!span.context)
    return;
  // Its parent is a Group, or the function, which has no events.
  if (!find(event.rank, event.parent, outer)) {
    startGroup(event.rank, span);
    outer = span;
  }
  startApi(event, outer.groupApi, span);
  startTask(event, outer.group, span);
  startLaunch(event, outer.groupApi, span);
  keep(event.rank, event.id, span);
}

void Host::beginBelow(const TraceEvent &event) {
  Span outer, span;
  if (!find(event.rank, event.parent, outer) || !outer.context)
    return;
  span.context = outer.context;
  span.member = outer.member;
  span.bytes = event.bytes;
  span.isSend = event.isSend;
  EventDescriptorV7 below = descriptorOf(kProxyStep, event.rank, outer.handle);
  if (event.level == TraceLevel::ProxyOp) {
    below.type = kProxyOp;
    below.proxyOp.pid = getpid();
    below.proxyOp.peer = positionOf(event.rank, span.member, event.peer);
    below.proxyOp.nSteps = event.number;
    below.proxyOp.chunkSize = static_cast<int>(std::min<int64_t>(event.bytes, INT32_MAX));
    below.proxyOp.isSend = event.isSend;
  } else if (event.level == TraceLevel::ProxyStep) {
    below.proxyStep.step = event.number;
  } else {
    below.type = kNetPlugin;
    below.netPlugin = {event.dataId, const_cast<void *>(event.data)};
  }
  span.handle = multiplexer_.start(span.context, below);
  if (span.handle)
    keep(event.rank, event.id, span);
}

// The GPU's work for a call. When the first stamp is reported, both are known.
void Host::onDevice(const TraceEvent &event) {
  Span span;
  if (event.phase == TracePhase::Begin) {
    Span call;
    if (!find(event.rank, event.parent, call) || !call.context)
      return;
    EventDescriptorV7 channel = descriptorOf(kKernelCh, event.rank, call.handle);
    channel.kernelCh.channelId = 0;
    channel.kernelCh.pTimer = static_cast<uint64_t>(event.deviceNs);
    span.context = call.context;
    span.handle = multiplexer_.start(call.context, channel);
    if (span.handle)
      keep(event.rank, event.id, span);
    return;
  }
  if (event.phase != TracePhase::End || !find(event.rank, event.id, span))
    return;
  StateArgsV7 args = {};
  args.kernelCh.pTimer = static_cast<uint64_t>(event.deviceNs);
  multiplexer_.record(span.handle, kKernelChStop, args);
  endCall(event);
}

void Host::state(const TraceEvent &event) {
  Span span;
  if (!find(event.rank, event.id, span))
    return;
  StateArgsV7 args = {};
  args.proxyStep.transSize = static_cast<size_t>(span.bytes);
  EventState state = span.isSend ? kProxyStepSendWait : kProxyStepRecvWait;
  if (event.phase == TracePhase::Landing)
    state = kProxyStepRecvGpuWait;
  multiplexer_.record(span.handle, state, args);
}

void Host::stopApi(Span &span) {
  multiplexer_.stop(span.launch);
  multiplexer_.stop(span.api);
  if (span.groupApi)
    multiplexer_.record(span.groupApi, kGroupEndApiStart, {});
  multiplexer_.stop(span.groupApi);
  span.launch = span.api = span.groupApi = nullptr;
}

// Issued, or the end of any span.
void Host::endCall(const TraceEvent &event) {
  Span span;
  {
    Shard &shard = shardOf(event.rank);
    std::lock_guard<std::mutex> lock(shard.mutex);
    Span *found = shard.spans.find(event.id);
    if (!found)
      return;
    span = *found;
    found->launch = found->api = found->groupApi = nullptr;
    if (event.phase == TracePhase::End)
      shard.spans.erase(event.id);
  }
  if (event.phase == TracePhase::End) {
    multiplexer_.stop(span.launch); // before the group, if no Issued was reported
    multiplexer_.stop(span.handle);
    multiplexer_.stop(span.group);
    span.launch = nullptr;
  }
  stopApi(span);
}

} // namespace coll::profiler
