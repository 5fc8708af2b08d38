// Handles the frames of a peer, which may be hostile.

#include "runtime/net/tcp/connection.h"

#include <algorithm>

namespace coll::net::tcp {

using wire::Frame;
using wire::FrameCode;
using wire::FrameType;

namespace {

Status violation(const char *what) { return {kCollPeer, std::string("protocol: ") + what}; }

// An acknowledgement of a write or, with `tag` 1, the answer to a read without data.
Outgoing acknowledgement(uint64_t id, FrameCode code, bool ofRead) {
  Frame frame;
  frame.type = FrameType::Ack;
  frame.code = code;
  frame.id = id;
  frame.tag = ofRead ? 1 : 0;
  return outgoingFrame(frame);
}

} // namespace

Status TcpConnection::onFrame(int stream, const Frame &frame, Sink &sink) {
  bool carriesData = frame.type == FrameType::Write || frame.type == FrameType::Push;
  if (frame.type != FrameType::Data && carriesData != (stream > 0))
    return violation("a frame on the wrong stream");
  Batch batch;
  Status outcome;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    switch (frame.type) {
    case FrameType::Eager:
      outcome = onEager(frame, sink, batch);
      break;
    case FrameType::Rts:
      outcome = onRts(frame, batch);
      break;
    case FrameType::Cts:
      outcome = onCts(frame, batch);
      break;
    case FrameType::Data:
      outcome = onData(stream, frame, sink);
      break;
    case FrameType::Credit:
      outcome = onCredit(frame);
      break;
    case FrameType::Write:
      onWrite(frame, sink);
      break;
    case FrameType::Read:
      outcome = onRead(frame, batch);
      break;
    case FrameType::Ack:
      outcome = onAck(frame);
      break;
    case FrameType::Push:
      outcome = onPush(stream, frame, sink, batch);
      break;
    case FrameType::Ready:
      outcome = onReady(frame, batch);
      break;
    }
  }
  if (sink.kind != Sink::Kind::None)
    sink.frame = frame;
  if (sink.kind == Sink::Kind::Discard && frame.type == FrameType::Write)
    sink.frame.code = FrameCode::BadKey;
  if (outcome.ok() && !sendReplies(stream, batch))
    return violation("the peer does not read what is sent to it");
  return outcome;
}

// Control frames are sent together after everything that has arrived was read. Data is written by
// the other threads.
bool TcpConnection::sendReplies(int stream, Batch &batch) {
  bool fits = true;
  for (ToSend &item : batch)
    fits &= streams_[item.stream]->enqueue(std::move(item.outgoing), item.stream == 0 && stream == 0
                                                                         ? When::AfterReading
                                                                         : When::Soon);
  return fits;
}

bool TcpConnection::onPayload(Sink &sink) {
  switch (sink.kind) {
  case Sink::Kind::Request:
    sink.request->endPart(sink.part);
    sink.request->finishPart(sink.frame.bytes);
    return true;
  case Sink::Kind::Unexpected: {
    std::lock_guard<std::mutex> lock(mutex_);
    sink.unexpected->arrived += sink.frame.bytes;
    if (sink.unexpected->arrived < sink.unexpected->bytes)
      return true;
    sink.unexpected->complete = true;
    if (!sink.unexpected->claimed)
      return true;
    deliver(*sink.unexpected->claimed, *sink.unexpected);
    unexpected_.remove(sink.unexpected);
    return true;
  }
  case Sink::Kind::Region:
  case Sink::Kind::Discard:
    if (sink.frame.type != FrameType::Write)
      return true;
    return streams_[0]->enqueue(acknowledgement(sink.frame.id, sink.frame.code, false), When::Now);
  case Sink::Kind::Waiting:
  case Sink::Kind::None:
    break;
  }
  return true;
}

Frame dataFrame(uint64_t receiverId, uint64_t total, uint64_t announced) {
  Frame frame;
  frame.key = announced;
  frame.type = FrameType::Data;
  frame.id = receiverId;
  frame.tag = total;
  return frame;
}

//===-- messages ----------------------------------------------------------------===//

namespace {

// If one side does not count, only the order decides.
bool belongTogether(uint64_t message, uint64_t receive) {
  return message == receive || message == 0 || receive == 0;
}

} // namespace

TcpConnection::Numbers::Tag *TcpConnection::Numbers::find(uint64_t tag) {
  for (Tag &known : tags_)
    if (known.tag == tag)
      return &known;
  if (tags_.size() == kPlaces)
    return nullptr;
  tags_.push_back({tag, 0, false, false});
  return &tags_.back();
}

TcpRequest *TcpConnection::takePosted(uint64_t tag, uint64_t number) {
  std::optional<TcpRequest *> request = takeFirst(posted_, [&](const TcpRequest *one) {
    return one->tag == tag && belongTogether(number, one->number);
  });
  if (!request)
    return nullptr;
  (*request)->told = false;
  return *request;
}

// Sends at most one part per stream, each with a header like `part`.
void TcpConnection::sendParts(TcpRequest &request, Frame part, Batch &batch) {
  if (!request.large)
    becomeLarge(request);
  for (const Extent &stripe : stripes(request.total)) {
    part.offset = stripe.offset;
    part.bytes = stripe.bytes;
    bool onControl = shared_.oneSocket || request.total <= wire::kSmallBytes;
    size_t stream = onControl ? 0 : nextStream(stripe.bytes);
    if (stream > 0)
      request.patience = TcpRequest::kDataPatience;
    Outgoing outgoing = outgoingPart(part, request, stripe.offset);
    outgoing.part = request.addPart(static_cast<uint32_t>(stream), stripe.bytes);
    batch.push_back({stream, std::move(outgoing)});
  }
  request.remaining = batch.size();
}

// Copies a complete small message into a receive.
void TcpConnection::deliver(TcpRequest &request, const Unexpected &message) {
  request.total = message.bytes;
  if (message.bytes > request.capacity)
    request.badPart = static_cast<uint32_t>(FrameCode::Truncated);
  else
    request.scatter(message.data.get(), message.bytes);
  request.finish();
}

// Gives a new receive the oldest message with its tag, if there is one.
bool TcpConnection::matchUnexpected(TcpRequest &request, Batch &batch) {
  auto it = std::find_if(
      unexpected_.begin(), unexpected_.end(), [&](const std::shared_ptr<Unexpected> &message) {
        return message->tag == request.tag && !message->claimed && !message->refused &&
               belongTogether(message->number, request.number);
      });
  if (it == unexpected_.end())
    return false;
  std::shared_ptr<Unexpected> message = *it;
  if (message->pushed && !message->data) {
    creditEager(message->bytes, batch);
    claim(request, *message);
    return true;
  }
  if (!message->eager) {
    unexpected_.erase(it);
    --announced_;
    clearToSend(request, message->senderId, message->bytes, batch);
    return true;
  }
  creditEager(message->bytes, batch);
  if (message->complete) {
    unexpected_.erase(it);
    deliver(request, *message);
  } else {
    message->claimed = &request;
  }
  return true;
}

// Returns credit to the peer from time to time for small messages that were received.
void TcpConnection::creditEager(uint64_t bytes, Batch &batch) {
  creditBytes_ += bytes;
  ++creditMessages_;
  if (creditBytes_ < wire::kEagerWindowBytes / 4 &&
      creditMessages_ < wire::kEagerWindowMessages / 4)
    return;
  Frame frame;
  frame.type = FrameType::Credit;
  frame.id = creditMessages_;
  frame.bytes = creditBytes_;
  batch.push_back({0, outgoingFrame(frame)});
  eagerBytes_ -= creditBytes_;
  eagerMessages_ -= creditMessages_;
  creditBytes_ = creditMessages_ = 0;
}

// Records whether large messages arrive with this tag.
void TcpConnection::noteSize(uint64_t tag, bool large) {
  if (Numbers::Tag *counted = received_.find(tag))
    counted->large = large;
}

// Matches a small message whose payload has not been read with a receive.
void TcpConnection::takeEager(TcpRequest &request, uint64_t bytes, Sink &sink) {
  request.total = bytes;
  request.patience = 0;
  if (bytes > request.capacity) {
    request.badPart = static_cast<uint32_t>(FrameCode::Truncated);
    request.finish();
    sink.kind = Sink::Kind::Discard;
    return;
  }
  request.remaining = bytes;
  sink.kind = Sink::Kind::Request;
  sink.request = &request;
  sink.part = request.addPart(0, bytes);
}

Status TcpConnection::onEager(const Frame &frame, Sink &sink, Batch &batch) {
  if (eagerBytes_ + frame.bytes > wire::kEagerWindowBytes ||
      eagerMessages_ + 1 > wire::kEagerWindowMessages)
    return violation("more small messages than allowed");
  eagerBytes_ += frame.bytes;
  ++eagerMessages_;
  sink.remaining = frame.bytes;
  sink.offset = 0;
  noteSize(frame.tag, false);
  if (TcpRequest *request = takePosted(frame.tag, frame.key)) {
    creditEager(frame.bytes, batch);
    takeEager(*request, frame.bytes, sink);
    return {};
  }
  auto message = std::make_shared<Unexpected>();
  message->tag = frame.tag;
  message->number = frame.key;
  message->bytes = frame.bytes;
  unexpected_.push_back(message);
  sink.kind = Sink::Kind::Unexpected;
  sink.unexpected = std::move(message);
  return {};
}

// The receive may have been posted since the header was read.
void TcpConnection::findPlace(int stream, Sink &sink, bool intoMemory) {
  std::lock_guard<std::mutex> lock(mutex_);
  std::shared_ptr<Unexpected> message = sink.unexpected;
  if (message->pushed) {
    if (intoMemory && !message->data && !message->claimed && !message->refused)
      message->data.reset(new uint8_t[message->bytes]);
    return place(stream, sink);
  }
  TcpRequest *request = message->claimed;
  if (!request) {
    if (!message->data)
      message->data.reset(new uint8_t[message->bytes]);
    return;
  }
  unexpected_.remove(message);
  sink.unexpected.reset();
  takeEager(*request, message->bytes, sink);
}

// Answers an announced message with a receive for it.
void TcpConnection::clearToSend(TcpRequest &request, uint64_t senderId, uint64_t bytes,
                                Batch &batch) {
  Frame frame;
  frame.type = FrameType::Cts;
  frame.id = senderId;
  frame.key = request.id();
  request.total = bytes;
  request.remaining = bytes;
  if (bytes > request.capacity) {
    frame.code = FrameCode::Truncated;
    request.badPart = static_cast<uint32_t>(FrameCode::Truncated);
    request.finish();
  } else if (bytes == 0) {
    request.finish();
  } else {
    request.open = true;
  }
  batch.push_back({0, outgoingFrame(frame)});
}

Status TcpConnection::onRts(const Frame &frame, Batch &batch) {
  noteSize(frame.tag, frame.bytes > wire::kSmallBytes);
  if (isAnswered(frame))
    return {};
  if (TcpRequest *request = takePosted(frame.tag, frame.key)) {
    clearToSend(*request, frame.id, frame.bytes, batch);
    return {};
  }
  if (announced_ >= kMaxRequests)
    return violation("more announced messages than a peer may have");
  ++announced_;
  auto message = std::make_shared<Unexpected>();
  message->tag = frame.tag;
  message->number = frame.key;
  message->bytes = frame.bytes;
  message->eager = false;
  message->senderId = frame.id;
  unexpected_.push_back(std::move(message));
  return {};
}

Status TcpConnection::onCts(const Frame &frame, Batch &batch) {
  TcpRequest *request = outbound_.find(frame.id);
  if (!request || request->kind != Kind::Send || !request->open)
    return violation("an answer to nothing");
  request->open = false;
  takeFirst(asked_, [&](const TcpRequest *one) { return one == request; });
  if (frame.code != FrameCode::Ok) {
    request->badPart = static_cast<uint32_t>(FrameCode::Truncated);
    request->finish();
    return {};
  }
  if (request->total == 0) {
    request->finish();
    return {};
  }
  sendParts(*request, dataFrame(frame.key, /*total=*/0), batch);
  return {};
}

Status TcpConnection::onData(int stream, const Frame &frame, Sink &sink) {
  TcpRequest *request = inbound_.find(frame.id);
  if (request && request->told && !takeTold(*request, frame))
    return violation("a message longer than the receive it was sent for");
  if (!request || !request->open)
    return violation("data for nothing");
  if (frame.bytes == 0 || frame.offset > request->total ||
      frame.bytes > request->total - frame.offset ||
      frame.bytes > request->total - request->promised)
    return violation("data out of range");
  request->promised += frame.bytes;
  if (request->promised == request->total)
    request->open = false;
  request->patience = stream > 0 ? TcpRequest::kDataPatience : 0;
  sink.kind = Sink::Kind::Request;
  sink.request = request;
  sink.part = request->addPart(static_cast<uint32_t>(stream), frame.bytes);
  sink.offset = frame.offset;
  sink.remaining = frame.bytes;
  return {};
}

Status TcpConnection::onCredit(const Frame &frame) {
  if (frame.bytes > wire::kEagerWindowBytes - windowBytes_ ||
      frame.id > wire::kEagerWindowMessages - windowMessages_)
    return violation("more credit than was used");
  windowBytes_ += frame.bytes;
  windowMessages_ += frame.id;
  return {};
}

//===-- one-sided operations ----------------------------------------------------===//

void TcpConnection::onWrite(const Frame &frame, Sink &sink) const {
  std::shared_ptr<Region> region = shared_.regions.find(frame.key);
  sink.remaining = frame.bytes;
  sink.kind = Sink::Kind::Discard;
  if (!region || !region->covers(frame.offset, frame.bytes))
    return;
  sink.kind = Sink::Kind::Region;
  sink.offset = frame.offset;
  sink.region = std::move(region);
}

Status TcpConnection::onRead(const Frame &frame, Batch &batch) {
  std::shared_ptr<Region> region = shared_.regions.find(frame.key);
  const RemoteRows rows(frame.offset, frame.row, frame.tag);
  bool good = region && rows.fit(frame.bytes, region->key.bytes);
  if (!good || frame.bytes == 0) {
    batch.push_back({0, acknowledgement(frame.id, good ? FrameCode::Ok : FrameCode::BadKey, true)});
    return {};
  }
  if (*serving_ >= kMaxRequests)
    return violation("more reads than a peer may have");
  ++*serving_;
  std::shared_ptr<void> token(nullptr, [serving = serving_](void *) { --*serving; });
  for (const Extent &stripe : stripes(frame.bytes)) {
    Frame data;
    data.type = FrameType::Data;
    data.id = frame.id;
    data.offset = stripe.offset;
    data.bytes = stripe.bytes;
    Outgoing outgoing = outgoingFrame(data);
    outgoing.region = region;
    outgoing.rows = rows;
    outgoing.offset = stripe.offset;
    outgoing.remaining = stripe.bytes;
    outgoing.token = token;
    batch.push_back({nextStream(stripe.bytes), std::move(outgoing)});
  }
  return {};
}

Status TcpConnection::onAck(const Frame &frame) {
  bool ofRead = frame.tag == 1;
  TcpRequest *request = (ofRead ? inbound_ : outbound_).find(frame.id);
  if (ofRead) {
    if (!request || request->kind != Kind::Read || !request->open || request->promised > 0 ||
        (frame.code == FrameCode::Ok && request->total > 0))
      return violation("an answer to no read");
    request->open = false;
    request->badPart = static_cast<uint32_t>(frame.code);
    request->finish();
    return {};
  }
  if (!request || request->kind != Kind::Write || request->acks == request->stripes)
    return violation("an acknowledgement of nothing");
  ++request->acks;
  if (frame.code != FrameCode::Ok)
    request->badPart = static_cast<uint32_t>(frame.code);
  request->finishPart(1);
  return {};
}

} // namespace coll::net::tcp
