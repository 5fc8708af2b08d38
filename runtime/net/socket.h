// socket.h - addresses and interfaces, without any protocol.

#ifndef COLL_RUNTIME_NET_SOCKET_H
#define COLL_RUNTIME_NET_SOCKET_H

#include "runtime/base/fd.h"
#include "runtime/base/status.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <utility>
#include <vector>

namespace coll::net {

using rt::Fd;
using rt::Result;
using rt::Status;

// Time of a clock that never moves backwards (CLOCK_MONOTONIC).
int64_t nowUs();
int64_t nowNs();

// An IPv4 or IPv6 address with a port.
struct Address {
  sockaddr_storage storage = {};
  socklen_t length = 0;

  // "host:port" or "[host]:port"; names are resolved, which may block.
  static Result<Address> parse(std::string_view text);
  // "192.0.2.1:80", "[fd00::1]:80".
  std::string toString() const;
  std::string host() const; // the same without the port
  uint16_t port() const;
  void setPort(uint16_t port);
  int family() const { return storage.ss_family; }
};

struct Interface {
  std::string name;
  Address address; // port 0
  bool loopback = false;
};

// The interfaces that are up and have an address, in order of preference. `choice` as in
// COLL_NET_IFACE: names ("eth0") or subnets ("10.1.0.0/16", "fd00::/8"), separated by commas.
// Without a choice: all except loopback, IPv4 first; the loopback interface if there is no other.
// An address occurs once.
Result<std::vector<Interface>> findInterfaces(const std::string &choice);

// A non-blocking listening socket; port 0 picks a free one.
Result<Fd> listenOn(const Address &address);
Result<Address> localAddress(const Fd &fd);
Result<Address> peerAddress(const Fd &fd);
// Accepts the pending connections of a listening socket, at most 64, and passes them to `welcome`
// as non-blocking sockets. If the system has no descriptor or memory for one, `makeRoom` is called
// to free one; if it returns false, this thread sleeps for a millisecond and the connections stay
// in the backlog.
void acceptWaiting(const Fd &listener, const std::function<void(Fd)> &welcome,
                   const std::function<bool()> &makeRoom);
// Starts a connection. The socket is non-blocking: it becomes writable when the connection exists
// or has failed.
Result<Fd> startConnect(const Address &peer);
// The outcome of startConnect, once the socket is writable.
Status connectOutcome(int fd);
// Sets no delay, keepalive, and an error if the peer acknowledges nothing for timeoutUs.
void setStreamOptions(const Fd &fd, int64_t timeoutUs);
// Whether both ends of a connection have the same address, so that there is no network in between.
bool staysHere(const Fd &fd);
// Limits the bytes in flight, instead of the kernel's own tuning.
void setSendBuffer(const Fd &fd, int bytes);

// kCollLink with `what` and the text of `error`.
Status linkError(std::string_view what, int error);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_SOCKET_H
