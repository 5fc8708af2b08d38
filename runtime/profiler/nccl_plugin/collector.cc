#include "runtime/profiler/nccl_plugin/collector.h"

#include <cinttypes>
#include <cstdio>
#include <unistd.h>

namespace coll::profiler::plugin {

using perfetto::Key;
using perfetto::Level;

namespace {

// If a collective gets no child for this time, it counts as ended.
constexpr uint64_t kGraceNs = 2'000'000'000;

constexpr uint64_t bit(const Record &record) { return uint64_t(1) << record.type; }

bool isCall(const Record &record) {
  return bit(record) & (abi::kGroupApi | abi::kCollApi | abi::kP2pApi | abi::kKernelLaunch);
}
// Whether the event may get children after its stop.
bool isOperation(const Record &record) {
  return bit(record) & (abi::kColl | abi::kP2p | abi::kCeColl);
}
bool isKernel(const Record &record) { return bit(record) & (abi::kKernelCh | abi::kKernelPhase); }

} // namespace

Collector::Communicator &Collector::of(uint16_t number) {
  if (communicators_.size() <= number)
    communicators_.resize(number + size_t(1));
  if (!communicators_[number])
    begin(number, {}); // of events whose context is not known
  return *communicators_[number];
}

void Collector::begin(uint16_t number, const CommunicatorInfo &info) {
  if (communicators_.size() <= number)
    communicators_.resize(number + size_t(1));
  auto communicator = std::make_unique<Communicator>();
  communicator->info = info;
  char host[128] = {}, name[320];
  gethostname(host, sizeof(host) - 1);
  if (info.rank >= 0)
    std::snprintf(name, sizeof(name), "rank %d of %d, communicator %" PRIx64 "%s%.64s (%s, pid %d)",
                  info.rank, info.ranks, info.id, info.name.empty() ? "" : " ", info.name.c_str(),
                  host, getpid());
  else
    std::snprintf(name, sizeof(name), "%s (%s, pid %d)",
                  number ? "communicator" : "other communicators", host, getpid());
  communicator->process = writer_.process(name, ++processes_, std::max(0, info.rank));
  writer_.instant(communicator->process, Level::Note, "communicator", perfetto::monotonicNs(),
                  {{Key::Comm, info.id},
                   {Key::CommName, info.name},
                   {Key::Rank, info.rank},
                   {Key::Ranks, info.ranks},
                   {Key::Nodes, info.nodes},
                   {Key::Version, info.version},
                   {Key::Pid, getpid()},
                   {Key::Host, std::string_view(host)}});
  communicators_[number] = std::move(communicator);
  summary_.begin(number, info);
}

void Collector::add(const Record &record) {
  Communicator &communicator = of(Handles::communicator(record.id));
  switch (record.kind) {
  case RecordKind::Start:
    return start(communicator, record);
  case RecordKind::State:
    return state(communicator, record);
  case RecordKind::Stop:
    return stop(communicator, record);
  case RecordKind::Kernel:
    return kernel(communicator, record);
  }
}

void Collector::dropped(uint64_t events, uint64_t ns) {
  summary_.addDropped(events);
  for (auto &communicator : communicators_)
    if (communicator)
      return writer_.dropped(communicator->process, ns, events);
}

void Collector::start(Communicator &communicator, const Record &record) {
  if (communicator.open.full())
    finishUnpaired(communicator, communicator.open.oldest(), record.ns);
  OpenEvent &event = communicator.open[communicator.open.add(record)];
  if (isKernel(record)) {
    event.gpuStart = record.stamp;
    if (!record.stamp && communicator.info.version >= 4) // v3 has none
      event.start.flags |= kZeroStartStamp;
    else if (record.stamp && !communicator.gpu.sawStamp(record.stamp, record.ns))
      event.start.flags |= kClockJump;
  }
  if (Place parent = communicator.open.find(record.parent)) {
    OpenEvent &above = communicator.open[parent];
    ++above.openChildren;
    above.lastActivityNs = record.ns;
    above.kernels += bit(record) == abi::kKernelCh;
    above.proxies += bit(record) == abi::kProxyOp;
    // Operations of a replayed graph may be reported after they have run, so their call is no
    // bound.
    if (isOperation(record))
      event.start.isSend |= isCall(above.start) && above.start.isSend;
    if (isKernel(record) && record.stamp && isOperation(above.start) && !above.start.isSend &&
        !communicator.gpu.sawStart(record.stamp, above.start.ns))
      event.start.flags |= kClockJump;
  } else if (record.parent && !isCall(record) && !isOperation(record)) {
    event.start.flags |= kLateChild;
  }
  // Calls are nested on their thread, so they are begun now.
  if (isCall(record))
    writeCall(communicator, event);
}

// Its start may already have been reported, because it took long.
void Collector::kernel(Communicator &communicator, const Record &record) {
  Record part = record;
  part.kind = RecordKind::Start;
  if (!communicator.open.find(record.id))
    start(communicator, part);
  part.stamp = record.count;
  state(communicator, part);
  stop(communicator, part);
}

// Adds the time since the last state to that state's sum.
void Collector::leaveState(OpenEvent &event, uint64_t ns) {
  const uint64_t since = event.stateNs ? ns - event.stateNs : 0;
  switch (event.state) {
  case abi::kProxyStepSendGpuWait:
  case abi::kProxyStepRecvGpuWait:
    event.waits.gpuNs += since;
    break;
  case abi::kProxyStepSendPeerWait:
  case abi::kProxyStepRecvWait:
    event.waits.peerNs += since;
    break;
  case abi::kProxyStepSendWait:
    event.waits.transferNs += since;
    break;
  case abi::kProxyStepRecvFlushWait:
    event.waits.flushNs += since;
    break;
  default:
    break;
  }
}

void Collector::state(Communicator &communicator, const Record &record) {
  Place place = communicator.open.find(record.id);
  if (!place) {
    ++unpaired_; // after the stop, or of an event that was lost
    return;
  }
  OpenEvent &event = communicator.open[place];
  event.lastActivityNs = record.ns;
  if (bit(event.start) == abi::kProxyStep) {
    leaveState(event, record.ns);
    event.state = record.state;
    event.stateNs = record.ns;
    event.bytes = std::max(event.bytes, record.count);
  } else if (isKernel(event.start)) {
    event.gpuStop = record.stamp;
    if (record.stamp && !communicator.gpu.sawStamp(record.stamp, record.ns))
      event.start.flags |= kClockJump;
  } else if (bit(event.start) == abi::kProxyCtrl) {
    event.state = record.state;
    event.start.number = std::max(event.start.number, record.number);
  } else if (bit(event.start) == abi::kProxyOp) {
    event.bytes = std::max(event.bytes, record.count);
  }
}

void Collector::stop(Communicator &communicator, const Record &record) {
  Place place = communicator.open.find(record.id);
  if (!place) {
    ++unpaired_;
    return;
  }
  OpenEvent &event = communicator.open[place];
  if (event.stopNs) { // stopped twice: the first one counts
    ++unpaired_;
    return;
  }
  event.stopNs = event.lastActivityNs = record.ns;
  if (!isOperation(event.start))
    return finishEvent(communicator, place, record.ns);
  if (hasEnded(communicator, event))
    finishEvent(communicator, place, std::max(event.stopNs, event.lastChildNs));
}

bool Collector::hasEnded(const Communicator &communicator, const OpenEvent &event) const {
  const bool expectsKernels = communicator.info.mask & abi::kKernelCh;
  return event.stopNs && event.openChildren <= 0 && expectsKernels && event.start.channel > 0 &&
         event.kernels >= event.start.channel;
}

void Collector::tellParent(Communicator &communicator, const OpenEvent &child, uint64_t endNs) {
  Place place = communicator.open.find(child.start.parent);
  if (!place)
    return;
  OpenEvent &parent = communicator.open[place];
  --parent.openChildren;
  parent.lastActivityNs = parent.lastChildNs = std::max(parent.lastChildNs, endNs);
  if (child.gpuStart && child.gpuStop >= child.gpuStart) {
    parent.gpuStart = parent.gpuStart ? std::min(parent.gpuStart, child.gpuStart) : child.gpuStart;
    parent.gpuStop = std::max(parent.gpuStop, child.gpuStop);
  }
  if (bit(child.start) == abi::kProxyStep) {
    parent.waits.add(child.waits);
    parent.bytes += child.bytes;
  } else if (bit(child.start) == abi::kProxyOp) {
    // The proxy op that waited longest represents the collective.
    if (child.waits.peerNs > parent.waits.peerNs)
      parent.waits = child.waits;
  }
  if (isOperation(parent.start) && hasEnded(communicator, parent))
    finishEvent(communicator, place, std::max(parent.stopNs, parent.lastChildNs));
}

void Collector::finishEvent(Communicator &communicator, Place place, uint64_t endNs) {
  OpenEvent event = communicator.open[place];
  communicator.open.remove(place);
  if (event.state >= 0 && bit(event.start) == abi::kProxyStep)
    leaveState(event, endNs);
  if (isCall(event.start))
    endCall(communicator, event, endNs);
  else if (isOperation(event.start))
    writeOperation(communicator, event, endNs);
  else if (bit(event.start) == abi::kProxyOp)
    writeProxyOp(communicator, event, endNs);
  else if (bit(event.start) == abi::kProxyStep)
    writeProxyStep(communicator, event, endNs);
  else if (isKernel(event.start))
    writeKernel(communicator, event, endNs);
  else
    writeOther(communicator, event, endNs);
  tellParent(communicator, event, endNs);
}

// Ends an operation that gets no more children, or an event that never stopped.
void Collector::finishUnpaired(Communicator &communicator, Place place, uint64_t endNs) {
  OpenEvent &event = communicator.open[place];
  if (!event.stopNs || event.openChildren > 0)
    event.start.flags |= kUnfinished;
  const uint64_t known = std::max({event.stopNs, event.lastChildNs, event.start.ns});
  finishEvent(communicator, place, event.stopNs ? known : std::max(known, endNs));
}

void Collector::sweep(uint64_t nowNs) {
  for (auto &communicator : communicators_) {
    if (!communicator)
      continue;
    OpenEvents &open = communicator->open;
    for (Place place = open.oldest(); place;) {
      const OpenEvent &event = open[place];
      const Place next = event.newer;
      // If the pool is nearly full, a collective whose children have all ended is written at once.
      const uint64_t grace = open.nearlyFull() ? kGraceNs / 20 : kGraceNs;
      if (isOperation(event.start) && event.stopNs && event.openChildren <= 0 &&
          nowNs > event.lastActivityNs + grace)
        finishUnpaired(*communicator, place, nowNs);
      place = next;
    }
  }
}

void Collector::finish(uint16_t number, uint64_t nowNs) {
  Communicator &communicator = of(number);
  // Children before their parents, operations in their order, calls from the innermost outwards. A
  // last child may end its operation, so events are looked up by their handles.
  OpenEvents &open = communicator.open;
  std::vector<uint64_t> children, operations, calls;
  for (Place place = open.oldest(); place; place = open[place].newer) {
    const Record &start = open[place].start;
    (isOperation(start) ? operations : isCall(start) ? calls : children).push_back(start.id);
  }
  std::reverse(children.begin(), children.end());
  std::reverse(calls.begin(), calls.end());
  for (const std::vector<uint64_t> *ids : {&children, &operations, &calls})
    for (uint64_t id : *ids)
      if (Place place = open.find(id))
        finishUnpaired(communicator, place, nowNs);
  if (unpaired_)
    writer_.instant(communicator.process, Level::Note, "unpaired states and stops", nowNs,
                    {{Key::Count, unpaired_}});
  unpaired_ = 0;
  communicators_[number].reset();
}

void Collector::finishAll(uint64_t nowNs) {
  for (size_t number = 0; number < communicators_.size(); ++number)
    if (communicators_[number])
      finish(static_cast<uint16_t>(number), nowNs);
}

} // namespace coll::profiler::plugin
