// message_trace.h - tells the trace (base/trace.h) of an operation's messages.
//
// What an operation exchanges with one peer in one direction is a ProxyOp; each message of it is a
// ProxyStep, and what of the message travels on one socket a NetPart. An operation that is not
// traced costs a look at a number that is 0.

#ifndef COLL_RUNTIME_BACKEND_NET_MESSAGE_TRACE_H
#define COLL_RUNTIME_BACKEND_NET_MESSAGE_TRACE_H

#include "runtime/backend/backend.h"
#include "runtime/backend/net/mesh.h"
#include "runtime/base/trace.h"

namespace coll::rt::network {

// The span of one message; 0: not traced.
using MessageSpan = uint64_t;

// Messages of one operation to or from one peer. Belongs to whoever moves the operation on.
class LaneTrace {
public:
  LaneTrace() = default;
  // `rank` is this one, `peer` the other side's; `numMessages` will travel.
  LaneTrace(int rank, int peer, bool isSend) : rank_(rank), peer_(peer), isSend_(isSend) {}

  // A message of `bytes` bytes begins; the first begins the lane. 0 where `site` is not traced.
  MessageSpan begin(const CallSite &site, size_t numMessages, int64_t bytes) {
    return __builtin_expect(site.trace != 0, 0) ? beginTraced(site, numMessages, bytes) : 0;
  }
  // The message is with the transport, or is here and moves to its destination.
  void tell(MessageSpan message, TracePhase phase) const {
    if (__builtin_expect(message != 0, 0))
      send(TraceLevel::ProxyStep, phase, message, /*failed=*/false);
  }
  // The transport has reported that `request` is done: the parts that it travelled in.
  void parts(MessageSpan message, Mesh &mesh, const net::Request *request) const {
    if (__builtin_expect(message != 0, 0))
      tellParts(message, mesh, request);
  }
  // The message is over; with the last one, the lane.
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

  // It is with the transport.
  void posted(const CallSite &site, int64_t bytes) {
    message_ = lane_.begin(site, 1, bytes);
    lane_.tell(message_, TracePhase::Posted);
  }
  // The transport has reported that `request` is done.
  void done(Mesh &mesh, const net::Request *request) {
    lane_.parts(message_, mesh, request);
    lane_.end(message_);
    message_ = 0;
  }
  // The operation is over: a message that is under way has failed.
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
