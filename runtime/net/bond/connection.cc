// Requests of the application, and the life of the connection.

#include "runtime/net/bond/connection.h"

#include "runtime/net/socket.h"

#include <algorithm>

namespace coll::net::bond {

namespace {

// An idle connection is ticked less often.
constexpr uint32_t kIdleTicks = 16;

// The application's end.
class BondEnd final : public Connection {
public:
  explicit BondEnd(std::shared_ptr<BondConnection> connection)
      : connection_(std::move(connection)) {}
  ~BondEnd() override { connection_->close(); }

  Result<Request *> isend(const Segment *segments, int count, uint64_t tag) override {
    return connection_->isend(segments, count, tag);
  }
  Result<Request *> irecv(const Segment *segments, int count, uint64_t tag) override {
    return connection_->irecv(segments, count, tag);
  }
  Result<Request *> iwrite(const Segment *segments, int count, const RemoteKey &key,
                           uint64_t offset) override {
    return connection_->oneSided(BondRequest::Kind::Write, segments, count, key, offset);
  }
  Result<Request *> iread(const Segment *segments, int count, const RemoteKey &key,
                          const RemoteRows &rows) override {
    return connection_->oneSided(BondRequest::Kind::Read, segments, count, key, rows);
  }
  Result<Request *> iflush(const Segment *segments, int count) override {
    return connection_->iflush(segments, count);
  }
  Result<Completion> test(Request *request) override { return connection_->test(request); }
  void rest() override { connection_->rest(); }
  void close() override { connection_->close(); }

private:
  std::shared_ptr<BondConnection> connection_;
};

} // namespace

Result<std::unique_ptr<Connection>>
BondConnection::create(const Identity &identity, std::vector<std::unique_ptr<Connection>> links) {
  std::shared_ptr<BondConnection> self(new BondConnection(identity));
  self->rails_.resize(links.size());
  {
    std::lock_guard<std::mutex> lock(self->mutex_);
    for (size_t i = 0; i < links.size(); ++i) {
      Rail &rail = self->rails_[i];
      rail.link = std::move(links[i]);
      rail.isUp = rail.link != nullptr;
      rail.isClosed = rail.peerClosed = !rail.isUp;
      rail.upUs = nowUs();
    }
    for (size_t i = 0; i < self->rails_.size() && !self->over_; ++i)
      if (Rail &rail = self->rails_[i]; rail.isUp)
        if (Status posted = self->postSlots(rail); !posted.ok())
          self->railFailed(i, posted);
    if (self->over_)
      return self->failure_;
  }
  identity.shared->keeper->add(self);
  return std::unique_ptr<Connection>(std::make_unique<BondEnd>(std::move(self)));
}

//===-- requests ----------------------------------------------------------------===//

// Null if no request is free.
BondRequest *BondConnection::begin(Kind kind, const Segment *segments, int count, uint64_t total) {
  const bool isInbound = kind == Kind::Recv || kind == Kind::Read;
  BondRequest *request = (isInbound ? inbound_ : outbound_).take();
  if (!request)
    return nullptr;
  request->begin(kind, segments, count, total);
  request->isActive = request->isAnswered = false;
  request->number = 0;
  request->parts.clear();
  request->verdict = Status();
  return request;
}

void BondConnection::release(BondRequest &request) {
  (request.isInbound() ? inbound_ : outbound_).give(request);
}

Status BondConnection::refusal() const {
  if (closed_)
    return {kCollAborted, "the connection was closed"};
  return failure_;
}

Result<Request *> BondConnection::isend(const Segment *segments, int count, uint64_t tag) {
  Result<uint64_t> total = totalBytes(segments, count, properties_);
  if (!total.ok())
    return total.status();
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  BondRequest *request = begin(Kind::Send, segments, count, *total);
  if (!request)
    return static_cast<Request *>(nullptr);
  Frame frame;
  frame.tag = tag;
  frame.bytes = *total;
  if (*total <= kEagerBytes && eagerBytes_ - peerTookBytes_ + *total <= kWindowBytes &&
      eagerMessages_ - peerTookMessages_ < kWindowMessages) {
    frame.type = FrameType::Eager;
    eagerBytes_ += *total;
    ++eagerMessages_;
    pushEager(frame, *request);
    flush();
    return static_cast<Request *>(request);
  }
  frame.type = FrameType::Large;
  frame.id = request->number = ++lastLarge_;
  std::vector<uint8_t> rails = upRails();
  request->parts = divide(*total, rails.size());
  for (Part &part : request->parts)
    frame.rails[frame.count++] = part.rail = rails[static_cast<size_t>(&part - &request->parts[0])];
  // A buffer that no device accepts is refused before the peer is told of the message.
  if (!request->parts.empty())
    if (Status refused = post(*request, request->parts.front()); !refused.ok()) {
      --lastLarge_;
      release(*request);
      return refused;
    }
  if (over_) // that was the last link; the request has failed with it
    return static_cast<Request *>(request);
  sends_[request->number] = request;
  push(frame);
  activate(*request);
  flush();
  return static_cast<Request *>(request);
}

Result<Request *> BondConnection::irecv(const Segment *segments, int count, uint64_t tag) {
  Result<uint64_t> total = totalBytes(segments, count, properties_);
  if (!total.ok())
    return total.status();
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_)
    return refusal();
  BondRequest *request = begin(Kind::Recv, segments, count, *total);
  if (!request)
    return static_cast<Request *>(nullptr);
  request->tag = tag;
  if (!matchUnexpected(*request)) {
    // Messages that arrived before the end may still be received, but no more will arrive.
    if (over_) {
      release(*request);
      return refusal();
    }
    posted_.push_back(request);
  }
  flush();
  return static_cast<Request *>(request);
}

Result<Request *> BondConnection::oneSided(Kind kind, const Segment *segments, int count,
                                           const RemoteKey &key, const RemoteRows &rows) {
  Result<uint64_t> total = totalBytes(segments, count, rows, properties_);
  if (!total.ok())
    return total.status();
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  BondRequest *request = begin(kind, segments, count, *total);
  if (!request)
    return static_cast<Request *>(nullptr);
  request->key = key;
  request->rows = rows;
  std::vector<uint8_t> rails = upRails();
  // The link rejects a range that wraps around, so such a range is passed on in one piece.
  request->parts = divide(*total, rows.fit(*total, UINT64_MAX) ? rails.size() : 1, rows.rowBytes);
  if (request->parts.empty())
    request->parts.emplace_back(); // so that the key is checked even without bytes
  for (size_t i = 0; i < request->parts.size(); ++i)
    request->parts[i].rail = rails[i];
  activate(*request);
  flush();
  return static_cast<Request *>(request);
}

Result<Request *> BondConnection::iflush(const Segment *segments, int count) {
  Result<uint64_t> total = totalBytes(segments, count, properties_);
  if (!total.ok())
    return total.status();
  std::lock_guard<std::mutex> lock(mutex_);
  COLL_RETURN_IF_ERROR(refusal());
  BondRequest *request = begin(Kind::Flush, segments, count, *total);
  if (request)
    request->finish();
  return static_cast<Request *>(request);
}

Result<Completion> BondConnection::test(Request *opaque) {
  auto *request = static_cast<BondRequest *>(opaque);
  if (request->isPending()) {
    std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && !over_) {
      wasTested_ = true;
      progress(request);
    }
  }
  if (request->isPending())
    return Completion();
  std::lock_guard<std::mutex> lock(mutex_);
  Result<Completion> outcome = request->outcome();
  release(*request);
  return outcome;
}

// Handles the frames that have arrived, and progresses the given request and one other.
void BondConnection::progress(BondRequest *focus) {
  for (size_t i = 0; i < rails_.size() && !over_; ++i) {
    if (!rails_[i].isUp)
      continue;
    if (Status broken = takeFrames(i); !broken.ok())
      railFailed(i, broken);
    if (rails_[i].isUp)
      finishSends(i);
  }
  if (!over_ && focus && focus->isActive)
    advance(*focus);
  if (!over_ && !active_.empty())
    advance(*active_[++turn_ % active_.size()]);
  if (!over_ && !discards_.empty())
    advanceDiscards();
  if (!over_ && isMending())
    mend();
  flush();
}

void BondConnection::rest() {
  std::lock_guard<std::mutex> lock(mutex_);
  for (Rail &rail : rails_)
    if (rail.isUp)
      rail.link->rest();
}

bool BondConnection::tick() {
  std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock())
    return true;
  if (over_)
    return false;
  bool isMaking = std::any_of(rails_.begin(), rails_.end(),
                              [](const Rail &rail) { return rail.mend != nullptr; });
  bool isQuiet =
      active_.empty() && posted_.empty() && next_ == unacked_.size() && !isMaking && !closed_;
  idleTicks_ = isQuiet && !wasTested_ ? idleTicks_ + 1 : 0;
  if (std::exchange(wasTested_, false) && active_.size() < 2)
    return true;
  if (idleTicks_ % kIdleTicks != 0)
    return true;
  progress(nullptr);
  if (closed_ && nowUs() > lingerUntilUs_)
    fail({kCollAborted, "the connection was closed"});
  for (BondRequest *request : std::vector<BondRequest *>(active_))
    if (!over_ && request->isActive)
      advance(*request);
  flush();
  return true;
}

//===-- the end -----------------------------------------------------------------===//

void BondConnection::failAll(const Status &why) {
  posted_.clear();
  active_.clear();
  sends_.clear();
  discards_.clear();
  for (RequestPool<BondRequest> *pool : {&outbound_, &inbound_}) {
    for (BondRequest &request : *pool) {
      request.isActive = false;
      if (request.kind == Kind::Free || !request.isPending() || !request.isAnswered)
        continue;
      // The receiver's answer arrived before the end, so it is valid.
      request.verdict.ok() ? request.finish() : request.fail(request.verdict);
    }
    pool->failAll(why);
  }
}

// Afterwards no link accesses a buffer.
void BondConnection::fail(const Status &why) {
  if (over_)
    return;
  over_ = true;
  failure_ = why;
  for (Rail &rail : rails_)
    if (!rail.isClosed) {
      rail.link->close();
      rail.isUp = false;
      rail.isClosed = true;
    }
  failAll(why);
  for (Rail &rail : rails_)
    rail.mend.reset();
  unacked_.clear();
  next_ = 0;
  parked_.clear();
}

void BondConnection::close() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_)
    return;
  if (!over_)
    progress(nullptr);
  if (!over_) {
    Frame bye;
    bye.type = FrameType::Bye;
    push(bye);
    flush();
  }
  closed_ = true;
  if (!over_)
    startLingering();
  failAll({kCollAborted, "the connection was closed"});
}

// Keeps the links that use none of the application's buffers until the peer has received all
// messages that were done before; the peer then closes its ends. Its other frames are ignored.
void BondConnection::startLingering() {
  lingerUntilUs_ = nowUs() + (identity_.shared->isHurried ? kHurriedLingerUs : kLingerUs);
  for (Rail &rail : rails_)
    rail.mend.reset();
  for (const std::shared_ptr<Outgoing> &outgoing : unacked_)
    outgoing->request = nullptr;
  for (const BondRequest *request : active_)
    for (const Part &part : request->parts)
      if (part.stage == Stage::Posted && rails_[part.rail].isUp) {
        rails_[part.rail].link->close();
        if (!closeRail(part.rail))
          return fail({kCollAborted, "the connection was closed"});
      }
}

} // namespace coll::net::bond
