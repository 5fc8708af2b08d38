#include "runtime/net/tcp/stream.h"

#include "runtime/net/tcp/connection.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace coll::net::tcp {

namespace {

// One turn of a stream; then the others of its thread get theirs.
constexpr uint64_t kTurnBytes = 4 << 20;
constexpr size_t kMaxQueued = 16384;
constexpr int kMaxPieces = 128;
// So much of what may wait for others does not: a larger call saves nothing.
constexpr uint64_t kTogetherBytes = 128 << 10;
// A payload for which a call of its own is worth less than a copy.
constexpr uint64_t kLargeBytes = 4096;
// How long a closed connection waits for its peer to take what is on the way.
constexpr int64_t kLingerUs = 2'000'000;
// So many pokes between two looks of the poller, and the pokers read alone until, at a
// look after kLookUs, there were fewer.
constexpr uint64_t kBusyPokes = 8;
constexpr int64_t kLookUs = 1000;
// How long payload that has no receive yet is left in its socket.
constexpr int64_t kParkUs = 1000;

} // namespace

Stream::Stream(TcpConnection &connection, Fd fd, Poller &rxPoller, Poller &txPoller, int index,
               size_t rxBytes)
    : connection_(&connection), fd_(std::move(fd)), rxPoller_(rxPoller), txPoller_(txPoller),
      rxId_(rxPoller.reserve()), txId_(&rxPoller == &txPoller ? rxId_ : txPoller.reserve()),
      index_(index), buffer_(rxBytes) {}

Status Stream::start() {
  // A peer that is gone already must not end the stream between the two calls.
  std::lock_guard<std::mutex> rx(rx_);
  COLL_RETURN_IF_ERROR(rxPoller_.add(rxId_, fd_.get(), EPOLLIN, shared_from_this()));
  if (&rxPoller_ == &txPoller_)
    return {};
  return txPoller_.add(txId_, fd_.get(), 0, shared_from_this());
}

void Stream::onEvents(uint32_t events) {
  if (events & EPOLLOUT) {
    std::lock_guard<std::mutex> tx(tx_);
    flushOrBreak();
  }
  if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)))
    return;
  std::unique_lock<std::mutex> rx(rx_, std::defer_lock);
  if (index_ > 0) {
    rx.lock();
  } else if (!rx.try_lock()) {
    crowded_ = true;
    return;
  }
  if (index_ == 0 && pokes_ - seenPokes_ >= kBusyPokes)
    handOver(true);
  seenPokes_ = pokes_;
  if (parked_) {
    if (events & (EPOLLHUP | EPOLLERR))
      unpark(/*intoMemory=*/true);
    return;
  }
  Io io = readSome(/*poked=*/false);
  flushDeferred();
  if (io == Io::Ended || io == Io::Broken)
    end(io);
}

void Stream::onPosted() {
  // Only one thread reads: it has parked the stream before it gets here.
  if (parked_ && rxPoller_.isOwnThread()) {
    std::lock_guard<std::mutex> rx(rx_);
    unpark(/*intoMemory=*/false);
  }
  std::lock_guard<std::mutex> tx(tx_);
  flushOrBreak();
}

// Under rx.
void Stream::handOver(bool toPokers) {
  if (handedOver_ == toPokers || !connection_)
    return;
  std::lock_guard<std::mutex> tx(tx_);
  if (over_)
    return;
  handedOver_ = toPokers;
  listen();
  if (toPokers)
    rxPoller_.setDeadline(rxId_, nowUs() + kLookUs);
}

void Stream::rest() {
  if (!handedOver_)
    return flushDeferred();
  std::lock_guard<std::mutex> rx(rx_);
  handOver(false);
  flushDeferred();
}

void Stream::poke() {
  std::unique_lock<std::mutex> rx(rx_, std::try_to_lock);
  if (!rx.owns_lock())
    return;
  ++pokes_;
  if (crowded_.load(std::memory_order_relaxed) && crowded_.exchange(false))
    handOver(true);
  flushDeferred();
  Io io = readSome(/*poked=*/true);
  flushDeferred();
  if (io == Io::Ended || io == Io::Broken)
    end(io);
}

// The payload that was announced has no receive yet. Under rx, as is unpark().
void Stream::park() {
  std::lock_guard<std::mutex> tx(tx_);
  if (over_)
    return;
  parked_ = true;
  listen();
  rxPoller_.setDeadline(rxId_, nowUs() + kParkUs);
}

void Stream::unpark(bool intoMemory) {
  if (!parked_ || !connection_)
    return;
  connection_->findPlace(index_, sink_, intoMemory);
  if (sink_.kind == Sink::Kind::Waiting)
    return;
  parked_ = false;
  {
    std::lock_guard<std::mutex> tx(tx_);
    if (!over_)
      listen();
  }
  rxPoller_.setDeadline(rxId_, endUs_);
  Io io = readSome(/*poked=*/false);
  if (io == Io::Ended || io == Io::Broken)
    end(io);
}

void Stream::setEnd(int64_t endUs) {
  endUs_ = endUs;
  int64_t lookUs = handedOver_ ? kLookUs : parked_ ? kParkUs : 0;
  rxPoller_.setDeadline(rxId_, lookUs ? std::min(endUs, nowUs() + lookUs) : endUs);
}

void Stream::onDeadline() {
  std::lock_guard<std::mutex> rx(rx_);
  int64_t now = nowUs(), endUs = endUs_;
  if (endUs && now >= endUs) {
    why_ = "the peer has hung up on a part of the connection";
    return end(Io::Broken);
  }
  if (parked_)
    return unpark(/*intoMemory=*/true);
  if (pokes_ - seenPokes_ < kBusyPokes)
    handOver(false);
  flushDeferred();
  seenPokes_ = pokes_;
  if (handedOver_ || endUs)
    rxPoller_.setDeadline(rxId_, handedOver_ ? now + kLookUs : endUs);
}

void Stream::shut() {
  std::lock_guard<std::mutex> tx(tx_);
  if (!over_)
    ::shutdown(fd_.get(), SHUT_RDWR);
}

// Under rx. The last stream to end fails what is left of the connection's requests, so
// this one has to let go of their buffers first.
void Stream::end(Io how) {
  TcpConnection *connection;
  {
    std::lock_guard<std::mutex> tx(tx_);
    if (over_)
      return;
    over_ = true;
    connection = connection_;
    if (!txWhy_.empty()) {
      how = Io::Broken;
      why_ = txWhy_;
    }
    sink_ = Sink();
    queue_.clear();
    queuedBytes_ = 0;
    rxPoller_.remove(rxId_, fd_.get());
    if (&rxPoller_ != &txPoller_)
      txPoller_.remove(txId_, fd_.get());
    fd_.reset();
  }
  if (connection)
    connection->streamEnded(how == Io::Ended, why_);
}

void Stream::detach() {
  std::lock_guard<std::mutex> rx(rx_);
  std::lock_guard<std::mutex> tx(tx_);
  if (!over_) {
    flush();
    bool whole = queue_.empty();
    ::shutdown(fd_.get(), whole ? SHUT_WR : SHUT_RDWR);
    // Only the reading side matters from now on: it waits for the peer's end.
    armed_ = handedOver_ = parked_ = false;
    listen();
    setEnd(nowUs() + kLingerUs);
  }
  queue_.clear();
  queuedBytes_ = 0;
  sink_ = Sink();
  connection_ = nullptr;
}

//===-- reading -----------------------------------------------------------------===//

Stream::Io Stream::received(ssize_t count) const {
  if (count > 0)
    return Io::Yield;
  if (count == 0)
    return Io::Ended;
  return errno == EAGAIN || errno == EINTR ? Io::Again : Io::Broken;
}

// Under rx. Who pokes has receives to post once others have ended: what comes after those
// may well be for them, and is left where it is until the next poke.
Stream::Io Stream::readSome(bool poked) {
  if (!fd_.valid())
    return Io::Again;
  if (!connection_)
    return readTrash();
  drained_ = false;
  bool moved = false;
  for (uint64_t budget = kTurnBytes; budget > 0;) {
    Io io = Io::Yield;
    if (sink_.kind == Sink::Kind::Waiting)
      return Io::Again;
    moved |= sink_.kind == Sink::Kind::Request;
    if (poked && moved && sink_.kind == Sink::Kind::Unexpected)
      return Io::Again;
    if (sink_.kind != Sink::Kind::None)
      io = readPayload(budget);
    else if (end_ - begin_ >= wire::Frame::kBytes)
      io = frameArrived();
    else if (drained_)
      return Io::Again; // saves the call that would say so
    else
      io = readMore(budget);
    if (io == Io::Again)
      return io;
    if (io == Io::Ended && (end_ > begin_ || sink_.kind != Sink::Kind::None)) {
      why_ = "the peer hung up in the middle of a message";
      return Io::Broken;
    }
    if (io != Io::Yield) {
      if (io == Io::Broken && why_.empty())
        why_ = linkError("receive", errno).message();
      return io;
    }
  }
  return Io::Yield;
}

Stream::Io Stream::readTrash() {
  uint8_t trash[4096];
  for (int turn = 0; turn < 64; ++turn) {
    Io io = received(::recv(fd_.get(), trash, sizeof(trash), MSG_DONTWAIT));
    if (io != Io::Yield)
      return io;
  }
  return Io::Yield;
}

// Reads ahead, up to what the buffer holds.
Stream::Io Stream::readMore(uint64_t &budget) {
  std::copy(buffer_.begin() + static_cast<ptrdiff_t>(begin_),
            buffer_.begin() + static_cast<ptrdiff_t>(end_), buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  size_t room = buffer_.size() - end_;
  ssize_t count = ::recv(fd_.get(), buffer_.data() + end_, room, MSG_DONTWAIT);
  if (count > 0) {
    drained_ = static_cast<size_t>(count) < room;
    end_ += static_cast<size_t>(count);
    budget -= std::min(budget, static_cast<uint64_t>(count));
  }
  return received(count);
}

// Moves payload out of what was read ahead.
uint64_t Stream::copyBuffered(uint64_t bytes) {
  const uint8_t *from = buffer_.data() + begin_;
  switch (sink_.kind) {
  case Sink::Kind::Request: {
    iovec pieces[kMaxSegments];
    int used = sink_.request->pieces(sink_.offset, bytes, pieces, kMaxSegments);
    for (int i = 0; i < used; from += pieces[i++].iov_len)
      std::memcpy(pieces[i].iov_base, from, pieces[i].iov_len);
    return bytes;
  }
  case Sink::Kind::Unexpected:
    std::memcpy(sink_.unexpected->data.get() + sink_.offset, from, bytes);
    return bytes;
  case Sink::Kind::Region: {
    std::shared_lock<std::shared_mutex> use(sink_.region->use);
    if (sink_.region->alive)
      std::memcpy(sink_.region->data + sink_.offset, from, bytes);
    else
      sink_.frame.code = wire::FrameCode::BadKey;
    return bytes;
  }
  case Sink::Kind::Discard:
  case Sink::Kind::Waiting:
  case Sink::Kind::None:
    break;
  }
  return bytes;
}

// Payload goes straight to where it belongs; the next header comes with its last part.
Stream::Io Stream::readPayload(uint64_t &budget) {
  if (sink_.kind == Sink::Kind::Unexpected && sink_.offset == 0)
    connection_->findPlace(index_, sink_, /*intoMemory=*/true);
  uint64_t bytes = std::min<uint64_t>(end_ - begin_, sink_.remaining);
  if (bytes > 0) {
    bytes = copyBuffered(bytes);
    begin_ += bytes;
  } else if (sink_.remaining > 0) {
    begin_ = end_ = 0;
    iovec pieces[kMaxSegments + 1];
    uint8_t trash[4096];
    int used = 1;
    bytes = std::min(sink_.remaining, budget);
    std::shared_lock<std::shared_mutex> use;
    if (sink_.kind == Sink::Kind::Region) {
      use = std::shared_lock<std::shared_mutex>(sink_.region->use);
      if (!sink_.region->alive) {
        sink_.kind = Sink::Kind::Discard;
        sink_.frame.code = wire::FrameCode::BadKey;
        use = {};
      }
    }
    if (sink_.kind == Sink::Kind::Request)
      used = sink_.request->pieces(sink_.offset, bytes, pieces, kMaxSegments);
    else if (sink_.kind == Sink::Kind::Unexpected)
      pieces[0] = {sink_.unexpected->data.get() + sink_.offset, bytes};
    else if (sink_.kind == Sink::Kind::Region)
      pieces[0] = {sink_.region->data + sink_.offset, bytes};
    else
      pieces[0] = {trash, bytes = std::min<uint64_t>(bytes, sizeof(trash))};
    // Large ones are seldom alone, and what is read ahead of their payload is copied.
    size_t ahead = sink_.frame.bytes < kLargeBytes ? buffer_.size() : wire::Frame::kBytes;
    if (bytes < sink_.remaining)
      ahead = 0;
    else
      pieces[used++] = {buffer_.data(), ahead};
    msghdr message = {};
    message.msg_iov = pieces;
    message.msg_iovlen = static_cast<size_t>(used);
    ssize_t count = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT);
    if (count <= 0)
      return received(count);
    drained_ = static_cast<uint64_t>(count) < bytes + ahead;
    end_ = static_cast<uint64_t>(count) > bytes ? static_cast<size_t>(count) - bytes : 0;
    bytes = std::min(bytes, static_cast<uint64_t>(count));
    budget -= std::min(budget, bytes);
  }
  sink_.offset += bytes;
  sink_.remaining -= bytes;
  return sink_.remaining == 0 ? payloadArrived() : Io::Yield;
}

Stream::Io Stream::frameArrived() {
  std::optional<wire::Frame> frame = wire::decodeFrame(buffer_.data() + begin_);
  begin_ += wire::Frame::kBytes;
  Status taken = frame ? connection_->onFrame(index_, *frame, sink_)
                       : Status(kCollPeer, "the peer sent bytes that are no frame");
  if (!taken.ok()) {
    why_ = taken.message();
    return Io::Broken;
  }
  if (sink_.kind == Sink::Kind::Waiting)
    park();
  else if (sink_.kind != Sink::Kind::None && sink_.remaining == 0)
    return payloadArrived();
  return Io::Yield;
}

Stream::Io Stream::payloadArrived() {
  Sink sink = std::move(sink_);
  sink_ = Sink();
  if (connection_->onPayload(sink))
    return Io::Yield;
  why_ = "the peer does not read its acknowledgements";
  return Io::Broken;
}

//===-- writing -----------------------------------------------------------------===//

bool Stream::enqueue(Outgoing outgoing, When when) {
  std::lock_guard<std::mutex> tx(tx_);
  if (over_ || !connection_)
    return true; // the connection's end takes care of the request
  if (queue_.size() >= kMaxQueued)
    return false;
  if (when == When::Together) {
    deferredBytes_ += outgoing.remaining;
    ++deferredFrames_;
  }
  queue_.push_back(std::move(outgoing));
  if (armed_)
    return true;
  if (when == When::Now || deferredBytes_ >= kTogetherBytes)
    flushOrBreak();
  else if (when == When::AfterReading || handedOver_)
    deferred_ = true;
  else if (when == When::Together)
    defer();
  else
    txPoller_.post(txId_);
  return true;
}

// Nobody may poke: the poller's thread looks, once. Under tx.
void Stream::defer() {
  if (deferred_.exchange(true))
    return;
  int64_t endUs = endUs_, lookUs = nowUs() + kLookUs;
  rxPoller_.setDeadline(rxId_, endUs ? std::min(endUs, lookUs) : lookUs);
}

void Stream::flushDeferred() {
  if (!deferred_ && !(armed_ && handedOver_))
    return;
  std::lock_guard<std::mutex> tx(tx_);
  flushOrBreak();
}

// The reading side reports the end: a socket that was shut down is readable.
void Stream::flushOrBreak() {
  if (flush() != Io::Broken)
    return;
  if (txWhy_.empty())
    txWhy_ = linkError("send", errno).message();
  queue_.clear();
  queuedBytes_ = 0;
  ::shutdown(fd_.get(), SHUT_RDWR);
}

void Stream::arm(bool out) {
  if (armed_ == out)
    return;
  armed_ = out;
  if (!handedOver_)
    listen();
}

// Tells the pollers what to look for. Under tx.
void Stream::listen() {
  uint32_t in = handedOver_ || parked_ ? 0u : EPOLLIN, out = armed_ && !handedOver_ ? EPOLLOUT : 0u;
  if (&rxPoller_ == &txPoller_)
    return rxPoller_.modify(rxId_, fd_.get(), in | out);
  rxPoller_.modify(rxId_, fd_.get(), in);
  txPoller_.modify(txId_, fd_.get(), out);
}

// Under tx.
Stream::Io Stream::flush() {
  if (over_ || !connection_)
    return Io::Again;
  deferred_ = false;
  if (deferredFrames_ > 0)
    crowd_ = deferredFrames_ > 1;
  deferredBytes_ = 0;
  deferredFrames_ = 0;
  for (int turn = 0; !queue_.empty(); ++turn) {
    if (turn == 16) {
      txPoller_.post(txId_);
      return Io::Yield;
    }
    Io io = queue_.front().region ? writeRegion(queue_.front()) : writeRequests();
    if (io == Io::Again) {
      arm(true);
      return io;
    }
    if (io != Io::Yield)
      return io;
  }
  arm(false);
  return Io::Again;
}

// Counts `bytes` as written.
void Stream::sent(size_t bytes) {
  while (!queue_.empty()) {
    Outgoing &front = queue_.front();
    size_t header = std::min(bytes, wire::Frame::kBytes - front.headerSent);
    front.headerSent += header;
    bytes -= header;
    uint64_t payload = std::min<uint64_t>(bytes, front.remaining);
    front.offset += payload;
    front.remaining -= payload;
    if (index_ > 0)
      queuedBytes_ -= payload;
    bytes -= payload;
    if (front.headerSent < wire::Frame::kBytes || front.remaining > 0)
      return;
    // The request may be gone as soon as its last part is finished.
    if (front.request) {
      front.request->endPart(front.part);
      front.request->finishPart(1);
    }
    queue_.pop_front();
  }
}

// A part of what a peer reads from registered memory.
Stream::Io Stream::writeRegion(Outgoing &outgoing) {
  std::shared_lock<std::shared_mutex> use(outgoing.region->use);
  if (!outgoing.region->alive) {
    txWhy_ = "the memory that the peer reads was deregistered";
    return Io::Broken;
  }
  iovec pieces[2] = {
      {outgoing.header + outgoing.headerSent, wire::Frame::kBytes - outgoing.headerSent},
      {outgoing.region->data + outgoing.offset, std::min(outgoing.remaining, kTurnBytes)}};
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = 2;
  ssize_t count = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  use.unlock();
  if (count > 0)
    sent(static_cast<size_t>(count));
  return count < 0 ? received(count) : Io::Yield;
}

// As many frames as one call takes.
Stream::Io Stream::writeRequests() {
  iovec pieces[kMaxPieces];
  int used = 0;
  uint64_t planned = 0;
  for (Outgoing &outgoing : queue_) {
    if (outgoing.region || used + 1 + kMaxSegments > kMaxPieces || planned >= kTurnBytes)
      break;
    pieces[used++] = {outgoing.header + outgoing.headerSent,
                      wire::Frame::kBytes - outgoing.headerSent};
    if (outgoing.remaining == 0)
      continue;
    uint64_t bytes = std::min(outgoing.remaining, kTurnBytes);
    used += outgoing.request->pieces(outgoing.offset, bytes, pieces + used, kMaxSegments);
    planned += bytes;
    if (bytes < outgoing.remaining)
      break;
  }
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = static_cast<size_t>(used);
  ssize_t count = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0)
    sent(static_cast<size_t>(count));
  return count < 0 ? received(count) : Io::Yield;
}

} // namespace coll::net::tcp
