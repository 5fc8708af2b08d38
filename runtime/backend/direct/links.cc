#include "runtime/backend/direct/links.h"

#include "runtime/net/handshake.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

namespace coll::rt::direct {

namespace {

enum class Kind : uint32_t { Descriptor = 1, Failure = 2, Farewell = 3 };

// A stranger that says nothing does not keep others waiting for longer.
constexpr int64_t kHandshakeUs = 2'000'000;
constexpr size_t kNameBytes = 16;

sockaddr_un addressOf(const std::string &name, socklen_t &length) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // The first byte stays zero: abstract, so nothing is left in a file system.
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

bool isSameUser(int fd) {
  ucred peer = {};
  socklen_t length = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

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
        return {kCollTimeout, "the peer does not complete the handshake"};
      break;
    case net::Handshake::State::Writing:
      if (!waitFor(shake.fd(), POLLOUT, deadlineUs))
        return {kCollTimeout, "the peer does not complete the handshake"};
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
  uint8_t random[kNameBytes];
  COLL_RETURN_IF_ERROR(net::fillRandom(random, sizeof(random)));
  links->name_ = "coll-";
  for (uint8_t byte : random)
    links->name_ += "0123456789abcdef"[byte % 16];
  COLL_RETURN_IF_ERROR(links->listen());
  return links;
}

Status Links::listen() {
  listener_ = net::Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  socklen_t length = 0;
  sockaddr_un address = addressOf(name_, length);
  int ends[2];
  if (!listener_.valid() ||
      bind(listener_.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      ::listen(listener_.get(), static_cast<int>(peers_.size())) != 0 ||
      pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
    return net::linkError("a socket for the processes of this node", errno);
  wake_[0] = net::Fd(ends[0]);
  wake_[1] = net::Fd(ends[1]);
  return {};
}

// Higher ranks connect to lower ones, in order: whoever waits to be let in waits for one that
// has fewer left to connect to.
Status Links::connect(const std::vector<std::string> &names, const net::Secret &secret,
                      int64_t timeoutUs, std::function<void(const Status &)> onFailure) {
  const int64_t deadlineUs = net::nowUs() + timeoutUs;
  onFailure_ = std::move(onFailure);
  for (int peer = 0; peer < rank_; ++peer) {
    Result<net::Fd> fd = reach(peer, names[static_cast<size_t>(peer)], secret, deadlineUs);
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
  thread_ = std::thread([this] { serve(); });
  return {};
}

Result<net::Fd> Links::reach(int peer, const std::string &name, const net::Secret &secret,
                             int64_t deadlineUs) {
  net::Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  socklen_t length = 0;
  sockaddr_un address = addressOf(name, length);
  if (!fd.valid() || ::connect(fd.get(), reinterpret_cast<sockaddr *>(&address), length) != 0)
    return net::linkError("connect", errno);
  if (!isSameUser(fd.get()))
    return Status(kCollPeer, textOf(peer) + " runs as another user");
  (void)fcntl(fd.get(), F_SETFL, O_NONBLOCK);
  net::wire::RankContext me = {static_cast<uint32_t>(rank_), static_cast<uint32_t>(peers_.size())};
  net::Handshake shake = net::Handshake::client(std::move(fd), secret, net::wire::Purpose::Node,
                                                net::wire::encode(me));
  COLL_RETURN_IF_ERROR(complete(shake, deadlineUs));
  return shake.takeFd();
}

// Lets one peer in, or sends a stranger away.
Status Links::admit(const net::Secret &secret, int64_t deadlineUs) {
  if (!waitFor(listener_.get(), POLLIN, deadlineUs))
    return {kCollTimeout, "not all processes of the node have come"};
  net::Fd fd(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid() || !isSameUser(fd.get()))
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
  net::Handshake shake =
      net::Handshake::server(std::move(fd), secret, net::wire::Purpose::Node, judge);
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
  iovec part = {const_cast<Message *>(&message), sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
    cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof(int));
  }
  // Messages are small and read at once: the socket's buffer takes them.
  std::lock_guard<std::mutex> lock(sendMutex_);
  ssize_t count = 0;
  do
    count = sendmsg(peers_[static_cast<size_t>(peer)].fd.get(), &header, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(sizeof(message))
             ? Status()
             : Status(kCollPeer, textOf(peer) + " cannot be reached any more");
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
                : Status(kCollTimeout, textOf(peer) + " gives no descriptor of its memory");
}

void Links::tellFailure(const Status &cause) {
  Message message;
  message.kind = Kind::Failure;
  message.code = cause.code();
  std::string text = cause.message();
  std::memcpy(message.text, text.data(), std::min(text.size(), sizeof(message.text) - 1));
  for (size_t peer = 0; peer < peers_.size(); ++peer)
    if (peers_[peer].fd.valid())
      (void)send(static_cast<int>(peer), message, -1); // one that has ended needs no word
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
  iovec part = {&message, sizeof(message)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t count =
      recvmsg(peers_[static_cast<size_t>(rank)].fd.get(), &header, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  if (count < 0 && errno == EINTR)
    return;
  net::Fd fd;
  for (cmsghdr *rights = CMSG_FIRSTHDR(&header); count > 0 && rights;
       rights = CMSG_NXTHDR(&header, rights))
    if (rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(rights), sizeof(int));
      fd = net::Fd(received);
    }
  if (count != static_cast<ssize_t>(sizeof(message)))
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
  peers_[static_cast<size_t>(rank)].given[message.id] = std::move(fd);
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
