#include "runtime/net/node_socket.h"

#include "runtime/net/auth.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace coll::net {

namespace {

constexpr size_t kNameLetters = 16;

sockaddr_un addressOf(const std::string &name, socklen_t &length) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  // The first byte stays zero, which selects the abstract name space.
  const size_t letters = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), letters);
  length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + letters);
  return address;
}

// uid and gid are -1 if the kernel reports no credentials.
ucred peerOf(int fd) {
  ucred peer = {0, static_cast<uid_t>(-1), static_cast<gid_t>(-1)};
  socklen_t length = sizeof(peer);
  (void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length);
  return peer;
}

bool isSameUser(int fd) { return peerOf(fd).uid == geteuid(); }

} // namespace

Result<std::string> freshNodeName() {
  uint8_t random[kNameLetters];
  COLL_RETURN_IF_ERROR(fillRandom(random, sizeof(random)));
  std::string name = "coll-";
  for (uint8_t byte : random)
    name += "0123456789abcdef"[byte % 16];
  return name;
}

Result<Fd> listenOnNode(const std::string &name, int backlog) {
  Fd listener(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  socklen_t length = 0;
  sockaddr_un address = addressOf(name, length);
  if (!listener.valid() ||
      bind(listener.get(), reinterpret_cast<sockaddr *>(&address), length) != 0 ||
      listen(listener.get(), backlog) != 0)
    return linkError("a socket for the processes of this node", errno);
  return listener;
}

Result<Fd> acceptOnNode(const Fd &listener, bool blocking) {
  Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | (blocking ? 0 : SOCK_NONBLOCK)));
  if (fd.valid() && !isSameUser(fd.get()))
    return Status(kCollPeer, "a process of another user");
  return fd;
}

void limitWaiting(const Fd &socket, int64_t timeoutUs) {
  timeval limit = {timeoutUs / 1'000'000, timeoutUs % 1'000'000};
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  (void)setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
}

Result<Fd> connectOnNode(const std::string &name, int64_t timeoutUs) {
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd.valid())
    return linkError("socket", errno);
  socklen_t length = 0;
  sockaddr_un address = addressOf(name, length);
  limitWaiting(fd, timeoutUs);
  if (connect(fd.get(), reinterpret_cast<sockaddr *>(&address), length) != 0)
    return errno == EAGAIN ? Status(kCollTimeout, "its backlog is full")
                           : linkError("connect", errno);
  limitWaiting(fd, 0);
  if (!isSameUser(fd.get()))
    return Status(kCollPeer, "it runs as another user");
  return fd;
}

Status sendToNode(int socket, const void *data, size_t bytes, int fd) {
  iovec part = {const_cast<void *>(data), bytes};
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
  ssize_t count = 0;
  do
    count = sendmsg(socket, &header, MSG_NOSIGNAL);
  while (count < 0 && errno == EINTR);
  return count == static_cast<ssize_t>(bytes) ? Status()
                                              : Status(kCollPeer, "it cannot be reached any more");
}

Result<Fd> receiveFromNode(int socket, void *data, size_t bytes) {
  iovec part = {data, bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof(control);
  ssize_t count = 0;
  do
    count = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  while (count < 0 && errno == EINTR);
  Fd fd;
  for (cmsghdr *rights = CMSG_FIRSTHDR(&header); count > 0 && rights;
       rights = CMSG_NXTHDR(&header, rights))
    if (rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(rights), sizeof(int));
      fd = Fd(received);
    }
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
    return Status(kCollTimeout, "timed out waiting for its answer");
  if (count != static_cast<ssize_t>(bytes))
    return Status(kCollPeer, "it has ended");
  return fd;
}

bool isOwnProcess(int socket) { return peerOf(socket).pid == getpid(); }

bool isNodePeerGone(int socket) {
  char byte = 0;
  const ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

} // namespace coll::net
