#include "runtime/backend/net/message_trace.h"

#include "runtime/net/nccl_plugin/net_event.h"

namespace coll::rt::network {

TraceEvent LaneTrace::eventOf(TraceLevel level, TracePhase phase, uint64_t id) const {
  TraceEvent event;
  event.level = level;
  event.phase = phase;
  event.isSend = isSend_;
  event.rank = rank_;
  event.op = op_;
  event.id = id;
  event.peer = peer_;
  return event;
}

void LaneTrace::send(TraceLevel level, TracePhase phase, uint64_t id, bool failed) const {
  TraceEvent event = eventOf(level, phase, id);
  event.failed = failed;
  trace(event);
}

MessageSpan LaneTrace::beginTraced(const CallSite &site, size_t numMessages, int64_t bytes) {
  if (lane_ == 0) {
    lane_ = newTraceId();
    op_ = site.op;
    begun_ = 0;
    left_ = static_cast<int32_t>(numMessages);
    TraceEvent lane = eventOf(TraceLevel::ProxyOp, TracePhase::Begin, lane_);
    lane.parent = site.trace;
    lane.name = isSend_ ? "send" : "recv";
    lane.number = left_;
    lane.bytes = bytes;
    trace(lane);
  }
  TraceEvent event = eventOf(TraceLevel::ProxyStep, TracePhase::Begin, newTraceId());
  event.parent = lane_;
  event.name = isSend_ ? "send" : "recv";
  event.number = begun_++;
  event.bytes = bytes;
  trace(event);
  return event.id;
}

// Parts are reported when the message is done; the transport has recorded their times.
void LaneTrace::tellParts(MessageSpan message, Mesh &mesh, const net::Request *request) const {
  constexpr int kMaxParts = 16;
  net::MessagePart parts[kMaxParts];
  const int count = mesh.link(peer_).connection().parts(request, parts, kMaxParts);
  CollNetEvent data = {};
  data.bytesOfStruct = sizeof(CollNetEvent);
  data.direction = isSend_ ? COLL_NET_SEND : COLL_NET_RECV;
  data.transport = mesh.transport().name();
  data.device = mesh.transport().devices().front().name.c_str();
  data.connection = static_cast<uint64_t>(peer_);
  data.message = message;
  for (int i = 0; i < count; ++i) {
    const net::MessagePart &part = parts[i];
    if (part.startNs == 0 || part.endNs < part.startNs)
      continue; // unknown times
    data.stream = part.stream;
    data.bytes = part.bytes;
    data.startNs = part.startNs;
    data.endNs = part.endNs;
    TraceEvent event = eventOf(TraceLevel::NetPart, TracePhase::Begin, newTraceId());
    event.parent = message;
    event.name = "socket";
    event.number = static_cast<int32_t>(part.stream);
    event.bytes = static_cast<int64_t>(part.bytes);
    event.timeNs = part.startNs;
    event.data = &data;
    event.dataId = COLL_NET_EVENT_ID;
    trace(event);
    event.phase = TracePhase::End;
    event.timeNs = part.endNs;
    trace(event);
  }
}

void LaneTrace::endTraced(MessageSpan message, bool failed) {
  send(TraceLevel::ProxyStep, TracePhase::End, message, failed);
  if (--left_ == 0)
    closeTraced();
}

void LaneTrace::closeTraced() {
  send(TraceLevel::ProxyOp, TracePhase::End, lane_, /*failed=*/left_ > 0);
  lane_ = 0;
}

} // namespace coll::rt::network
