#include "runtime/net/verbs/setup.h"

#include <algorithm>
#include <cerrno>
#include <sys/epoll.h>
#include <sys/socket.h>

namespace coll::net::verbs {

Result<std::shared_ptr<Setup>> Setup::server(Shared &shared, int device, const Secret &secret,
                                             uint64_t number, Fd fd) {
  std::shared_ptr<Setup> self(new Setup(shared, device, /*isClient=*/false));
  std::lock_guard<std::mutex> lock(self->mutex_);
  self->isConnected_ = true;
  self->secret_ = secret;
  self->deadlineUs_ = nowUs() + shared.options.proofTimeoutUs;
  int raw = fd.get();
  self->shake_.emplace(Handshake::server(
      std::move(fd), secret, wire::Purpose::Verbs, [number](const wire::Context &context) {
        return wire::decodeStream(context).listener == number ? wire::Refusal::None
                                                              : wire::Refusal::UnknownListener;
      }));
  self->id_ = self->poller_.reserve();
  COLL_RETURN_IF_ERROR(self->poller_.add(self->id_, raw, EPOLLIN, self, self->deadlineUs_));
  return self;
}

Result<std::shared_ptr<Setup>> Setup::client(Shared &shared, int device, const Secret &secret,
                                             const HandleContent &peer) {
  std::shared_ptr<Setup> self(new Setup(shared, device, /*isClient=*/true));
  std::lock_guard<std::mutex> lock(self->mutex_);
  self->peer_ = peer;
  self->secret_ = secret;
  self->deadlineUs_ = nowUs() + shared.options.timeoutUs;
  COLL_RETURN_IF_ERROR(self->reconnect());
  return self;
}

Status Setup::reconnect() {
  Result<Fd> fd = startConnect(peer_.address);
  if (!fd.ok())
    return fd.status();
  int raw = fd->get();
  wire::StreamContext context;
  context.listener = peer_.listener;
  isConnected_ = false;
  shake_.emplace(
      Handshake::client(fd.take(), *secret_, wire::Purpose::Verbs, wire::encode(context)));
  id_ = poller_.reserve();
  return poller_.add(id_, raw, EPOLLOUT, shared_from_this(), deadlineUs_);
}

Setup::State Setup::state() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return state_;
}

Status Setup::failure() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return failure_;
}

Result<std::shared_ptr<Endpoint>> Setup::take() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (state_ != State::Ready || !endpoint_)
    return Status::invalid("the connection was already taken");
  COLL_RETURN_IF_ERROR(endpoint_->start(std::move(fd_)));
  return std::move(endpoint_);
}

void Setup::stop() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (state_ == State::Proving || state_ == State::Exchanging)
    end(State::Failed, {kCollAborted, "given up"});
}

void Setup::onEvents(uint32_t) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (state_ == State::Proving || state_ == State::Exchanging)
    advance();
}

void Setup::onDeadline() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (state_ == State::Proving || state_ == State::Exchanging)
    end(State::Failed, {kCollTimeout, "timed out waiting for the peer to complete the connection"});
}

void Setup::end(State state, const Status &failure) {
  state_ = state;
  failure_ = failure;
  poller_.remove(id_, fd_.valid() ? fd_.get() : shake_->fd());
  if (state == State::Ready)
    return;
  fd_.reset();
  shake_.reset();
  endpoint_.reset();
}

//===-- steps -------------------------------------------------------------------===//

void Setup::advanceProof() {
  if (!isConnected_) {
    if (Status outcome = connectOutcome(shake_->fd()); !outcome.ok())
      return end(State::Failed, outcome);
    isConnected_ = true;
  }
  switch (shake_->advance()) {
  case Handshake::State::Reading:
    return poller_.modify(id_, shake_->fd(), EPOLLIN);
  case Handshake::State::Writing:
    return poller_.modify(id_, shake_->fd(), EPOLLOUT);
  case Handshake::State::Failed: {
    Status why = shake_->failure();
    // A flooded listener drops unproven connections, so the attempt is repeated.
    if (isClient_ && why.code() == kCollLink && nowUs() < deadlineUs_) {
      poller_.remove(id_, shake_->fd());
      if (Status again = reconnect(); !again.ok())
        end(State::Failed, again);
      return;
    }
    return end(State::Failed, why);
  }
  case Handshake::State::Done:
    break;
  }
  fd_ = shake_->takeFd();
  state_ = State::Exchanging;
  in_.resize(SetupInfo::kBytes);
  if (!isClient_)
    return poller_.setDeadline(id_, nowUs() + shared_.options.timeoutUs);
  if (Status made = makeEndpoint(shared_.options.queuePairs); !made.ok())
    return end(State::Failed, made);
  out_.resize(SetupInfo::kBytes);
  encode(endpoint_->setupInfo(), out_.data());
}

void Setup::advance() {
  if (state_ == State::Proving)
    advanceProof();
  while (state_ == State::Exchanging) {
    if (!flush())
      return;
    // The connecting side is ready once it has sent the ready byte.
    if (isClient_ && in_.empty())
      return end(State::Ready);
    if (!fill())
      return;
    if (Status status = took(); !status.ok())
      return end(State::Failed, status);
  }
}

Status Setup::makeEndpoint(int queues) {
  Result<const Rail *> rail = shared_.usableRail(device_);
  if (!rail.ok())
    return rail.status();
  Result<std::shared_ptr<Endpoint>> made = Endpoint::create(shared_, **rail, queues);
  if (!made.ok())
    return made.status();
  endpoint_ = made.take();
  return {};
}

// All bytes of in_ have arrived.
Status Setup::took() {
  std::vector<uint8_t> got = std::move(in_);
  in_.clear();
  received_ = 0;
  if (!isClient_ && endpoint_) {
    if (got[0] != kReadyByte)
      return {kCollPeer, "the peer uses another protocol"};
    end(State::Ready);
    return {};
  }
  std::optional<SetupInfo> peer = decodeSetup(got.data());
  if (!peer)
    return {kCollPeer, "the peer uses another protocol"};
  if (!isClient_)
    COLL_RETURN_IF_ERROR(makeEndpoint(std::min<int>(shared_.options.queuePairs, peer->queues)));
  COLL_RETURN_IF_ERROR(endpoint_->connect(*peer));
  sent_ = 0;
  if (isClient_) {
    out_.assign(1, kReadyByte);
    return {};
  }
  out_.resize(SetupInfo::kBytes);
  encode(endpoint_->setupInfo(), out_.data());
  in_.resize(1);
  return {};
}

// Writes the pending bytes. False if some are left, or the connection has ended.
bool Setup::flush() {
  while (sent_ < out_.size()) {
    ssize_t count =
        ::send(fd_.get(), out_.data() + sent_, out_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN) {
      poller_.modify(id_, fd_.get(), EPOLLOUT);
      return false;
    }
    if (count < 0) {
      end(State::Failed, linkError("setting up a connection", errno));
      return false;
    }
    sent_ += static_cast<size_t>(count);
  }
  return true;
}

// Reads the expected bytes. False if some are missing, or the connection has ended.
bool Setup::fill() {
  while (received_ < in_.size()) {
    ssize_t count = ::recv(fd_.get(), in_.data() + received_, in_.size() - received_, MSG_DONTWAIT);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0 && errno == EAGAIN) {
      poller_.modify(id_, fd_.get(), EPOLLIN);
      return false;
    }
    if (count <= 0) {
      end(State::Failed, count < 0 ? linkError("setting up a connection", errno)
                                   : Status(kCollPeer, "the peer gave up setting up a connection; "
                                                       "its log says why"));
      return false;
    }
    received_ += static_cast<size_t>(count);
  }
  return true;
}

} // namespace coll::net::verbs
