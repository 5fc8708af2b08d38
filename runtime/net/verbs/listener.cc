#include "runtime/net/verbs/listener.h"

#include "runtime/net/verbs/setup.h"

#include <algorithm>
#include <random>
#include <sys/epoll.h>

namespace coll::net::verbs {

namespace {

constexpr size_t kMaxCandidates = 256;

class VerbsConnection final : public Connection {
public:
  explicit VerbsConnection(std::shared_ptr<Endpoint> endpoint) : endpoint_(std::move(endpoint)) {}
  ~VerbsConnection() override { endpoint_->close(); }

  Result<Request *> isend(const Segment *segments, int count, uint64_t tag) override {
    return endpoint_->isend(segments, count, tag);
  }
  Result<Request *> irecv(const Segment *segments, int count, uint64_t tag) override {
    return endpoint_->irecv(segments, count, tag);
  }
  Result<Request *> iwrite(const Segment *segments, int count, const RemoteKey &key,
                           uint64_t offset) override {
    return endpoint_->access(/*isWrite=*/true, segments, count, key, offset);
  }
  Result<Request *> iread(const Segment *segments, int count, const RemoteKey &key,
                          const RemoteRows &rows) override {
    return endpoint_->access(/*isWrite=*/false, segments, count, key, rows);
  }
  Result<Request *> iflush(const Segment *segments, int count) override {
    return endpoint_->iflush(segments, count);
  }
  Result<Completion> test(Request *request) override { return endpoint_->test(request); }
  void close() override { endpoint_->close(); }
  void abort() override { endpoint_->abort(); }

private:
  std::shared_ptr<Endpoint> endpoint_;
};

Result<std::unique_ptr<Connection>> takeConnection(Setup &setup) {
  Result<std::shared_ptr<Endpoint>> endpoint = setup.take();
  if (!endpoint.ok())
    return endpoint.status();
  return std::unique_ptr<Connection>(std::make_unique<VerbsConnection>(endpoint.take()));
}

// The listening socket and its incoming connections. Its lock is taken before a Setup's.
class Door final : public PollHandler {
public:
  Door(Shared &shared, int device, Fd fd, uint64_t number, const Secret &secret)
      : shared_(shared), device_(device), poller_(*shared.pollers.front()), fd_(std::move(fd)),
        id_(poller_.reserve()), number_(number), secret_(secret) {}

  static Status open(const std::shared_ptr<Door> &self) {
    return self->poller_.add(self->id_, self->fd_.get(), EPOLLIN, self);
  }

  void stop() {
    std::lock_guard<std::mutex> lock(mutex_);
    poller_.remove(id_, fd_.get());
    fd_.reset();
    for (const std::shared_ptr<Setup> &candidate : candidates_)
      candidate->stop();
    candidates_.clear();
  }

  Result<std::unique_ptr<Connection>> takeReady() {
    std::lock_guard<std::mutex> lock(mutex_);
    dropFailed();
    for (auto it = candidates_.begin(); it != candidates_.end(); ++it) {
      if ((*it)->state() != Setup::State::Ready)
        continue;
      std::shared_ptr<Setup> ready = *it;
      candidates_.erase(it);
      return takeConnection(*ready);
    }
    return std::unique_ptr<Connection>();
  }

  void onEvents(uint32_t) override {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!fd_.valid())
      return;
    acceptWaiting(
        fd_, [this](Fd fd) { welcome(std::move(fd)); },
        [this] {
          shared_.log.warn("verbs: no descriptor for a connection");
          return evictOne();
        });
  }
  void onDeadline() override {}

private:
  void welcome(Fd fd) {
    dropFailed();
    if (candidates_.size() >= kMaxCandidates && !evictOne())
      return;
    Result<std::shared_ptr<Setup>> candidate =
        Setup::server(shared_, device_, secret_, number_, std::move(fd));
    if (candidate.ok())
      candidates_.push_back(candidate.take());
  }

  void dropFailed() {
    auto isFailed = [this](const std::shared_ptr<Setup> &candidate) {
      if (candidate->state() != Setup::State::Failed)
        return false;
      shared_.log.warn("verbs: refused a connection: " + candidate->failure().message());
      return true;
    };
    candidates_.erase(std::remove_if(candidates_.begin(), candidates_.end(), isFailed),
                      candidates_.end());
  }

  // Evicts an unproven connection chosen at random, so that a flood cannot aim at an honest peer,
  // which retries. False if all connections are proven.
  bool evictOne() {
    std::vector<size_t> unproven;
    for (size_t i = 0; i < candidates_.size(); ++i)
      if (candidates_[i]->state() == Setup::State::Proving)
        unproven.push_back(i);
    if (unproven.empty())
      return false;
    size_t place = unproven[random_() % unproven.size()];
    shared_.log.warn("verbs: too many unproven connections; evicted one");
    candidates_[place]->stop();
    candidates_.erase(candidates_.begin() + static_cast<ptrdiff_t>(place));
    return true;
  }

  Shared &shared_;
  const int device_;
  Poller &poller_;
  Fd fd_;
  uint64_t id_, number_;
  Secret secret_;
  std::mutex mutex_;
  std::minstd_rand random_{std::random_device{}()};
  std::vector<std::shared_ptr<Setup>> candidates_;
};

class VerbsListener final : public Listener {
public:
  VerbsListener(std::shared_ptr<Door> door, const Handle &handle)
      : door_(std::move(door)), handle_(handle) {}
  ~VerbsListener() override { door_->stop(); }

  const Handle &handle() const override { return handle_; }
  Result<std::unique_ptr<Connection>> accept() override { return door_->takeReady(); }

private:
  std::shared_ptr<Door> door_;
  Handle handle_;
};

class VerbsConnector final : public Connector {
public:
  VerbsConnector(std::shared_ptr<Setup> setup, std::string peer)
      : setup_(std::move(setup)), peer_(std::move(peer)) {}
  ~VerbsConnector() override { setup_->stop(); }

  Result<std::unique_ptr<Connection>> poll() override {
    switch (setup_->state()) {
    case Setup::State::Failed:
      return setup_->failure().annotate("connect to " + peer_);
    case Setup::State::Ready:
      return takeConnection(*setup_);
    default:
      return std::unique_ptr<Connection>();
    }
  }

private:
  std::shared_ptr<Setup> setup_;
  std::string peer_;
};

} // namespace

Result<std::unique_ptr<Listener>> makeListener(Shared &shared, int device) {
  Result<const Rail *> rail = shared.usableRail(device);
  if (!rail.ok())
    return rail.status();
  Result<Fd> fd = listenOn((*rail)->address);
  if (!fd.ok())
    return fd.status();
  HandleContent content;
  Result<Secret> secret = nameListener(*fd, shared.secret, content);
  if (!secret.ok())
    return secret.status();
  auto door = std::make_shared<Door>(shared, device, fd.take(), content.listener, *secret);
  COLL_RETURN_IF_ERROR(Door::open(door));
  return std::unique_ptr<Listener>(
      std::make_unique<VerbsListener>(std::move(door), encodeHandle(content)));
}

Result<std::unique_ptr<Connector>> makeConnector(Shared &shared, int device,
                                                 const HandleContent &peer) {
  Result<const Rail *> rail = shared.usableRail(device);
  if (!rail.ok())
    return rail.status();
  Result<Secret> secret = secretFor(shared.secret, peer);
  if (!secret.ok())
    return secret.status();
  Result<std::shared_ptr<Setup>> setup = Setup::client(shared, device, *secret, peer);
  if (!setup.ok())
    return setup.status();
  return std::unique_ptr<Connector>(
      std::make_unique<VerbsConnector>(setup.take(), peer.address.toString()));
}

} // namespace coll::net::verbs
