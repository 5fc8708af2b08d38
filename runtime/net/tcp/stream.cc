#include "runtime/net/tcp/stream.h"

#include "runtime/net/tcp/connection.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace coll::net::tcp {

namespace {

constexpr size_t kMaxQueued = 16384;
constexpr size_t kMaxPieces = 128;
// Deferred frames are written once they have this many bytes: a larger call saves nothing.
constexpr uint64_t kTogetherBytes = 128 << 10;
// If poke() is called this often between two checks by the poller, only the callers read, until a
// check after kLookUs finds fewer calls.
constexpr uint64_t kBusyPokes = 8;
constexpr int64_t kLookUs = 1000;

} // namespace

Stream::Stream(TcpConnection &connection, Fd fd, Poller &rxPoller, Poller &txPoller, int index,
               size_t rxBytes)
    : connection_(&connection), fd_(std::move(fd)), rxPoller_(rxPoller), txPoller_(txPoller),
      rxId_(rxPoller.reserve()), txId_(&rxPoller == &txPoller ? rxId_ : txPoller.reserve()),
      index_(index), buffer_(rxBytes) {}

Status Stream::start() {
  // If the peer has already left, that must not end the stream between the two calls.
  std::lock_guard<std::mutex> rx(rx_);
  COLL_RETURN_IF_ERROR(rxPoller_.add(rxId_, fd_.get(), EPOLLIN, shared_from_this()));
  if (&rxPoller_ != &txPoller_)
    COLL_RETURN_IF_ERROR(txPoller_.add(txId_, fd_.get(), 0, shared_from_this()));
  // A stream that has already started may have queued an answer here before any poller knows of it.
  std::lock_guard<std::mutex> tx(tx_);
  if (!over_ && !queue_.empty())
    flushOrBreak();
  return {};
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
    pokedWhileReading_ = true;
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
  // Only this thread reads: it has parked the stream before.
  if (parked_ && rxPoller_.isOwnThread()) {
    std::lock_guard<std::mutex> rx(rx_);
    unpark(/*intoMemory=*/false);
  }
  std::lock_guard<std::mutex> tx(tx_);
  flushOrBreak();
}

// The caller holds rx.
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
  if (pokedWhileReading_.load(std::memory_order_relaxed) && pokedWhileReading_.exchange(false))
    handOver(true);
  flushDeferred();
  Io io = readSome(/*poked=*/true);
  flushDeferred();
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
    why_ = "the peer has closed a part of the connection";
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

// The caller holds rx. The last stream to end fails the remaining requests, so this stream must
// release their buffers first.
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
    // Only the reading side matters from now on: it waits for the peer to end.
    armed_ = handedOver_ = parked_ = false;
    listen();
    setEnd(nowUs() + kLingerUs);
  }
  queue_.clear();
  queuedBytes_ = 0;
  sink_ = Sink();
  connection_ = nullptr;
}

//===-- writing -----------------------------------------------------------------===//

bool Stream::enqueue(Outgoing outgoing, When when) {
  std::lock_guard<std::mutex> tx(tx_);
  if (over_ || !connection_)
    return true; // the end of the connection fails the request
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

// If no caller pokes, the poller's thread checks once. The caller holds tx.
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

// Tells the pollers which events to wait for. The caller holds tx.
void Stream::listen() {
  uint32_t in = handedOver_ || parked_ ? 0u : EPOLLIN, out = armed_ && !handedOver_ ? EPOLLOUT : 0u;
  if (&rxPoller_ == &txPoller_)
    return rxPoller_.modify(rxId_, fd_.get(), in | out);
  rxPoller_.modify(rxId_, fd_.get(), in);
  txPoller_.modify(txId_, fd_.get(), out);
}

// The caller holds tx.
Stream::Io Stream::flush() {
  if (over_ || !connection_)
    return Io::Again;
  deferred_ = false;
  if (deferredFrames_ > 0)
    severalFrames_ = deferredFrames_ > 1;
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
    // The request may be freed as soon as its last part is finished.
    if (front.request) {
      front.request->endPart(front.part);
      front.request->finishPart(1);
    }
    queue_.pop_front();
  }
}

// A part of registered memory that a peer reads.
Stream::Io Stream::writeRegion(Outgoing &outgoing) {
  std::shared_lock<std::shared_mutex> use(outgoing.region->use);
  if (!outgoing.region->alive) {
    txWhy_ = "the memory that the peer reads was deregistered";
    return Io::Broken;
  }
  iovec pieces[kMaxPieces];
  pieces[0] = {outgoing.header + outgoing.headerSent, wire::Frame::kBytes - outgoing.headerSent};
  size_t used = 1;
  const uint64_t end = outgoing.offset + std::min(outgoing.remaining, kTurnBytes);
  for (uint64_t next = outgoing.offset; next < end && used < kMaxPieces; ++used) {
    const uint64_t bytes = std::min(end - next, outgoing.rows.following(next));
    pieces[used] = {outgoing.region->data + outgoing.rows.at(next), bytes};
    next += bytes;
  }
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = used;
  ssize_t count = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  use.unlock();
  if (count > 0)
    sent(static_cast<size_t>(count));
  return count < 0 ? received(count) : Io::Yield;
}

// As many frames as one call takes.
Stream::Io Stream::writeRequests() {
  iovec pieces[kMaxPieces];
  size_t used = 0;
  uint64_t planned = 0;
  for (Outgoing &outgoing : queue_) {
    if (outgoing.region || used + 1 + kMaxSegments > kMaxPieces || planned >= kTurnBytes)
      break;
    pieces[used++] = {outgoing.header + outgoing.headerSent,
                      wire::Frame::kBytes - outgoing.headerSent};
    if (outgoing.remaining == 0)
      continue;
    uint64_t bytes = std::min(outgoing.remaining, kTurnBytes);
    used += static_cast<size_t>(
        outgoing.request->pieces(outgoing.offset, bytes, pieces + used, kMaxSegments));
    planned += bytes;
    if (bytes < outgoing.remaining)
      break;
  }
  msghdr message = {};
  message.msg_iov = pieces;
  message.msg_iovlen = used;
  ssize_t count = ::sendmsg(fd_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count > 0)
    sent(static_cast<size_t>(count));
  return count < 0 ? received(count) : Io::Yield;
}

} // namespace coll::net::tcp
