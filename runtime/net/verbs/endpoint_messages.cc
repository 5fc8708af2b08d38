// Handles the messages of a peer, which may be hostile.

#include "runtime/net/verbs/endpoint.h"

#include <algorithm>
#include <cstring>

namespace coll::net::verbs {

namespace {

Status violation(const char *what) { return {kCollPeer, std::string("protocol: ") + what}; }

} // namespace

Status Endpoint::onMessage(const uint8_t *bytes, size_t count) {
  std::optional<Message> message = decodeMessage(bytes, count);
  if (!message)
    return violation("bytes that are not a message");
  if (message->credits > peerSlots_ - credits_)
    return violation("more receive buffers than there are");
  credits_ += message->credits;
  if (closed_)
    return {};
  const uint8_t *payload = bytes + Message::kBytes;
  switch (message->type) {
  case MessageType::Eager:
    return onEager(*message, payload);
  case MessageType::Rts:
    return onRts(*message);
  case MessageType::Cts:
    return onCts(*message, payload);
  case MessageType::Credit:
    return onCredit(*message);
  case MessageType::Access:
    return onAccess(*message);
  case MessageType::Grant:
    return onGrant(*message);
  }
  return violation("a message of an unknown type");
}

//===-- messages ----------------------------------------------------------------===//

// Copies a complete small message into a receive.
void Endpoint::deliver(VerbsRequest &request, const uint8_t *data, uint64_t bytes) {
  request.total = bytes;
  if (bytes > request.capacity)
    return request.fail(request.truncation());
  if (bytes > 0 && !request.onHost) {
    if (Status mirrored = over_ ? failure_ : mirrorInto(request, data); !mirrored.ok())
      request.fail(mirrored);
    return;
  }
  request.scatter(data, bytes);
  request.finish();
}

// Gives a new receive the oldest message with its tag, if there is one.
bool Endpoint::matchUnexpected(VerbsRequest &request) {
  std::optional<Unexpected> message = takeFirst(unexpected_, [&](const Unexpected &one) {
    // Messages that were only announced ended with the connection.
    return one.tag == request.tag && (one.isEager || refusal().ok());
  });
  if (!message)
    return false;
  if (message->isEager) {
    creditEager(message->bytes);
    deliver(request, message->data.data(), message->bytes);
    return true;
  }
  --announced_;
  if (Status answered = clearToSend(request, message->senderId, message->bytes); !answered.ok())
    fail(answered);
  return true;
}

// Returns credit to the peer from time to time for small messages that were received.
void Endpoint::creditEager(uint64_t bytes) {
  creditBytes_ += bytes;
  ++creditMessages_;
  if (over_ || (creditBytes_ < kEagerWindowBytes / 4 && creditMessages_ < kEagerWindowMessages / 4))
    return;
  Outgoing outgoing;
  outgoing.message.type = MessageType::Credit;
  outgoing.message.id = creditMessages_;
  outgoing.message.bytes = creditBytes_;
  push(std::move(outgoing));
  eagerBytes_ -= creditBytes_;
  eagerMessages_ -= creditMessages_;
  creditBytes_ = creditMessages_ = 0;
}

Status Endpoint::onEager(const Message &message, const uint8_t *payload) {
  if (eagerBytes_ + message.bytes > kEagerWindowBytes || eagerMessages_ + 1 > kEagerWindowMessages)
    return violation("more small messages than allowed");
  eagerBytes_ += message.bytes;
  ++eagerMessages_;
  if (VerbsRequest *request = takeTagged(posted_, message.tag)) {
    creditEager(message.bytes);
    deliver(*request, payload, message.bytes);
    return {};
  }
  Unexpected &kept = unexpected_.emplace_back();
  kept.tag = message.tag;
  kept.bytes = message.bytes;
  kept.data.assign(payload, payload + message.bytes);
  return {};
}

// Sends the addresses of the buffers to the peer, and prepares for the immediates of the parts.
Status Endpoint::announceBuffers(VerbsRequest &request, Outgoing &answer) {
  request.forEachPiece(0, request.total, kMaxSegments,
                       [&](size_t segment, uint8_t *to, uint64_t count) {
                         answer.segments.push_back(
                             {reinterpret_cast<uintptr_t>(to), count, request.keys.rkeys[segment]});
                       });
  size_t first = nextQueue_++ % data_.size(), used = parts(request.total).size();
  answer.message.key = request.immediate();
  answer.message.offset = first;
  answer.message.count = static_cast<uint16_t>(answer.segments.size());
  for (size_t i = 0; i < used; ++i) {
    size_t queue = (first + i) % data_.size();
    ibv_recv_wr recv = {};
    recv.wr_id = workId(WorkKind::DataRecv, queue, 0);
    COLL_RETURN_IF_ERROR(data_[queue].pair->postRecv(recv));
    request.expected |= 1u << queue;
  }
  request.open = request.isBusy = true;
  return {};
}

// Answers an announced message with a receive for it.
Status Endpoint::clearToSend(VerbsRequest &request, uint64_t senderId, uint64_t bytes) {
  Outgoing answer;
  answer.message.type = MessageType::Cts;
  answer.message.id = senderId;
  request.total = bytes;
  if (bytes > request.capacity) {
    answer.message.code = MessageCode::Truncated;
    request.fail(request.truncation());
  } else if (bytes == 0) {
    request.finish();
  } else {
    Status prepared;
    if (!request.keys.made) {
      Result<Keys> keys = prepare(request.segments.data(), request.count, /*isSource=*/false);
      prepared = keys.status();
      if (keys.ok())
        request.keys = keys.take();
    }
    if (!prepared.ok()) {
      answer.message.code = MessageCode::BadKey;
      request.fail(prepared);
    } else {
      COLL_RETURN_IF_ERROR(announceBuffers(request, answer));
    }
  }
  push(std::move(answer));
  return {};
}

Status Endpoint::onRts(const Message &message) {
  if (VerbsRequest *request = takeTagged(posted_, message.tag))
    return clearToSend(*request, message.id, message.bytes);
  if (announced_ >= kMaxRequests)
    return violation("more announced messages than a peer may have");
  ++announced_;
  Unexpected &kept = unexpected_.emplace_back();
  kept.tag = message.tag;
  kept.bytes = message.bytes;
  kept.isEager = false;
  kept.senderId = message.id;
  return {};
}

Status Endpoint::onCts(const Message &message, const uint8_t *payload) {
  VerbsRequest *request = outbound_.find(message.id);
  if (!request || request->kind != Kind::Send || !request->open)
    return violation("an answer to an unknown message");
  request->open = false;
  if (message.code == MessageCode::Truncated) {
    request->fail(request->truncation());
    return {};
  }
  if (message.code != MessageCode::Ok) {
    request->fail({kCollDevice, "the peer could not register its buffer"});
    return {};
  }
  if (request->total == 0) {
    request->finish();
    return {};
  }
  std::vector<RemoteSegment> remote;
  uint64_t room = 0;
  for (int i = 0; i < message.count; ++i) {
    RemoteSegment segment = decodeSegment(payload + static_cast<size_t>(i) * RemoteSegment::kBytes);
    if (segment.bytes > kMaxMessageBytes)
      return violation("a buffer that is too long");
    room += segment.bytes;
    remote.push_back(segment);
  }
  if (room < request->total || message.offset >= data_.size())
    return violation("buffers that do not fit the message");
  request->tag = message.key; // is the immediate from now on
  split(*request, IBV_WR_RDMA_WRITE_WITH_IMM, remote, message.offset);
  return {};
}

Status Endpoint::onImmediate(size_t queue, uint32_t value) {
  VerbsRequest &request = inbound_[value % kMaxRequests];
  if (request.kind != Kind::Recv || !request.open || request.immediate() != value ||
      !(request.expected & 1u << queue))
    return violation("data for an unknown receive");
  request.expected &= ~(1u << queue);
  if (request.expected == 0) {
    request.open = false;
    request.finish();
  }
  return {};
}

Status Endpoint::onCredit(const Message &message) {
  if (message.bytes > kEagerWindowBytes - windowBytes_ ||
      message.id > kEagerWindowMessages - windowMessages_)
    return violation("more credit than was used");
  windowBytes_ += message.bytes;
  windowMessages_ += message.id;
  return {};
}

//===-- one-sided operations ----------------------------------------------------===//

Status Endpoint::onAccess(const Message &message) {
  Outgoing answer;
  answer.message.type = MessageType::Grant;
  answer.message.id = message.id;
  answer.message.tag = message.tag;
  std::shared_ptr<Region> region = shared_.regions.find(message.key);
  if (!region || !region->covers(message.offset, message.bytes)) {
    answer.message.code = MessageCode::BadKey;
  } else if (message.bytes > 0) {
    Result<MemoryKeys> keys = region->on(device_);
    if (keys.ok()) {
      answer.message.key = keys->rkey;
      answer.message.offset = region->address() + message.offset;
    } else {
      answer.message.code = MessageCode::BadKey;
    }
  }
  return push(std::move(answer)) ? Status() : violation("more questions than a peer may have");
}

// A read of rows takes one work request for each row.
std::vector<RemoteSegment> Endpoint::granted(const VerbsRequest &request, uint64_t address,
                                             uint32_t rkey) {
  std::vector<RemoteSegment> remote;
  const RemoteRows &rows = request.rows;
  for (uint64_t position = 0; position < request.total; position += remote.back().bytes)
    remote.push_back({address + (rows.at(position) - rows.offset),
                      std::min(request.total - position, rows.following(position)), rkey});
  return remote;
}

Status Endpoint::onGrant(const Message &message) {
  bool isWrite = message.tag == 0;
  VerbsRequest *request = (isWrite ? outbound_ : inbound_).find(message.id);
  if (!request || request->kind != (isWrite ? Kind::Write : Kind::Read) || !request->open)
    return violation("an answer to an unknown request");
  request->open = false;
  if (message.code != MessageCode::Ok)
    request->fail(noSuchRange());
  else if (request->total == 0)
    request->finish();
  else
    split(*request, isWrite ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
          granted(*request, message.offset, static_cast<uint32_t>(message.key)), nextQueue_++);
  return {};
}

} // namespace coll::net::verbs
