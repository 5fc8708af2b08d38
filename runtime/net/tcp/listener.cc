#include "runtime/net/tcp/listener.h"

#include "runtime/net/handshake.h"
#include "runtime/net/tcp/connection.h"

#include <deque>
#include <map>
#include <random>
#include <sys/epoll.h>

namespace coll::net::tcp {

namespace {

constexpr size_t kMaxCandidates = 256;
constexpr size_t kMaxAssemblies = 256; // connections of which some streams have arrived

// One lock protects everything; handshakes are short and never wait.
class Core final : public PollHandler, public std::enable_shared_from_this<Core> {
public:
  Core(Shared &shared, Fd fd, uint64_t number, uint32_t streams, const Secret &secret)
      : shared_(shared), poller_(*shared.pollers.front()), fd_(std::move(fd)),
        id_(poller_.reserve()), number_(number), streams_(streams), secret_(secret) {}

  Status start() { return poller_.add(id_, fd_.get(), EPOLLIN, shared_from_this()); }
  void stop();
  // The sockets of the next complete connection, or none.
  std::vector<Fd> takeReady();

  void onEvents(uint32_t events) override;
  void onDeadline() override {}

private:
  class Candidate;
  struct Assembly {
    std::vector<Fd> streams;
    uint32_t count = 0;
    int64_t deadlineUs = 0;
  };
  using Key = std::pair<uint64_t, uint64_t>;

  void welcome(Fd fd);
  void evictOne();
  void forget(Candidate &candidate);
  wire::Refusal judge(const wire::Context &context);
  void assemble(const wire::StreamContext &context, Fd fd);

  Shared &shared_;
  Poller &poller_;
  Fd fd_;
  uint64_t id_, number_;
  uint32_t streams_;
  Secret secret_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::minstd_rand random_{std::random_device{}()};
  std::vector<std::shared_ptr<Candidate>> candidates_;
  std::map<Key, Assembly> assemblies_;
  std::deque<std::vector<Fd>> ready_;
};

class Core::Candidate final : public PollHandler {
public:
  Candidate(std::shared_ptr<Core> core, Fd fd)
      : core_(std::move(core)), id_(core_->poller_.reserve()),
        shake_(Handshake::server(
            std::move(fd), core_->secret_, wire::Purpose::Stream,
            [this](const wire::Context &context) { return core_->judge(context); })) {}

  void onEvents(uint32_t) override {
    std::lock_guard<std::mutex> lock(core_->mutex_);
    if (core_->stopped_)
      return;
    switch (shake_.advance()) {
    case Handshake::State::Reading:
      return core_->poller_.modify(id_, shake_.fd(), EPOLLIN);
    case Handshake::State::Writing:
      return core_->poller_.modify(id_, shake_.fd(), EPOLLOUT);
    case Handshake::State::Done: {
      core_->poller_.remove(id_, shake_.fd());
      Fd fd = shake_.takeFd();
      core_->assemble(wire::decodeStream(shake_.context()), std::move(fd));
      return core_->forget(*this);
    }
    case Handshake::State::Failed:
      return refuse(shake_.failure().message());
    }
  }
  void onDeadline() override {
    std::lock_guard<std::mutex> lock(core_->mutex_);
    if (!core_->stopped_)
      refuse("too slow");
  }

  void refuse(const std::string &why) {
    core_->shared_.log.warn("tcp: refused a connection: " + why);
    core_->forget(*this);
  }

  uint64_t id() const { return id_; }
  Handshake &shake() { return shake_; }
  size_t place = 0; // in candidates_

private:
  std::shared_ptr<Core> core_;
  uint64_t id_;
  Handshake shake_;
};

void Core::stop() {
  std::vector<std::shared_ptr<Candidate>> candidates;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    candidates.swap(candidates_);
    assemblies_.clear();
    ready_.clear();
    poller_.remove(id_, fd_.get());
    fd_.reset();
  }
  for (const std::shared_ptr<Candidate> &candidate : candidates)
    poller_.remove(candidate->id(), candidate->shake().fd());
}

std::vector<Fd> Core::takeReady() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (ready_.empty())
    return {};
  std::vector<Fd> fds = std::move(ready_.front());
  ready_.pop_front();
  return fds;
}

void Core::onEvents(uint32_t) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (stopped_)
    return;
  acceptWaiting(
      fd_, [this](Fd fd) { welcome(std::move(fd)); },
      [this] {
        shared_.log.warn("tcp: no descriptor for a connection");
        if (candidates_.empty())
          return false;
        evictOne();
        return true;
      });
}

void Core::welcome(Fd fd) {
  if (candidates_.size() >= kMaxCandidates)
    evictOne();
  int raw = fd.get();
  auto candidate = std::make_shared<Candidate>(shared_from_this(), std::move(fd));
  candidate->place = candidates_.size();
  candidates_.push_back(candidate);
  const int64_t deadlineUs = nowUs() + shared_.options.proofTimeoutUs;
  if (!poller_.add(candidate->id(), raw, EPOLLIN, candidate, deadlineUs).ok())
    forget(*candidate);
}

// Evicts a connection chosen at random, so that a flood cannot aim at an honest peer, which
// retries.
void Core::evictOne() {
  shared_.log.warn("tcp: too many unproven connections; evicted one");
  forget(*candidates_[random_() % candidates_.size()]);
}

void Core::forget(Candidate &candidate) {
  std::shared_ptr<Candidate> keep = candidates_[candidate.place];
  candidates_.back()->place = candidate.place;
  std::swap(candidates_[candidate.place], candidates_.back());
  candidates_.pop_back();
  poller_.remove(candidate.id(), candidate.shake().fd());
  candidate.shake().takeFd();
}

// Called under the lock, from a candidate's handshake.
wire::Refusal Core::judge(const wire::Context &context) {
  wire::StreamContext stream = wire::decodeStream(context);
  if (stream.listener != number_ || stream.count != streams_ || stream.index >= stream.count)
    return wire::Refusal::UnknownListener;
  int64_t now = nowUs();
  for (auto it = assemblies_.begin(); it != assemblies_.end();)
    it = it->second.deadlineUs < now ? assemblies_.erase(it) : std::next(it);
  if (assemblies_.size() + ready_.size() >= kMaxAssemblies &&
      !assemblies_.count({stream.connection[0], stream.connection[1]}))
    return wire::Refusal::Busy;
  return wire::Refusal::None;
}

void Core::assemble(const wire::StreamContext &context, Fd fd) {
  Key key{context.connection[0], context.connection[1]};
  Assembly &assembly = assemblies_[key];
  assembly.streams.resize(context.count);
  if (!assembly.deadlineUs)
    assembly.deadlineUs = nowUs() + shared_.options.timeoutUs;
  Fd &place = assembly.streams[context.index];
  assembly.count += place.valid() ? 0 : 1;
  place = std::move(fd);
  if (assembly.count < context.count)
    return;
  ready_.push_back(std::move(assembly.streams));
  assemblies_.erase(key);
}

class TcpListener final : public Listener {
public:
  TcpListener(Shared &shared, int device, std::shared_ptr<Core> core, const Handle &handle)
      : shared_(shared), device_(device), core_(std::move(core)), handle_(handle) {}
  ~TcpListener() override { core_->stop(); }

  const Handle &handle() const override { return handle_; }
  Result<std::unique_ptr<Connection>> accept() override {
    std::vector<Fd> fds = core_->takeReady();
    if (fds.empty())
      return std::unique_ptr<Connection>();
    return TcpConnection::create(shared_, device_, std::move(fds));
  }

private:
  Shared &shared_;
  int device_;
  std::shared_ptr<Core> core_;
  Handle handle_;
};

} // namespace

Result<std::unique_ptr<Listener>> makeListener(Shared &shared, int device) {
  Result<Fd> fd = listenOn(shared.addresses[static_cast<size_t>(device)]);
  if (!fd.ok())
    return fd.status();
  HandleContent content;
  content.streams = static_cast<uint32_t>(shared.options.dataStreams) + 1;
  Result<Secret> secret = nameListener(*fd, shared.secret, content);
  if (!secret.ok())
    return secret.status();
  auto core = std::make_shared<Core>(shared, fd.take(), content.listener, content.streams, *secret);
  COLL_RETURN_IF_ERROR(core->start());
  return std::unique_ptr<Listener>(
      std::make_unique<TcpListener>(shared, device, std::move(core), encodeHandle(content)));
}

} // namespace coll::net::tcp
