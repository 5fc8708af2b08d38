// Large messages that are sent without asking: because the peer has announced the receive, or
// within its credit; in the latter case the parts may wait in their sockets for a receive.

#include "runtime/net/tcp/connection.h"

#include <algorithm>

namespace coll::net::tcp {

using wire::Frame;
using wire::FrameCode;
using wire::FrameType;

namespace {

// Smaller messages are fast enough if they are announced first.
constexpr uint64_t kPushBytes = 64 << 10;

Status violation(const char *what) { return {kCollPeer, std::string("protocol: ") + what}; }

} // namespace

// ===-- announced receives -----------------------------------------------------------===//

// Takes the peer's announced receive for a message that is about to be sent; each one once.
std::optional<TcpConnection::ReadyReceive> TcpConnection::takeReady(uint64_t tag, uint64_t number) {
  return takeFirst(ready_, [&](const ReadyReceive &ready) {
    return ready.tag == tag && ready.number == number;
  });
}

// Announces a receive to the peer if large messages arrive with its tag. Small messages are always
// sent at once.
void TcpConnection::tell(TcpRequest &request, Batch &batch) {
  Numbers::Tag *counted = request.number ? received_.find(request.tag) : nullptr;
  if (!counted || !counted->large || request.capacity <= wire::kSmallBytes)
    return;
  Frame frame;
  frame.type = FrameType::Ready;
  frame.id = request.id();
  frame.tag = request.tag;
  frame.key = request.number;
  frame.bytes = request.capacity;
  request.told = true;
  request.patience = TcpRequest::kToldPatience;
  batch.push_back({0, outgoingFrame(frame)});
}

// Finds the message for a receive that the peer announced before it saw the announcement of the
// message. The peer does not answer that announcement if the message fits.
TcpRequest *TcpConnection::takeAsked(const Frame &ready) {
  return takeFirst(asked_,
                   [&](const TcpRequest *one) {
                     return one->tag == ready.tag && one->number == ready.key &&
                            fitsTold(one->total, ready.bytes);
                   })
      .value_or(nullptr);
}

Status TcpConnection::onReady(const Frame &frame, Batch &batch) {
  Numbers::Tag *counted = sent_.find(frame.tag);
  if (!counted)
    return {};
  counted->told = true;
  if (frame.key <= counted->count) {
    // Otherwise the message was already sent before this frame arrived.
    if (TcpRequest *request = takeAsked(frame)) {
      request->open = false;
      sendParts(*request, dataFrame(frame.id, request->total, frame.key), batch);
    }
    return {};
  }
  if (ready_.size() >= kMaxRequests)
    return violation("more receives than a peer may have");
  ready_.push_back({frame.tag, frame.key, frame.id, frame.bytes});
  return {};
}

// Whether the peer needs no answer: it has seen, or will see, the announcement of the receive. Its
// data may already have arrived on other streams.
bool TcpConnection::isAnswered(const Frame &rts) {
  if (rts.key == 0)
    return false;
  if (takeFirst(overtaken_, [&](const Announcement &one) {
        return one.tag == rts.tag && one.number == rts.key;
      }))
    return true;
  auto it = std::find_if(posted_.begin(), posted_.end(), [&](const TcpRequest *one) {
    return one->told && one->tag == rts.tag && one->number == rts.key &&
           fitsTold(rts.bytes, one->capacity);
  });
  if (it == posted_.end())
    return false;
  (*it)->announced = true;
  return true;
}

// Takes the first part of a message that was not announced.
bool TcpConnection::takeTold(TcpRequest &request, const Frame &data) {
  uint64_t total = data.tag;
  if (!fitsTold(total, request.capacity) || overtaken_.size() >= kMaxRequests)
    return false;
  if (data.key != 0 && !request.announced)
    overtaken_.push_back({request.tag, request.number});
  posted_.erase(std::find(posted_.begin(), posted_.end(), &request));
  request.told = false;
  request.open = true;
  request.total = total;
  request.remaining = total;
  return true;
}

//===-- parts without asking: the sender -------------------------------------------===//

// Parts may overtake each other, so both sides must count.
bool TcpConnection::mayPush(const Numbers::Tag *counted, uint64_t bytes) const {
  return shared_.options.manyConnections && counted && counted->told && !shared_.oneSocket &&
         bytes > kPushBytes && bytes <= windowBytes_ && windowMessages_ > 0;
}

void TcpConnection::push(TcpRequest &request, uint64_t tag, uint64_t number, Batch &batch) {
  windowBytes_ -= request.total;
  --windowMessages_;
  Frame frame;
  frame.type = FrameType::Push;
  frame.tag = tag;
  frame.key = number;
  frame.id = request.total;
  sendParts(request, frame, batch);
}

//===-- the receiver --------------------------------------------------------------===//

// From now on the message's parts are read into the receive's buffers.
void TcpConnection::claim(TcpRequest &request, Unexpected &message) {
  request.total = message.bytes;
  if (message.bytes > request.capacity) {
    message.refused = true;
    request.badPart = static_cast<uint32_t>(FrameCode::Truncated);
    request.finish();
  } else {
    message.claimed = &request;
    request.remaining = message.bytes;
    request.patience = TcpRequest::kDataPatience;
  }
  for (size_t i = 0; i < streams_.size(); ++i)
    if (message.waiting >> i & 1)
      streams_[i]->resume();
  message.waiting = 0;
}

// Sets the destination of the payload that a stream is about to read.
void TcpConnection::place(int stream, Sink &sink) {
  std::shared_ptr<Unexpected> message = sink.unexpected;
  if (message->data) {
    sink.kind = Sink::Kind::Unexpected;
    return;
  }
  if (!message->claimed && !message->refused) {
    sink.kind = Sink::Kind::Waiting;
    message->waiting |= 1u << stream;
    return;
  }
  sink.kind = message->refused ? Sink::Kind::Discard : Sink::Kind::Request;
  sink.request = message->claimed;
  if (sink.request)
    sink.part = sink.request->addPart(static_cast<uint32_t>(stream), sink.remaining);
  sink.unexpected.reset();
  message->placed += sink.remaining;
  if (message->placed == message->bytes)
    unexpected_.remove(message);
}

Status TcpConnection::onPush(int stream, const Frame &frame, Sink &sink, Batch &batch) {
  auto it = std::find_if(
      unexpected_.begin(), unexpected_.end(), [&](const std::shared_ptr<Unexpected> &known) {
        return known->pushed && known->tag == frame.tag && known->number == frame.key;
      });
  bool isFirst = it == unexpected_.end();
  if (isFirst && (frame.key == 0 || eagerBytes_ + frame.id > wire::kEagerWindowBytes ||
                  eagerMessages_ + 1 > wire::kEagerWindowMessages))
    return violation("more messages than allowed");
  if (isFirst) {
    eagerBytes_ += frame.id;
    ++eagerMessages_;
    noteSize(frame.tag, true);
    it = unexpected_.insert(unexpected_.end(), std::make_shared<Unexpected>());
    (*it)->pushed = true;
    (*it)->tag = frame.tag;
    (*it)->number = frame.key;
    (*it)->bytes = frame.id;
  }
  Unexpected &message = **it;
  if (message.bytes != frame.id || frame.bytes == 0 || frame.offset > message.bytes ||
      frame.bytes > message.bytes - frame.offset || frame.bytes > message.bytes - message.promised)
    return violation("a part out of range");
  message.promised += frame.bytes;
  sink.unexpected = *it;
  sink.offset = frame.offset;
  sink.remaining = frame.bytes;
  if (isFirst)
    if (TcpRequest *request = takePosted(frame.tag, frame.key)) {
      creditEager(message.bytes, batch);
      claim(*request, message);
    }
  place(stream, sink);
  return {};
}

} // namespace coll::net::tcp
