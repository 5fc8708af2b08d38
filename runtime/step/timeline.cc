#include "runtime/step/timeline.h"

#include "runtime/base/dtype.h"
#include "runtime/base/fnv.h"
#include "runtime/profiler/host/names.h"

#include <algorithm>
#include <string_view>
#include <unistd.h>

namespace coll::rt {

using profiler::perfetto::Annotation;
using profiler::perfetto::Flow;
using profiler::perfetto::Key;
using profiler::perfetto::Level;
using profiler::perfetto::TrackId;

namespace {

// Kinds of lanes of a rank.
enum { kOperations, kMessages, kChunks, kSockets, kGpu, kGpuOperations };

} // namespace

Timeline::Timeline(profiler::perfetto::Sink &sink, const std::vector<Program> &classes,
                   const std::vector<int> &localRanks, int64_t clockOffsetNs, int64_t clockErrorNs)
    : writer_(sink, {}), clockOffsetNs_(clockOffsetNs), clockErrorNs_(clockErrorNs) {
  for (int number : localRanks) {
    auto rank = std::make_unique<Rank>();
    rank->number = number;
    for (const Program &program : classes)
      if (program.descriptor.hasRank(number))
        rank->descriptor = &program.descriptor;
    rank->process = writer_.process("rank " + std::to_string(number), number + 1, number);
    rank->program = writer_.track(rank->process, "program", 0);
    rank->lanes = {{"operations", {}, {}}, {"messages", {}, {}}, {"chunks", {}, {}},
                   {"sockets", {}, {}},    {"GPU", {}, {}},      {"GPU operations", {}, {}}};
    if (ranks_.size() <= static_cast<size_t>(number))
      ranks_.resize(static_cast<size_t>(number) + 1);
    noteClock(*rank, clockOffsetNs_, clockErrorNs_);
    ranks_[static_cast<size_t>(number)] = std::move(rank);
  }
}

Timeline::~Timeline() = default;

void Timeline::noteClock(const Rank &rank, int64_t clockOffsetNs, int64_t clockErrorNs) {
  writer_.instant(rank.program, Level::Note, "clock",
                  static_cast<uint64_t>(traceClockNs() - clockOffsetNs_),
                  {{Key::ClockOffsetNs, clockOffsetNs},
                   {Key::ClockErrorNs, clockErrorNs},
                   {Key::Pid, static_cast<int64_t>(getpid())}});
}

void Timeline::noteClock(int64_t clockOffsetNs, int64_t clockErrorNs) {
  std::lock_guard<std::mutex> lock(writing_);
  for (const std::unique_ptr<Rank> &rank : ranks_)
    if (rank)
      noteClock(*rank, clockOffsetNs, clockErrorNs);
}

Timeline::Rank *Timeline::find(int rank) {
  const bool isKnown = rank >= 0 && static_cast<size_t>(rank) < ranks_.size();
  return isKnown ? ranks_[static_cast<size_t>(rank)].get() : nullptr;
}

//===-- listening ---------------------------------------------------------------===//

void Timeline::onEvent(const TraceEvent &event) {
  Rank *rank = find(event.rank);
  if (!rank)
    return;
  switch (event.phase) {
  case TracePhase::Begin:
    return begin(*rank, event);
  case TracePhase::Issued: {
    std::lock_guard<std::mutex> lock(rank->mutex);
    if (Span *span = rank->open.find(event.id))
      span->issuedNs = event.timeNs;
    return;
  }
  case TracePhase::End:
    return end(*rank, event);
  case TracePhase::Dropped: {
    std::lock_guard<std::mutex> lock(rank->mutex);
    rank->dropped += static_cast<uint64_t>(event.number);
    return;
  }
  case TracePhase::Posted:
  case TracePhase::Landing:
    return;
  }
}

void Timeline::begin(Rank &rank, const TraceEvent &event) {
  std::lock_guard<std::mutex> lock(rank.mutex);
  Span *span = rank.open.insert(event.id);
  if (!span) {
    ++rank.dropped;
    return;
  }
  span->level = event.level;
  span->isSend = event.isSend;
  span->isReplay = event.isReplay;
  span->isCall = event.group != nullptr;
  span->deviceBeginNs = event.deviceNs;
  span->errorNs = event.errorNs;
  span->op = event.op;
  span->peer = event.peer;
  span->number = event.number;
  span->id = event.id;
  span->parent = event.parent;
  span->beginNs = event.timeNs;
  span->bytes = event.bytes;
  span->name = event.name;
  if (event.level == TraceLevel::Function && std::string_view(event.name) == "step")
    span->number = static_cast<int32_t>(rank.numSteps++);
  if (event.call)
    number(rank, event, *span);
  if (event.level == TraceLevel::Device && event.group)
    if (Span *call = rank.open.find(event.parent))
      call->deviceBeginNs = event.deviceNs;
}

// Numbers collectives of a group alike on all members, and a send like its receive.
void Timeline::number(Rank &rank, const TraceEvent &event, Span &span) {
  const TraceGroup &group = *event.group;
  span.isTransfer = event.call->isTransfer;
  span.dtype = event.call->dtype;
  span.count = event.call->count;
  span.root = event.call->root;
  span.group = group.id;
  span.numRanks = group.numRanks;
  if (!span.isTransfer) {
    span.sequence = rank.collectives[group.id]++;
    return;
  }
  const int from = event.isSend ? event.rank : event.peer;
  const int to = event.isSend ? event.peer : event.rank;
  span.sequence = rank.transfers[{group.id, from, to, event.tag}]++;
  span.flow = kFnvStart;
  for (uint64_t part : {group.id, static_cast<uint64_t>(from), static_cast<uint64_t>(to),
                        static_cast<uint64_t>(event.tag), span.sequence})
    span.flow = fnvMixed(span.flow, part);
}

void Timeline::end(Rank &rank, const TraceEvent &event) {
  std::vector<Span> spans;
  uint64_t dropped = 0;
  {
    std::lock_guard<std::mutex> lock(rank.mutex);
    const Span *open = rank.open.find(event.id);
    if (!open)
      return;
    Span span = *open;
    rank.open.erase(event.id);
    if (Span *call =
            span.isCall && span.level == TraceLevel::Device ? rank.open.find(span.parent) : nullptr)
      call->deviceEndNs = event.deviceNs;
    // A clock error must not let a span end before it begins.
    span.endNs = std::max({event.timeNs, span.beginNs, span.issuedNs});
    if (event.deviceNs != 0)
      span.deviceEndNs = event.deviceNs;
    span.failed = event.failed;
    const bool isFunction = span.level == TraceLevel::Function;
    if (rank.done.size() < kMaxSpans || isFunction)
      rank.done.push_back(span);
    else
      ++rank.dropped;
    if (!isFunction)
      return;
    spans.swap(rank.done);
    std::swap(dropped, rank.dropped);
  }
  write(rank, spans, dropped);
}

Status Timeline::finish() {
  for (const std::unique_ptr<Rank> &rank : ranks_)
    if (rank)
      write(*rank, rank->done, rank->dropped);
  std::lock_guard<std::mutex> lock(writing_);
  return writer_.flush();
}

//===-- writing -----------------------------------------------------------------===//

void Timeline::write(Rank &rank, std::vector<Span> &spans, uint64_t dropped) {
  // If two spans begin together, the outer one comes first.
  std::sort(spans.begin(), spans.end(), [](const Span &a, const Span &b) {
    return a.beginNs != b.beginNs ? a.beginNs < b.beginNs : a.id < b.id;
  });
  std::lock_guard<std::mutex> lock(writing_);
  for (const Span &span : spans)
    writeSpan(rank, span);
  if (dropped > 0)
    writer_.dropped(rank.program, static_cast<uint64_t>(traceClockNs() - clockOffsetNs_), dropped);
}

void Timeline::slice(TrackId track, Level level, const std::string &name, const Span &span,
                     int64_t endNs, std::vector<Annotation> annotations) {
  annotations.push_back({Key::Id, span.id});
  if (span.parent != 0)
    annotations.push_back({Key::Parent, span.parent});
  if (span.failed)
    annotations.push_back({Key::Flag, "failed"});
  // The arrow begins at the send, on the operations track.
  const bool joins = level == Level::P2p;
  writer_.slice(track, level, name, static_cast<uint64_t>(span.beginNs - clockOffsetNs_),
                static_cast<uint64_t>(endNs - clockOffsetNs_), annotations,
                joins ? Flow{span.flow, !span.isSend} : Flow{});
}

// The first lane that is free when the span begins.
TrackId Timeline::laneFor(Rank &rank, size_t kind, const Span &span) {
  Lanes &lanes = rank.lanes[kind];
  size_t lane = 0;
  while (lane < lanes.freeNs.size() && lanes.freeNs[lane] > span.beginNs)
    ++lane;
  if (lane == lanes.freeNs.size()) {
    const std::string suffix = lane > 0 ? " " + std::to_string(lane + 1) : "";
    lanes.freeNs.push_back(0);
    lanes.tracks.push_back(writer_.track(rank.process, lanes.name + suffix,
                                         static_cast<int32_t>(1 + kind * 100 + lane)));
  }
  lanes.freeNs[lane] = span.endNs;
  return lanes.tracks[lane];
}

std::string Timeline::nameOf(const Rank &rank, const Span &span) const {
  const OpInfo *info = rank.descriptor ? rank.descriptor->findOp(span.op) : nullptr;
  if (info)
    return info->name.empty() ? span.name : std::string(span.name) + " " + info->name;
  const Computation *computation =
      rank.descriptor ? rank.descriptor->findComputation(span.op) : nullptr;
  if (computation)
    return computation->name.empty() ? computation->kind
                                     : computation->kind + " " + computation->name;
  return span.name;
}

void Timeline::describeOp(const Rank &rank, const Span &span, std::vector<Annotation> &what) const {
  if (span.op == -1)
    return;
  what.push_back({Key::Op, span.op});
  const OpInfo *info = rank.descriptor ? rank.descriptor->findOp(span.op) : nullptr;
  const Computation *computation =
      rank.descriptor ? rank.descriptor->findComputation(span.op) : nullptr;
  if (info && !info->why.empty())
    what.push_back({Key::Reason, info->why});
  const std::string *loc = info ? &info->loc : computation ? &computation->loc : nullptr;
  if (loc && !loc->empty())
    what.push_back({Key::Location, *loc});
}

void Timeline::writeComputation(Rank &rank, const Span &span, TrackId track, Level level) {
  std::vector<Annotation> what;
  describeOp(rank, span, what);
  if (span.isReplay && span.level == TraceLevel::Launch)
    what.insert(what.end(), {{Key::GraphCaptured, true}, {Key::Step, span.number}});
  slice(track, level, nameOf(rank, span), span, span.endNs, std::move(what));
}

void Timeline::writeDevice(Rank &rank, const Span &span) {
  // A store may be a kernel of the driver.
  const Level level = span.isCall                              ? Level::KernelCh
                      : std::string_view(span.name) == "fetch" ? Level::CeBatch
                                                               : Level::Compute;
  std::vector<Annotation> what = {{Key::GpuStartNs, span.deviceBeginNs},
                                  {Key::GpuEndNs, span.deviceEndNs},
                                  {Key::ClockErrorNs, span.errorNs}};
  describeOp(rank, span, what);
  if (span.isReplay)
    what.push_back({Key::GraphCaptured, true});
  slice(laneFor(rank, span.isCall ? kGpuOperations : kGpu, span), level, nameOf(rank, span), span,
        span.endNs, std::move(what));
}

void Timeline::writeFunction(Rank &rank, const Span &span) {
  const bool isStep = std::string_view(span.name) == "step";
  if (isStep)
    slice(rank.program, Level::Step, "step " + std::to_string(span.number), span, span.endNs,
          {{Key::Step, span.number}, {Key::Rank, rank.number}});
  else
    slice(rank.program, Level::Step, span.name, span, span.endNs, {{Key::Rank, rank.number}});
}

// Records once how many ranks a communicator has.
void Timeline::nameCommunicator(Rank &rank, const Span &span) {
  if (rank.communicators.insert(span.group).second)
    writer_.instant(rank.program, Level::Note, "communicator",
                    static_cast<uint64_t>(span.beginNs - clockOffsetNs_),
                    {{Key::Comm, span.group}, {Key::Ranks, span.numRanks}});
}

// The call, until it has returned, and the operation, until it is complete.
void Timeline::writeCall(Rank &rank, const Span &span) {
  const std::string name = nameOf(rank, span);
  nameCommunicator(rank, span);
  std::vector<Annotation> what = {{Key::Rank, rank.number},
                                  {Key::Func, profiler::ncclFunction(span.name)},
                                  {Key::Datatype, dtypeName(span.dtype)},
                                  {Key::Count, span.count},
                                  {Key::Bytes, span.bytes}};
  describeOp(rank, span, what);
  const int64_t returnedNs = span.issuedNs != 0 ? span.issuedNs : span.endNs;
  // A graph's replay makes no call.
  if (!span.isReplay)
    slice(rank.program, span.isTransfer ? Level::P2pApi : Level::CollApi, name, span, returnedNs,
          what);
  else
    what.push_back({Key::GraphCaptured, true});
  what.push_back({Key::Comm, span.group});
  what.push_back({Key::Ranks, span.numRanks});
  what.push_back({Key::Seq, span.sequence});
  what.push_back({Key::EnqueuedNs, returnedNs - clockOffsetNs_});
  what.push_back({Key::Completion, span.deviceEndNs != 0 ? "kernel" : "reported"});
  if (span.deviceEndNs != 0)
    what.insert(what.end(),
                {{Key::GpuStartNs, span.deviceBeginNs}, {Key::GpuEndNs, span.deviceEndNs}});
  if (span.isTransfer)
    what.push_back({Key::Peer, span.peer});
  else
    what.push_back({Key::Root, span.root});
  slice(laneFor(rank, kOperations, span), span.isTransfer ? Level::P2p : Level::Coll, name, span,
        span.endNs, std::move(what));
}

void Timeline::writeSpan(Rank &rank, const Span &span) {
  const char *direction = span.isSend ? "send" : "recv";
  const std::string toPeer =
      std::string(span.isSend ? "to" : "from") + " rank " + std::to_string(span.peer);
  switch (span.level) {
  case TraceLevel::Function:
    return writeFunction(rank, span);
  case TraceLevel::Call:
    return writeCall(rank, span);
  case TraceLevel::Group:
    return slice(rank.program, Level::GroupApi, nameOf(rank, span), span, span.endNs,
                 {{Key::Bytes, span.bytes}, {Key::Op, span.op}});
  case TraceLevel::Wait:
    return slice(rank.program, Level::Wait, nameOf(rank, span), span, span.endNs,
                 {{Key::Op, span.op}});
  case TraceLevel::Compute:
    return writeComputation(rank, span, rank.program, Level::Compute);
  case TraceLevel::Launch:
    return writeComputation(rank, span, rank.program, Level::KernelLaunch);
  case TraceLevel::Device:
    return writeDevice(rank, span);
  case TraceLevel::ProxyOp:
    return slice(laneFor(rank, kMessages, span), Level::ProxyOp, toPeer, span, span.endNs,
                 {{Key::Peer, span.peer},
                  {Key::Direction, direction},
                  {Key::Steps, span.number},
                  {Key::ChunkBytes, span.bytes},
                  {Key::Op, span.op}});
  case TraceLevel::ProxyStep:
    return slice(laneFor(rank, kChunks, span), Level::ProxyStep, toPeer, span, span.endNs,
                 {{Key::Peer, span.peer},
                  {Key::Direction, direction},
                  {Key::Step, span.number},
                  {Key::Bytes, span.bytes},
                  {Key::Op, span.op}});
  case TraceLevel::NetPart:
    return slice(laneFor(rank, kSockets, span), Level::Net,
                 "socket " + std::to_string(span.number) + " " + toPeer, span, span.endNs,
                 {{Key::Peer, span.peer},
                  {Key::Direction, direction},
                  {Key::Bytes, span.bytes},
                  {Key::Connection, span.number}});
  }
}

} // namespace coll::rt
