#include "runtime/backend/direct/links.h"

#include "runtime/base/thread.h"
#include "runtime/net/handshake.h"
#include "runtime/net/node_socket.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

namespace coll::rt::direct {

namespace {

enum class Kind : uint32_t { Descriptor = 1, Failure = 2, Farewell = 3 };

// A connection that sends nothing delays others by at most this.
constexpr int64_t kHandshakeUs = 2'000'000;

// Waits until the descriptor is ready; false after the deadline.
bool waitFor(int fd, short events, int64_t deadlineUs) {
  while (true) {
    int64_t leftUs = deadlineUs - net::nowUs();
    if (leftUs <= 0)
      return false;
    pollfd one = {fd, events, 0};
    int ready = poll(&one, 1, static_cast<int>(std::min<int64_t>(leftUs / 1000 + 1, 1000)));
    if (ready > 0)
      return true;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

Status complete(net::Handshake &shake, int64_t deadlineUs) {
  while (true) {
    switch (shake.advance()) {
    case net::Handshake::State::Done:
      return {};
    case net::Handshake::State::Failed:
      return shake.failure();
    case net::Handshake::State::Reading:
      if (!waitFor(shake.fd(), POLLIN, deadlineUs))
        return {kCollTimeout, "timed out waiting for the peer to complete the handshake"};
      break;
    case net::Handshake::State::Writing:
      if (!waitFor(shake.fd(), POLLOUT, deadlineUs))
        return {kCollTimeout, "timed out waiting for the peer to complete the handshake"};
      break;
    }
  }
}

std::string textOf(int rank) { return "rank " + std::to_string(rank); }

} // namespace

struct Links::Message {
  Kind kind = Kind::Farewell;
  int32_t code = 0;
  uint64_t id = 0;
  char text[240] = {};
};

Result<std::unique_ptr<Links>> Links::create(int rank, int size) {
  std::unique_ptr<Links> links(new Links(rank, size));
  Result<std::string> name = net::freshNodeName();
  if (!name)
    return name.status();
  links->name_ = name.take();
  COLL_RETURN_IF_ERROR(links->listen());
  return links;
}

Status Links::listen() {
  Result<net::Fd> listener = net::listenOnNode(name_, static_cast<int>(peers_.size()));
  if (!listener)
    return listener.status();
  listener_ = listener.take();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return net::linkError("a pipe", errno);
  wake_[0] = net::Fd(ends[0]);
  wake_[1] = net::Fd(ends[1]);
  return {};
}

// Higher ranks connect to lower ranks in order, so a rank that waits to be accepted waits for a
// rank with fewer connections left to make.
Status Links::connect(const std::vector<std::string> &names, const net::Secret &secret,
                      int64_t timeoutUs, std::function<void(const Status &)> onFailure) {
  const int64_t deadlineUs = net::nowUs() + timeoutUs;
  onFailure_ = std::move(onFailure);
  for (int peer = 0; peer < rank_; ++peer) {
    Result<net::Fd> fd = reach(names[static_cast<size_t>(peer)], secret, deadlineUs);
    if (!fd)
      return fd.status().annotate("connection to " + textOf(peer));
    peers_[static_cast<size_t>(peer)].fd = fd.take();
  }
  for (size_t left = peers_.size() - static_cast<size_t>(rank_) - 1; left > 0;) {
    Status admitted = admit(secret, deadlineUs);
    if (admitted.ok())
      --left;
    else if (net::nowUs() >= deadlineUs)
      return admitted.annotate("connections from other processes");
  }
  listener_.reset();
  for (Peer &peer : peers_)
    if (peer.fd.valid())
      (void)fcntl(peer.fd.get(), F_SETFL, 0); // blocking
  return startThread(thread_, "the sockets of the node", [this] { serve(); });
}

Result<net::Fd> Links::reach(const std::string &name, const net::Secret &secret,
                             int64_t deadlineUs) {
  Result<net::Fd> fd = net::connectOnNode(name, std::max<int64_t>(deadlineUs - net::nowUs(), 1));
  if (!fd)
    return fd.status();
  (void)fcntl(fd->get(), F_SETFL, O_NONBLOCK);
  net::wire::RankContext me = {static_cast<uint32_t>(rank_), static_cast<uint32_t>(peers_.size())};
  net::Handshake shake =
      net::Handshake::client(fd.take(), secret, net::wire::Purpose::Node, net::wire::encode(me));
  COLL_RETURN_IF_ERROR(complete(shake, deadlineUs));
  return shake.takeFd();
}

// Accepts one peer, or closes a connection that is not a peer's.
Status Links::admit(const net::Secret &secret, int64_t deadlineUs) {
  if (!waitFor(listener_.get(), POLLIN, deadlineUs))
    return {kCollTimeout, "timed out waiting for all processes of the node to connect"};
  Result<net::Fd> fd = net::acceptOnNode(listener_, /*blocking=*/false);
  if (!fd || !fd->valid())
    return {kCollPeer, "a stranger"};
  int rank = -1;
  auto judge = [&](const net::wire::Context &context) {
    net::wire::RankContext says = net::wire::decodeRank(context);
    if (says.worldSize != peers_.size())
      return net::wire::Refusal::WrongWorldSize;
    if (says.rank >= peers_.size() || static_cast<int>(says.rank) <= rank_)
      return net::wire::Refusal::BadRank;
    if (peers_[says.rank].fd.valid())
      return net::wire::Refusal::DuplicateRank;
    rank = static_cast<int>(says.rank);
    return net::wire::Refusal::None;
  };
  net::Handshake shake = net::Handshake::server(fd.take(), secret, net::wire::Purpose::Node, judge);
  COLL_RETURN_IF_ERROR(complete(shake, std::min(deadlineUs, net::nowUs() + kHandshakeUs)));
  peers_[static_cast<size_t>(rank)].fd = shake.takeFd();
  return {};
}

Links::~Links() {
  if (!thread_.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    leaving_ = true;
  }
  (void)!write(wake_[1].get(), "x", 1);
  thread_.join();
}

//===-- messages ----------------------------------------------------------------===//

Status Links::send(int peer, const Message &message, int fd) {
  // Messages are small and read at once, so the socket's buffer has room for them.
  std::lock_guard<std::mutex> lock(sendMutex_);
  return net::sendToNode(peers_[static_cast<size_t>(peer)].fd.get(), &message, sizeof(message), fd)
      .annotate(textOf(peer));
}

Status Links::give(int peer, uint64_t id, const net::Fd &fd) {
  Message message;
  message.kind = Kind::Descriptor;
  message.id = id;
  return send(peer, message, fd.get());
}

Result<net::Fd> Links::take(int peer, uint64_t id, int64_t timeoutUs) {
  std::unique_lock<std::mutex> lock(mutex_);
  Peer &from = peers_[static_cast<size_t>(peer)];
  auto there = [&] { return from.over || from.given.count(id) > 0; };
  bool inTime = changed_.wait_for(lock, std::chrono::microseconds(timeoutUs), there);
  if (auto it = from.given.find(id); it != from.given.end()) {
    net::Fd fd = std::move(it->second);
    from.given.erase(it);
    return fd;
  }
  return inTime ? Status(kCollPeer, textOf(peer) + " has ended")
                : Status(kCollTimeout, textOf(peer) + " sent no descriptor of its memory");
}

void Links::tellFailure(const Status &cause) {
  Message message;
  message.kind = Kind::Failure;
  message.code = cause.code();
  std::string text = cause.message();
  std::memcpy(message.text, text.data(), std::min(text.size(), sizeof(message.text) - 1));
  for (size_t peer = 0; peer < peers_.size(); ++peer)
    if (peers_[peer].fd.valid())
      (void)send(static_cast<int>(peer), message, -1); // a peer that has ended needs no message
}

void Links::farewell(int64_t timeoutUs) {
  if (!thread_.joinable())
    return;
  for (size_t peer = 0; peer < peers_.size(); ++peer)
    if (peers_[peer].fd.valid())
      (void)send(static_cast<int>(peer), Message(), -1);
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, std::chrono::microseconds(timeoutUs), [&] {
    return std::all_of(peers_.begin(), peers_.end(),
                       [](const Peer &peer) { return peer.over || !peer.fd.valid(); });
  });
}

//===-- the thread --------------------------------------------------------------===//

void Links::serve() {
  while (true) {
    std::vector<pollfd> waited = {{wake_[0].get(), POLLIN, 0}};
    std::vector<int> ranks = {rank_};
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (leaving_)
        return;
      for (size_t rank = 0; rank < peers_.size(); ++rank)
        if (peers_[rank].fd.valid() && !peers_[rank].over) {
          waited.push_back({peers_[rank].fd.get(), POLLIN, 0});
          ranks.push_back(static_cast<int>(rank));
        }
    }
    if (poll(waited.data(), waited.size(), -1) < 0)
      continue;
    for (size_t i = 1; i < waited.size(); ++i)
      if (waited[i].revents)
        receive(ranks[i]);
  }
}

void Links::receive(int rank) {
  Message message;
  Result<net::Fd> fd =
      net::receiveFromNode(peers_[static_cast<size_t>(rank)].fd.get(), &message, sizeof(message));
  if (!fd)
    return end(rank, {kCollPeer, "the process of " + textOf(rank) + " has ended"});
  message.text[sizeof(message.text) - 1] = '\0';
  if (message.kind == Kind::Farewell)
    return end(rank, {});
  if (message.kind == Kind::Failure) {
    Status told(kCollAborted, textOf(rank) + " has failed: " + message.text);
    std::unique_lock<std::mutex> lock(mutex_);
    const bool isFirst = !std::exchange(failed_, true);
    lock.unlock();
    if (isFirst)
      onFailure_(told);
    return;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  peers_[static_cast<size_t>(rank)].given[message.id] = fd.take();
  changed_.notify_all();
}

// The peer has said farewell (ok), or has ended.
void Links::end(int rank, const Status &failure) {
  std::unique_lock<std::mutex> lock(mutex_);
  peers_[static_cast<size_t>(rank)].over = true;
  changed_.notify_all();
  const bool isFirst = !failure.ok() && !std::exchange(failed_, true);
  lock.unlock();
  if (isFirst)
    onFailure_(failure);
}

} // namespace coll::rt::direct
