// tcp.h - the transport over TCP sockets.

#ifndef COLL_RUNTIME_NET_TCP_TCP_H
#define COLL_RUNTIME_NET_TCP_TCP_H

#include "runtime/net/auth.h"
#include "runtime/net/transport.h"

#include <memory>
#include <optional>
#include <string>

namespace coll::net {

struct TcpOptions {
  static constexpr int kDataStreams = 4;

  std::string iface; // as COLL_NET_IFACE
  // Sockets for data per connection, 1 to 16, besides one for control. 0: kDataStreams, or a single
  // socket for everything if the process has at most two cores to itself (see oneSocket()).
  int dataStreams = 0;
  // Progress threads, 1 to 64. 0: as many as cores that the process may use, 2 to 16; 1 with a
  // single socket.
  int threads = 0;
  // The process's share of the cores, for these defaults. 0: all cores that it may use.
  double cores = 0;
  // How long a progress thread polls before it sleeps. It does not poll if there are more than
  // three such threads for eight cores.
  int64_t spinUs = 100;
  // The largest message that the posting thread writes itself even if progress threads are awake,
  // unless another is in flight on that connection. A thread that drives many connections needs a
  // lower value.
  uint64_t inlineBytes = 128 << 10;
  // One thread drives many connections: large messages are sent without asking, in parts of at most
  // 128 KiB, and not every test makes a system call. With only one connection that would be slower.
  bool manyConnections = false;
  // How long connection set-up may take, and how long a peer may go without acknowledging.
  int64_t timeoutUs = 60'000'000;
  // How long an incoming connection may take to prove the secret.
  int64_t proofTimeoutUs = 5'000'000;

  // Messages of any size use the control socket, and the thread that posts and tests moves them:
  // with few cores another thread would only compete with it.
  bool oneSocket() const;

  // From COLL_NET_IFACE, COLL_NET_SOCKETS, COLL_NET_THREADS and COLL_TIMEOUT_US.
  static TcpOptions fromEnv();
};

// One device per interface. Connections are made only with peers that prove `secret`. Without one,
// each listener makes its own secret, which its handle contains: every process that has the handle
// may connect, so handles must be sent in a trusted way.
Result<std::unique_ptr<Transport>> createTcpTransport(const TcpOptions &options,
                                                      const std::optional<Secret> &secret);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_TCP_TCP_H
