// slices.cc - the slices that the collector writes: their tracks, names and annotations.

#include "runtime/profiler/nccl_plugin/collector.h"

#include <cstdio>

namespace coll::profiler::plugin {

using perfetto::Annotation;
using perfetto::Key;
using perfetto::Level;

namespace {

constexpr uint64_t bit(const Record &record) { return uint64_t(1) << record.type; }

Level levelOf(const Record &record) {
  switch (bit(record)) {
  case abi::kGroup:
    return Level::Group;
  case abi::kColl:
    return Level::Coll;
  case abi::kP2p:
    return Level::P2p;
  case abi::kProxyOp:
    return Level::ProxyOp;
  case abi::kProxyStep:
    return Level::ProxyStep;
  case abi::kProxyCtrl:
    return Level::ProxyCtrl;
  case abi::kKernelCh:
    return Level::KernelCh;
  case abi::kNetPlugin:
    return Level::Net;
  case abi::kGroupApi:
    return Level::GroupApi;
  case abi::kCollApi:
    return Level::CollApi;
  case abi::kP2pApi:
    return Level::P2pApi;
  case abi::kKernelLaunch:
    return Level::KernelLaunch;
  case abi::kCeColl:
    return Level::CeColl;
  case abi::kCeSync:
    return Level::CeSync;
  case abi::kCeBatch:
    return Level::CeBatch;
  default:
    return Level::KernelPhase;
  }
}

std::string describe(uint16_t flags) {
  static constexpr std::pair<Flags, const char *> kTexts[] = {
      {kTypeCorrected, "type corrected"},
      {kForeignParent, "parent of another process"},
      {kForeignContext, "context of another process"},
      {kZeroStartStamp, "no start stamp"},
      {kZeroStopStamp, "no stop stamp"},
      {kReversedStamps, "stop stamp before start stamp"},
      {kUnfinished, "unfinished"},
      {kClockJump, "GPU clock jumped"},
      {kLateChild, "parent not known"},
      {kStampsOverlap, "stamps overlap those of an earlier call"}};
  std::string text;
  for (auto [flag, name] : kTexts)
    if (flags & flag)
      text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::string_view controlName(int16_t state) {
  switch (state) {
  case abi::kProxyCtrlIdle:
    return "idle";
  case abi::kProxyCtrlActive:
    return "active";
  case abi::kProxyCtrlSleep:
    return "sleep";
  case abi::kProxyCtrlWakeup:
    return "wakeup";
  case abi::kProxyCtrlAppend:
  case abi::kProxyCtrlAppendEnd:
    return "append";
  default:
    return "progress thread";
  }
}

} // namespace

Collector::Thread &Collector::thread(Communicator &communicator, uint64_t id) {
  const int number = static_cast<int>(Handles::ring(id));
  Thread &thread = communicator.threads[number];
  if (!thread.track)
    thread.track =
        writer_.track(communicator.process, "calls of thread " + std::to_string(number), 1);
  return thread;
}

void Collector::endCall(Communicator &communicator, const OpenEvent &event, uint64_t endNs) {
  Thread &thread = this->thread(communicator, event.start.id);
  for (auto &[id, hasStopped] : thread.calls)
    hasStopped |= id == event.start.id;
  while (!thread.calls.empty() && thread.calls.back().second) {
    writer_.end(thread.track, endNs);
    thread.calls.pop_back();
  }
}

Lanes &Collector::lanes(Communicator &communicator, const OpenEvent &event) {
  const Record &start = event.start;
  const Level level = levelOf(start);
  const bool hasChannel = bit(start) & (abi::kProxyOp | abi::kKernelCh | abi::kKernelPhase);
  const int number =
      hasChannel ? start.channel * 2 + (bit(start) == abi::kProxyOp && start.isSend) : 0;
  const std::pair<int, int> key(static_cast<int>(level), number);
  auto found = communicator.lanes.find(key);
  if (found != communicator.lanes.end())
    return found->second;
  std::string name(perfetto::levelName(level));
  if (hasChannel)
    name += " channel " + std::to_string(start.channel);
  if (bit(start) == abi::kProxyOp)
    name += start.isSend ? " send" : " recv";
  const int order = static_cast<int>(level) * 1000 + number + 2;
  return communicator.lanes.emplace(key, Lanes(communicator.process, name, order)).first->second;
}

void Collector::annotateIdentity(const Communicator &communicator, const OpenEvent &event) {
  notes_.clear();
  notes_.emplace_back(Key::Rank, communicator.info.rank);
  notes_.emplace_back(Key::Comm, communicator.info.id);
  if (event.start.userTag && bit(event.start) != abi::kNetPlugin)
    notes_.emplace_back(Key::UserTag, event.start.userTag);
}

void Collector::slice(Communicator &communicator, OpenEvent &event, std::string_view name,
                      uint64_t startNs, uint64_t endNs) {
  if (event.start.flags) {
    flags_ = describe(event.start.flags);
    notes_.emplace_back(Key::Flag, flags_);
  }
  perfetto::TrackId track = lanes(communicator, event).take(writer_, startNs, endNs);
  writer_.slice(track, levelOf(event.start), name, startNs, endNs, notes_);
}

void Collector::writeCall(Communicator &communicator, OpenEvent &event) {
  const Record &start = event.start;
  annotateIdentity(communicator, event);
  if (bit(start) == abi::kGroupApi)
    notes_.emplace_back(Key::GroupDepth, start.number);
  if (bit(start) & (abi::kCollApi | abi::kP2pApi)) {
    notes_.emplace_back(Key::Count, start.count);
    notes_.emplace_back(Key::Datatype, text(start.datatype));
  }
  if (start.isSend)
    notes_.emplace_back(Key::GraphCaptured, true);
  Thread &thread = this->thread(communicator, start.id);
  thread.calls.emplace_back(start.id, false);
  std::string_view name = bit(start) == abi::kGroupApi       ? "group"
                          : bit(start) == abi::kKernelLaunch ? "kernel launch"
                                                             : text(start.func);
  writer_.begin(thread.track, levelOf(start), name, start.ns, notes_);
}

void Collector::writeOperation(Communicator &communicator, OpenEvent &event, uint64_t endNs) {
  const Record &start = event.start;
  const bool isColl = bit(start) != abi::kP2p;
  const uint64_t bytes =
      bytesOf(text(start.func), start.count, text(start.datatype), communicator.info.ranks);
  annotateIdentity(communicator, event);
  if (isColl)
    notes_.emplace_back(Key::Seq, start.seq);
  notes_.emplace_back(Key::Count, start.count);
  notes_.emplace_back(Key::Datatype, text(start.datatype));
  notes_.emplace_back(Key::Bytes, bytes);
  notes_.emplace_back(isColl ? Key::Root : Key::Peer, start.peer);
  if (start.algorithm)
    notes_.emplace_back(Key::Algorithm, text(start.algorithm));
  if (start.protocol)
    notes_.emplace_back(Key::Protocol, text(start.protocol));
  if (start.variant)
    notes_.emplace_back(Key::Variant, text(start.variant));
  notes_.emplace_back(Key::Channels, start.channel);
  notes_.emplace_back(Key::EnqueuedNs, event.stopNs);
  notes_.emplace_back(Key::Completion, event.kernels   ? "kernel"
                                       : event.proxies ? "proxy"
                                                       : "enqueued");
  if (event.gpuStart) {
    notes_.emplace_back(Key::GpuStartNs, event.gpuStart);
    notes_.emplace_back(Key::GpuEndNs, event.gpuStop);
  }
  if (event.proxies) {
    notes_.emplace_back(Key::PeerWaitNs, event.waits.peerNs);
    notes_.emplace_back(Key::GpuWaitNs, event.waits.gpuNs);
    notes_.emplace_back(Key::TransferNs, event.waits.transferNs);
  }
  slice(communicator, event, text(start.func), start.ns, endNs);
  summary_.add(Handles::communicator(start.id),
               {text(start.func), bytes, endNs - start.ns,
                event.gpuStart ? event.gpuStop - event.gpuStart : 0, event.waits.peerNs});
}

void Collector::writeProxyOp(Communicator &communicator, OpenEvent &event, uint64_t endNs) {
  const Record &start = event.start;
  annotateIdentity(communicator, event);
  // Names the collective to which it belongs, which is still open, because this is one of its
  // children.
  if (uint32_t parent = communicator.open.find(start.parent))
    if (bit(communicator.open[parent].start) == abi::kColl)
      notes_.emplace_back(Key::Seq, communicator.open[parent].start.seq);
  notes_.emplace_back(Key::Direction, start.isSend ? "send" : "recv");
  notes_.emplace_back(Key::Peer, start.peer);
  notes_.emplace_back(Key::Channel, start.channel);
  notes_.emplace_back(Key::Steps, start.number);
  notes_.emplace_back(Key::ChunkBytes, start.chunkBytes);
  notes_.emplace_back(Key::Bytes, event.bytes);
  notes_.emplace_back(Key::PeerWaitNs, event.waits.peerNs);
  notes_.emplace_back(Key::GpuWaitNs, event.waits.gpuNs);
  notes_.emplace_back(Key::TransferNs, event.waits.transferNs);
  notes_.emplace_back(Key::FlushNs, event.waits.flushNs);
  if (start.flags & kForeignParent)
    notes_.emplace_back(Key::Pid, start.stamp);
  slice(communicator, event, start.isSend ? "send" : "recv", start.ns, endNs);
}

void Collector::writeProxyStep(Communicator &communicator, OpenEvent &event, uint64_t endNs) {
  annotateIdentity(communicator, event);
  notes_.emplace_back(Key::Step, event.start.number);
  notes_.emplace_back(Key::Bytes, event.bytes);
  notes_.emplace_back(Key::PeerWaitNs, event.waits.peerNs);
  notes_.emplace_back(Key::GpuWaitNs, event.waits.gpuNs);
  notes_.emplace_back(Key::TransferNs, event.waits.transferNs);
  notes_.emplace_back(Key::FlushNs, event.waits.flushNs);
  slice(communicator, event, "step", event.start.ns, endNs);
}

// NCCL has room for the stamps of 64 calls of a channel. If its progress thread is further behind,
// calls get the stamps of later calls, and the first call with its own stamps is before them. A
// send or receive may also get almost the stamps of the call before it. Equal stamps are correct:
// sends and receives of one group run in one kernel.
void Collector::checkOrder(Communicator &communicator, OpenEvent &event) {
  if (bit(event.start) != abi::kKernelCh || !event.gpuStart || !event.gpuStop)
    return;
  Stamps &last = communicator.lastOfChannel[event.start.channel];
  if (event.gpuStart != last.start || event.gpuStop != last.stop)
    last = {event.gpuStart, event.gpuStop, event.gpuStart < last.stop};
  if (last.overlap)
    event.start.flags |= kStampsOverlap;
}

// Uses the GPU's times, converted to the host's clock; the host's times if there are no stamps.
void Collector::writeKernel(Communicator &communicator, OpenEvent &event, uint64_t endNs) {
  Record &start = event.start;
  checkOrder(communicator, event);
  const bool hasStamps = communicator.info.version >= 4;
  if (!event.gpuStop && hasStamps)
    start.flags |= kZeroStopStamp;
  else if (event.gpuStop < event.gpuStart)
    start.flags |= kReversedStamps;
  uint64_t beginNs = start.ns;
  annotateIdentity(communicator, event);
  notes_.emplace_back(Key::Channel, start.channel);
  notes_.emplace_back(Key::GpuStartNs, event.gpuStart);
  notes_.emplace_back(Key::GpuEndNs, event.gpuStop);
  const uint16_t unusable = kZeroStartStamp | kZeroStopStamp | kReversedStamps | kClockJump;
  if (hasStamps && !(start.flags & unusable) && communicator.gpu.known()) {
    beginNs = communicator.gpu.toHost(event.gpuStart);
    endNs = communicator.gpu.toHost(event.gpuStop);
    notes_.emplace_back(Key::ClockErrorNs, communicator.gpu.errorNs());
  } else {
    event.gpuStart = event.gpuStop = 0; // also excludes them from the collective's sum
  }
  slice(communicator, event,
        bit(start) == abi::kKernelCh ? std::string_view("kernel channel") : text(start.func),
        beginNs, endNs);
}

void Collector::writeOther(Communicator &communicator, OpenEvent &event, uint64_t endNs) {
  const Record &start = event.start;
  annotateIdentity(communicator, event);
  std::string_view name = perfetto::levelName(levelOf(start));
  if (bit(start) == abi::kProxyCtrl) {
    name = controlName(event.state);
    notes_.emplace_back(Key::Count, start.number);
  } else if (bit(start) == abi::kNetPlugin) {
    name = start.func ? text(start.func) : "network";
    notes_.emplace_back(Key::Bytes, start.count);
    if (start.variant)
      notes_.emplace_back(Key::Device, text(start.variant));
    notes_.emplace_back(Key::Connection, start.peer);
    notes_.emplace_back(Key::Message, start.userTag);
    if (start.stamp != 0 && start.stamp <= start.ns) {
      notes_.emplace_back(Key::ProxyDelayNs, start.ns - start.stamp);
      summary_.addProxyDelay(start.ns - start.stamp);
    }
  } else if (bit(start) == abi::kCeBatch) {
    notes_.emplace_back(Key::Count, start.number);
    notes_.emplace_back(Key::Bytes, start.count);
  } else if (bit(start) == abi::kCeSync) {
    notes_.emplace_back(Key::Ranks, start.number);
  }
  slice(communicator, event, name, start.ns, endNs);
}

} // namespace coll::profiler::plugin
