#include "runtime/net/handshake.h"
#include "runtime/net/tcp/connection.h"
#include "runtime/net/tcp/listener.h"

#include <algorithm>
#include <sys/epoll.h>

namespace coll::net::tcp {

namespace {

constexpr uint32_t kHandleMagic = 0x50544c43; // "CLTP"
constexpr int64_t kFirstPauseUs = 1'000, kLongestPauseUs = 200'000;

// The streams of one connection while they are being connected, under one lock.
class Core final : public std::enable_shared_from_this<Core> {
public:
  Core(Shared &shared, const HandleContent &peer, const Secret &secret)
      : poller_(shared.nextPoller()), peer_(peer), secret_(secret),
        deadlineUs_(nowUs() + shared.options.timeoutUs), done_(peer.streams) {}

  Status start();
  void stop();
  // The sockets, once all are connected; none before.
  Result<std::vector<Fd>> take();

private:
  class Attempt;
  class Pause;
  Status begin(uint32_t index);
  Status beginLater(uint32_t index);
  void fail(const Status &status);

  Poller &poller_;
  HandleContent peer_;
  Secret secret_;
  int64_t deadlineUs_;
  uint64_t connection_[2] = {};
  std::mutex mutex_;
  bool stopped_ = false;
  Status failure_;
  std::vector<Fd> done_;
  size_t numDone_ = 0;
  std::vector<std::shared_ptr<Attempt>> attempts_;
  std::vector<int64_t> pausesUs_; // pause before the next attempt, by stream
};

// One stream: connects, then proves the secret.
class Core::Attempt final : public PollHandler {
public:
  Attempt(std::shared_ptr<Core> core, uint32_t index, Fd fd)
      : core_(std::move(core)), index_(index), id_(core_->poller_.reserve()), fd_(fd.get()),
        shake_(Handshake::client(std::move(fd), core_->secret_, wire::Purpose::Stream, context())) {
  }

  void onEvents(uint32_t) override {
    std::lock_guard<std::mutex> lock(core_->mutex_);
    if (core_->stopped_ || !core_->failure_.ok() || over_)
      return;
    if (!connected_) {
      if (Status outcome = connectOutcome(fd_); !outcome.ok())
        return finish(outcome);
      connected_ = true;
    }
    switch (shake_.advance()) {
    case Handshake::State::Reading:
      return core_->poller_.modify(id_, fd_, EPOLLIN);
    case Handshake::State::Writing:
      return core_->poller_.modify(id_, fd_, EPOLLOUT);
    case Handshake::State::Done:
      return finish({});
    case Handshake::State::Failed:
      // A flooded listener drops unproven connections, so the attempt is repeated.
      if (shake_.failure().code() == kCollLink && nowUs() < core_->deadlineUs_) {
        over_ = true;
        core_->poller_.remove(id_, fd_);
        Status again = core_->beginLater(index_);
        return again.ok() ? void() : core_->fail(again);
      }
      return finish(shake_.failure());
    }
  }
  void onDeadline() override {
    std::lock_guard<std::mutex> lock(core_->mutex_);
    if (!core_->stopped_ && !over_)
      finish({kCollTimeout, "timed out waiting for the peer to complete the connection"});
  }

  // Called after the core was stopped. A socket that was handed over is not closed.
  void drop() {
    if (!over_)
      core_->poller_.remove(id_, fd_);
  }
  uint64_t id() const { return id_; }

private:
  wire::Context context() const {
    return encode(wire::StreamContext{core_->peer_.listener,
                                      {core_->connection_[0], core_->connection_[1]},
                                      index_,
                                      core_->peer_.streams});
  }
  void finish(const Status &outcome) {
    over_ = true;
    core_->poller_.remove(id_, fd_);
    if (!outcome.ok())
      return core_->fail(outcome);
    core_->done_[index_] = shake_.takeFd();
    ++core_->numDone_;
  }

  std::shared_ptr<Core> core_;
  uint32_t index_;
  uint64_t id_;
  int fd_;
  Handshake shake_;
  bool connected_ = false, over_ = false;
};

// The pause between two attempts of a stream.
class Core::Pause final : public PollHandler {
public:
  Pause(std::shared_ptr<Core> core, uint32_t index)
      : core_(std::move(core)), index_(index), id_(core_->poller_.reserve()) {}

  void onEvents(uint32_t) override {}
  void onDeadline() override {
    std::lock_guard<std::mutex> lock(core_->mutex_);
    core_->poller_.remove(id_, -1);
    if (core_->stopped_ || !core_->failure_.ok())
      return;
    if (Status again = core_->begin(index_); !again.ok())
      core_->fail(again);
  }
  uint64_t id() const { return id_; }

private:
  std::shared_ptr<Core> core_;
  uint32_t index_;
  uint64_t id_;
};

Status Core::start() {
  COLL_RETURN_IF_ERROR(fillRandom(connection_, sizeof(connection_)));
  std::lock_guard<std::mutex> lock(mutex_);
  attempts_.resize(peer_.streams);
  pausesUs_.assign(peer_.streams, kFirstPauseUs);
  for (uint32_t index = 0; index < peer_.streams; ++index)
    COLL_RETURN_IF_ERROR(begin(index));
  return {};
}

// The caller holds the lock.
Status Core::begin(uint32_t index) {
  Result<Fd> fd = startConnect(peer_.address);
  if (!fd.ok())
    return fd.status();
  int raw = fd->get();
  auto attempt = std::make_shared<Attempt>(shared_from_this(), index, fd.take());
  attempts_[index] = attempt;
  return poller_.add(attempt->id(), raw, EPOLLOUT, attempt, deadlineUs_);
}

// The caller holds the lock. The pauses double, so that a listener with a full backlog is not
// flooded.
Status Core::beginLater(uint32_t index) {
  int64_t &pauseUs = pausesUs_[index];
  auto pause = std::make_shared<Pause>(shared_from_this(), index);
  const int64_t untilUs = nowUs() + pauseUs;
  pauseUs = std::min(2 * pauseUs, kLongestPauseUs);
  return poller_.add(pause->id(), -1, 0, pause, untilUs);
}

void Core::fail(const Status &status) {
  if (failure_.ok())
    failure_ = status.annotate("connect to " + peer_.address.toString());
}

void Core::stop() {
  std::vector<std::shared_ptr<Attempt>> attempts;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    attempts.swap(attempts_);
    done_.clear();
  }
  for (const std::shared_ptr<Attempt> &attempt : attempts)
    if (attempt)
      attempt->drop();
}

Result<std::vector<Fd>> Core::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!failure_.ok())
    return failure_;
  if (stopped_)
    return Status::invalid("the connection was taken before");
  if (numDone_ < peer_.streams)
    return std::vector<Fd>();
  stopped_ = true;
  return std::move(done_);
}

class TcpConnector final : public Connector {
public:
  TcpConnector(Shared &shared, int device, std::shared_ptr<Core> core)
      : shared_(shared), device_(device), core_(std::move(core)) {}
  ~TcpConnector() override { core_->stop(); }

  Result<std::unique_ptr<Connection>> poll() override {
    Result<std::vector<Fd>> fds = core_->take();
    if (!fds.ok())
      return fds.status();
    if (fds->empty())
      return std::unique_ptr<Connection>();
    return TcpConnection::create(shared_, device_, fds.take());
  }

private:
  Shared &shared_;
  int device_;
  std::shared_ptr<Core> core_;
};

} // namespace

Result<std::unique_ptr<Connector>> makeConnector(Shared &shared, int device,
                                                 const HandleContent &peer) {
  Result<Secret> secret = secretFor(shared.secret, peer);
  if (!secret.ok())
    return secret.status();
  auto core = std::make_shared<Core>(shared, peer, *secret);
  auto connector = std::make_unique<TcpConnector>(shared, device, core);
  COLL_RETURN_IF_ERROR(core->start());
  return std::unique_ptr<Connector>(std::move(connector));
}

//===-- handles -----------------------------------------------------------------===//

Handle encodeHandle(const HandleContent &content) {
  Handle handle;
  wire::Encoder encoder(handle.bytes.data());
  encoder.put(kHandleMagic).put(wire::kVersion).put(static_cast<uint8_t>(content.streams));
  encode(content, encoder);
  return handle;
}

std::optional<HandleContent> decodeHandle(const Handle &handle) {
  wire::Decoder decoder(handle.bytes.data());
  if (decoder.get<uint32_t>() != kHandleMagic || decoder.get<uint16_t>() != wire::kVersion)
    return std::nullopt;
  const uint32_t streams = decoder.get<uint8_t>();
  std::optional<ListenerHandle> listener = decodeListener(decoder);
  if (!listener || streams < 2 || streams > 17)
    return std::nullopt;
  return HandleContent{*listener, streams};
}

} // namespace coll::net::tcp
