// message_trace.h - reports the messages of an operation to the trace (base/trace.h).
//
// The messages of an operation with one peer in one direction are a ProxyOp; each of them is a
// ProxyStep, and the part of it that one socket moves is a NetPart. For an operation that is not
// traced, only a number is compared with 0.

#ifndef COLL_RUNTIME_BACKEND_NET_MESSAGE_TRACE_H
#define COLL_RUNTIME_BACKEND_NET_MESSAGE_TRACE_H

#include "runtime/backend/backend.h"
#include "runtime/backend/net/mesh.h"
#include "runtime/base/trace.h"

namespace coll::rt::network {

// The span of one message; 0: not traced.
using MessageSpan = uint64_t;

// Messages of one operation to or from one peer. Belongs to the thread that advances the operation.
class LaneTrace {
public:
  LaneTrace() = default;
  // `rank` is this rank, `peer` the other one.
  LaneTrace(int rank, int peer, bool isSend) : rank_(rank), peer_(peer), isSend_(isSend) {}

  // A message of `bytes` bytes begins, of `numMessages`; the first one begins the lane. Returns 0
  // if `site` is not traced.
  MessageSpan begin(const CallSite &site, size_t numMessages, int64_t bytes) {
    return __builtin_expect(site.trace != 0, 0) ? beginTraced(site, numMessages, bytes) : 0;
  }
  // The message was handed to the transport, or has arrived and is moving to its destination.
  void tell(MessageSpan message, TracePhase phase) const {
    if (__builtin_expect(message != 0, 0))
      send(TraceLevel::ProxyStep, phase, message, /*failed=*/false);
  }
  // The transport has completed `request`: reports the parts of the message.
  void parts(MessageSpan message, Mesh &mesh, const net::Request *request) const {
    if (__builtin_expect(message != 0, 0))
      tellParts(message, mesh, request);
  }
  // The message has ended; the last message ends the lane.
  void end(MessageSpan message, bool failed = false) {
    if (__builtin_expect(message != 0, 0))
      endTraced(message, failed);
  }
  // Ends the lane, if it has begun and has not ended.
  void close() {
    if (__builtin_expect(lane_ != 0, 0))
      closeTraced();
  }

private:
  MessageSpan beginTraced(const CallSite &site, size_t numMessages, int64_t bytes);
  void tellParts(MessageSpan message, Mesh &mesh, const net::Request *request) const;
  void endTraced(MessageSpan message, bool failed);
  void closeTraced();
  TraceEvent eventOf(TraceLevel level, TracePhase phase, uint64_t id) const;
  void send(TraceLevel level, TracePhase phase, uint64_t id, bool failed) const;

  uint64_t lane_ = 0;
  int32_t rank_ = -1, peer_ = -1, op_ = -1;
  bool isSend_ = false;
  int32_t begun_ = 0, left_ = 0; // messages
};

// A lane of one message, and that message.
class MessageTrace {
public:
  MessageTrace() = default;
  MessageTrace(int rank, int peer, bool isSend) : lane_(rank, peer, isSend) {}

  // The message was handed to the transport.
  void posted(const CallSite &site, int64_t bytes) {
    message_ = lane_.begin(site, 1, bytes);
    lane_.tell(message_, TracePhase::Posted);
  }
  // The transport has completed `request`.
  void done(Mesh &mesh, const net::Request *request) {
    lane_.parts(message_, mesh, request);
    lane_.end(message_);
    message_ = 0;
  }
  // The operation has ended: a message in flight has failed.
  void close() {
    lane_.end(message_, /*failed=*/true);
    message_ = 0;
  }

private:
  LaneTrace lane_;
  MessageSpan message_ = 0;
};

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_MESSAGE_TRACE_H
