// The reading side of a stream: reads frames into its buffer, and payload directly to its
// destination.

#include "runtime/net/tcp/connection.h"
#include "runtime/net/tcp/stream.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <shared_mutex>
#include <sys/socket.h>
#include <sys/uio.h>

namespace coll::net::tcp {

namespace {

// A larger payload is read by a separate system call; a smaller one is copied.
constexpr uint64_t kLargeBytes = 4096;

} // namespace

// The payload that was announced has no receive yet. The caller of park() and unpark() holds rx.
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

Stream::Io Stream::received(ssize_t count) const {
  if (count > 0)
    return Io::Yield;
  if (count == 0)
    return Io::Ended;
  return errno == EAGAIN || errno == EINTR ? Io::Again : Io::Broken;
}

// The caller holds rx. After poke() has finished a receive, its caller may post another for the
// next message, so that message stays in the socket until the next poke().
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
      return Io::Again; // saves the system call that would report it
    else
      io = readMore(budget);
    if (io == Io::Again)
      return io;
    if (io == Io::Ended && (end_ > begin_ || sink_.kind != Sink::Kind::None)) {
      why_ = "the peer closed the connection in the middle of a message";
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

// Moves payload out of the read-ahead buffer.
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

// Reads payload directly to its destination; the next header is read with its last part.
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
    // Large messages are seldom alone, and bytes that are read ahead of their payload would be
    // copied.
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
                       : Status(kCollPeer, "the peer sent bytes that are not a frame");
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

} // namespace coll::net::tcp
