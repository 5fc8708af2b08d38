#include "runtime/net/nccl_plugin/events.h"

#include "runtime/net/socket.h"

namespace coll::net::nccl {

void MessageEvents::begin(ProfilerHook hook, void *parent, uint64_t message) {
  hook_ = parent ? hook : nullptr;
  parent_ = parent;
  message_ = message;
  messageBytes_ = 0;
  count_ = 0;
}

void MessageEvents::start(Started &started, const EventSource &source, const MessagePart &part) {
  started.data = {};
  started.data.bytesOfStruct = sizeof(CollNetEvent);
  started.data.direction = source.receives ? COLL_NET_RECV : COLL_NET_SEND;
  started.data.transport = source.transport;
  started.data.device = source.device;
  started.data.connection = source.connection;
  started.data.message = message_;
  started.data.messageBytes = messageBytes_;
  started.data.stream = part.stream;
  started.data.bytes = part.bytes;
  started.data.startNs = part.startNs;
  started.event = nullptr;
  // If the profiler rejects the event, it stays null, which NCCL accepts on stop.
  hook_(&started.event, kNetEventStart, parent_, COLL_NET_EVENT_ID, &started.data);
  started.open = true;
}

void MessageEvents::stop(Started &started, const MessagePart &part) {
  if (!started.open)
    return;
  started.open = false;
  started.data.messageBytes = messageBytes_;
  started.data.endNs = part.endNs;
  started.data.failed = part.endNs ? 0 : 1;
  hook_(&started.event, kNetEventStop, parent_, COLL_NET_EVENT_ID, &started.data);
}

void MessageEvents::update(const EventSource &source, const Connection &connection,
                           const Request *request, const Result<Completion> &outcome) {
  bool done = outcome.ok() && outcome->done, over = done || !outcome.ok();
  if (done)
    messageBytes_ = outcome->bytes;
  MessagePart parts[kMaxParts];
  int count = connection.parts(request, parts, kMaxParts);
  // If the transport reports no parts, there is one event for the complete message, when it has
  // ended.
  if (count == 0 && over) {
    parts[0].bytes = messageBytes_;
    parts[0].endNs = done ? nowNs() : 0;
    count = 1;
  }
  for (; count_ < count; ++count_)
    start(parts_[static_cast<size_t>(count_)], source, parts[count_]);
  for (int i = 0; i < count_; ++i)
    if (over || parts[i].endNs)
      stop(parts_[static_cast<size_t>(i)], parts[i]);
  if (over)
    hook_ = nullptr;
}

} // namespace coll::net::nccl
