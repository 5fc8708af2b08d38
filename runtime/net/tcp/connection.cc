#include "runtime/net/tcp/connection.h"

#include <algorithm>

namespace coll::net::tcp {

using wire::Frame;
using wire::FrameCode;
using wire::FrameType;

namespace {

// Small payloads are read together with their header, on stream 0.
constexpr size_t kControlReadAhead = 8 << 10;
// The time in which the other streams must end after the first has ended.
constexpr int64_t kEndUs = 10'000'000;
// Bytes in flight between two processes of one machine. With fewer they wait for each other; more
// would leave the cache before they are read.
constexpr int kSendBufferBytes = 256 << 10;
// Smaller parts are not worth another stream.
constexpr uint64_t kStripeBytes = 64 << 10;
// Larger parts keep one thread busy while others may be idle.
constexpr uint64_t kMostStripeBytes = 128 << 10;
// With at most this many progress threads, the thread that posts writes the message itself.
constexpr size_t kFewThreads = 2;

} // namespace

Result<std::unique_ptr<Connection>> TcpConnection::create(Shared &shared, int device,
                                                          std::vector<Fd> fds) {
  std::unique_ptr<TcpConnection> self(
      new TcpConnection(shared, shared.devices[static_cast<size_t>(device)]));
  for (size_t i = 0; i < fds.size(); ++i) {
    setStreamOptions(fds[i], shared.options.timeoutUs);
    if (i == 0 && shared.oneSocket && staysHere(fds[i]))
      setSendBuffer(fds[i], kSendBufferBytes);
    Poller &rxPoller = shared.nextPoller(), &txPoller = shared.otherPoller();
    self->streams_.push_back(std::make_shared<Stream>(*self, std::move(fds[i]), rxPoller, txPoller,
                                                      static_cast<int>(i),
                                                      i ? Frame::kBytes : kControlReadAhead));
  }
  self->live_ = self->streams_.size();
  for (const std::shared_ptr<Stream> &stream : self->streams_)
    COLL_RETURN_IF_ERROR(stream->start());
  return std::unique_ptr<Connection>(std::move(self));
}

//===-- posting -----------------------------------------------------------------===//

Status TcpConnection::refusal() const {
  if (closed_)
    return {kCollAborted, "the connection was closed"};
  return failure_;
}

// Null if no request is free.
Result<TcpRequest *> TcpConnection::begin(Pool &pool, Kind kind, const Segment *segments,
                                          int count) {
  Result<uint64_t> total = totalBytes(segments, count, properties_);
  if (!total.ok())
    return total.status();
  TcpRequest *request = pool.take();
  if (!request)
    return static_cast<TcpRequest *>(nullptr);
  request->begin(kind, segments, count, *total);
  request->open = request->told = request->announced = request->large = false;
  request->stripes = request->acks = 0;
  request->number = request->promised = 0;
  request->remaining = 0;
  request->badPart = 0;
  request->numParts = 0;
  request->patience = request->tests = 0;
  return request;
}

void TcpConnection::release(TcpRequest &request) {
  large_ -= request.large ? 1 : 0;
  (request.isInbound() ? inbound_ : outbound_).give(request);
}

void TcpConnection::becomeLarge(TcpRequest &request) {
  request.large = true;
  ++large_;
}

// The stream with the least to do. If several have as little, a single message takes the first one,
// whose thread was busy last and is still polling. Several messages take turns, because data that
// was written may still fill the socket.
size_t TcpConnection::nextStream(uint64_t bytes) {
  size_t count = streams_.size() - 1, best = large_ > 1 ? 1 + turn_++ % count : 1;
  for (size_t i = 1; i <= count; ++i)
    if (streams_[i]->queuedBytes() < streams_[best]->queuedBytes())
      best = i;
  streams_[best]->promise(bytes);
  return best;
}

// Cuts a message into equal parts. A single message uses all streams. With several in flight each
// message uses a few streams, or more if it is long.
std::vector<Extent> TcpConnection::stripes(uint64_t bytes) const {
  uint64_t count = streams_.size() - 1;
  uint64_t share = std::max<uint64_t>(count / std::max<uint64_t>(large_, 1), 1);
  if (shared_.options.manyConnections)
    share = std::max(share, std::min(count, (bytes + kMostStripeBytes - 1) / kMostStripeBytes));
  return bytes == 0 ? std::vector<Extent>(1) : equalParts(bytes, kStripeBytes, share);
}

bool TcpConnection::send(Batch &batch, When when) {
  bool fits = true;
  for (ToSend &item : batch)
    fits &= streams_[item.stream]->enqueue(std::move(item.outgoing), when);
  return fits;
}

Outgoing outgoingFrame(const Frame &frame) {
  Outgoing outgoing = {};
  encode(frame, outgoing.header);
  return outgoing;
}

Outgoing outgoingPart(const Frame &frame, TcpRequest &request, uint64_t offset) {
  Outgoing outgoing = outgoingFrame(frame);
  outgoing.request = &request;
  outgoing.offset = offset;
  outgoing.remaining = frame.bytes;
  return outgoing;
}

// The number of bytes that are sent at once: fewer if other messages are in flight, or if other
// threads could write them as early.
uint64_t TcpConnection::eagerBytes(uint64_t total, bool alone) {
  if (shared_.oneSocket)
    return wire::kEagerBytes;
  if (!alone)
    return wire::kSmallBytes;
  constexpr uint64_t most = wire::kEagerBytes / 2;
  uint64_t own = std::max(shared_.options.inlineBytes, wire::kSmallBytes);
  if (own >= most || total <= own)
    return most;
  if (streams_[1]->writerAwake())
    return own;
  streams_[1]->wakeWriter();
  return most;
}

// Decides how and when a message is sent.
When TcpConnection::dispatch(TcpRequest &request, uint64_t tag, Batch &batch) {
  Frame frame;
  frame.tag = tag;
  frame.bytes = request.total;
  std::optional<ReadyReceive> ready;
  Numbers::Tag *counted = sent_.find(tag);
  if (counted) {
    frame.key = ++counted->count;
    ready = takeReady(tag, frame.key);
  }
  bool alone = outbound_.available() + 1 == kMaxRequests;
  if (request.total > wire::kSmallBytes && shared_.pollers.size() > kFewThreads)
    alone &= !shared_.concurrentSends.noteFrom(this);
  uint64_t limit = std::min(eagerBytes(request.total, alone), windowBytes_);
  if (request.total <= limit && windowMessages_ > 0) {
    windowBytes_ -= request.total;
    --windowMessages_;
    frame.type = FrameType::Eager;
    request.remaining = 1;
    batch.push_back({0, outgoingPart(frame, request, 0)});
    batch.back().outgoing.part = request.addPart(0, frame.bytes);
    // If another message is in flight, the next test writes this one together with it.
    return alone && !streams_[0]->hasSeveralFrames() ? When::Now : When::Together;
  }
  if (ready && fitsTold(request.total, ready->bytes)) {
    sendParts(request, dataFrame(ready->id, request.total), batch);
    return batch.size() == 1 && alone ? When::Now : later();
  }
  if (!ready && mayPush(counted, request.total)) {
    push(request, tag, frame.key, batch);
    return batch.size() == 1 && alone ? When::Now : later();
  }
  frame.type = FrameType::Rts;
  frame.id = request.id();
  request.open = true;
  request.tag = tag;
  request.number = frame.key;
  asked_.push_back(&request);
  becomeLarge(request);
  batch.push_back({0, outgoingFrame(frame)});
  return large_ > 1 ? later() : When::Now;
}

Result<Request *> TcpConnection::isend(const Segment *segments, int count, uint64_t tag) {
  Result<uint64_t> total = totalBytes(segments, count, properties_);
  if (!total.ok())
    return total.status();
  // The receive for this message may already have been announced.
  if (*total > (shared_.oneSocket ? wire::kEagerBytes : wire::kSmallBytes))
    streams_[0]->poke();
  Batch batch;
  std::unique_lock<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  Result<TcpRequest *> begun = begin(outbound_, Kind::Send, segments, count);
  if (!begun.ok())
    return begun.status();
  TcpRequest *request = *begun;
  if (!request)
    return static_cast<Request *>(nullptr);
  When when = dispatch(*request, tag, batch);
  lock.unlock();
  if (!send(batch, when))
    streams_[0]->shut();
  return static_cast<Request *>(request);
}

Result<Request *> TcpConnection::irecv(const Segment *segments, int count, uint64_t tag) {
  Batch batch;
  When when = When::Now;
  std::unique_lock<std::mutex> lock(mutex_);
  if (closed_)
    return refusal();
  Result<TcpRequest *> begun = begin(inbound_, Kind::Recv, segments, count);
  if (!begun.ok())
    return begun.status();
  TcpRequest *request = *begun;
  if (!request)
    return static_cast<Request *>(nullptr);
  request->tag = tag;
  if (Numbers::Tag *counted = received_.find(tag))
    request->number = ++counted->count;
  if (!matchUnexpected(*request, batch)) {
    // Messages that arrived before the end may still be received; no more will arrive.
    if (live_ == 0) {
      release(*request);
      return failure_;
    }
    posted_.push_back(request);
    tell(*request, batch);
    when = posted_.size() > 1 ? later() : When::Now;
  }
  lock.unlock();
  if (!send(batch, when))
    streams_[0]->shut();
  return static_cast<Request *>(request);
}

Result<Request *> TcpConnection::iwrite(const Segment *segments, int count, const RemoteKey &key,
                                        uint64_t offset) {
  Batch batch;
  std::unique_lock<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  Result<TcpRequest *> begun = begin(outbound_, Kind::Write, segments, count);
  if (!begun.ok())
    return begun.status();
  TcpRequest *request = *begun;
  if (!request)
    return static_cast<Request *>(nullptr);
  for (const Extent &stripe : stripes(request->total)) {
    Frame frame;
    frame.type = FrameType::Write;
    frame.id = request->id();
    frame.key = key.key;
    frame.offset = offset + stripe.offset;
    frame.bytes = stripe.bytes;
    batch.push_back({nextStream(stripe.bytes), outgoingPart(frame, *request, stripe.offset)});
  }
  // Each part is finished twice: when it has been written, and when the peer has received it.
  request->stripes = static_cast<uint32_t>(batch.size());
  request->remaining = 2 * batch.size();
  lock.unlock();
  if (!send(batch, batch.size() == 1 ? When::Now : When::Soon))
    streams_[0]->shut();
  return static_cast<Request *>(request);
}

Result<Request *> TcpConnection::iread(const Segment *segments, int count, const RemoteKey &key,
                                       const RemoteRows &rows) {
  Result<uint64_t> total = totalBytes(segments, count, rows, properties_);
  if (!total.ok())
    return total.status();
  Batch batch;
  std::unique_lock<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  Result<TcpRequest *> begun = begin(inbound_, Kind::Read, segments, count);
  if (!begun.ok())
    return begun.status();
  TcpRequest *request = *begun;
  if (!request)
    return static_cast<Request *>(nullptr);
  request->open = true;
  request->remaining = request->total;
  Frame frame;
  frame.type = FrameType::Read;
  frame.id = request->id();
  frame.key = key.key;
  frame.offset = rows.offset;
  frame.bytes = request->total;
  frame.row = rows.rowBytes;
  frame.tag = rows.stride;
  batch.push_back({0, outgoingFrame(frame)});
  lock.unlock();
  if (!send(batch, When::Now))
    streams_[0]->shut();
  return static_cast<Request *>(request);
}

Result<Request *> TcpConnection::iflush(const Segment *segments, int count) {
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  Result<TcpRequest *> begun = begin(outbound_, Kind::Flush, segments, count);
  if (!begun.ok())
    return begun.status();
  if (*begun)
    (*begun)->finish();
  return static_cast<Request *>(*begun);
}

Result<Completion> TcpConnection::test(Request *opaque) {
  auto *request = static_cast<TcpRequest *>(opaque);
  // The calling thread reads, which saves a wake-up of the progress thread.
  if (request->isPending()) {
    if (!shared_.options.manyConnections || request->wantsLook())
      streams_[0]->poke();
    else
      streams_[0]->flushDeferred();
  }
  if (request->isPending())
    return Completion();
  std::lock_guard<std::mutex> lock(mutex_);
  Result<Completion> outcome = request->outcome();
  release(*request);
  return outcome;
}

void TcpConnection::rest() { streams_[0]->rest(); }

int TcpConnection::parts(const Request *opaque, MessagePart *out, int max) const {
  const auto *request = static_cast<const TcpRequest *>(opaque);
  int count = std::min(max, static_cast<int>(request->numParts.load(std::memory_order_acquire)));
  for (int i = 0; i < count; ++i) {
    const TcpRequest::Part &part = request->parts[static_cast<size_t>(i)];
    out[i] = {part.stream, part.bytes, part.startNs, part.endNs.load(std::memory_order_relaxed)};
  }
  return count;
}

//===-- the end -----------------------------------------------------------------===//

void TcpConnection::close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_)
      return;
    closed_ = true;
  }
  for (const std::shared_ptr<Stream> &stream : streams_)
    stream->detach();
  std::lock_guard<std::mutex> lock(mutex_);
  failAll({kCollAborted, "the connection was closed"});
}

void TcpConnection::failAll(const Status &why) {
  posted_.clear();
  asked_.clear();
  // Complete messages are kept: they were delivered.
  unexpected_.remove_if([](const std::shared_ptr<Unexpected> &m) { return !m->complete; });
  for (Pool *pool : {&outbound_, &inbound_})
    pool->failAll(why);
}

void TcpConnection::streamEnded(bool clean, const std::string &why) {
  bool last = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    last = --live_ == 0;
    if (failure_.ok())
      failure_ =
          clean ? Status(kCollPeer, "the peer closed the connection") : Status(kCollLink, why);
    if (last)
      failAll(failure_);
  }
  if (last)
    return;
  for (const std::shared_ptr<Stream> &stream : streams_) {
    if (clean)
      stream->setEnd(nowUs() + kEndUs);
    else
      stream->shut();
  }
}

} // namespace coll::net::tcp
