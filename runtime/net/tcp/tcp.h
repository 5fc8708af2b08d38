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
  // Sockets for data per connection, 1 to 16; one more is for control. 0: kDataStreams, or, where
  // the process has two cores or fewer to itself, one for everything (see oneSocket()).
  int dataStreams = 0;
  // Progress threads, 1 to 64. 0: as many as cores that the process may use, 2 to 16; one
  // where one socket is for everything.
  int threads = 0;
  // The process's share of the cores, for those defaults. 0: all that it may use.
  double cores = 0;
  // How long such a thread looks for work before it sleeps. Not where there are more
  // of them than three for eight cores.
  int64_t spinUs = 100;
  // The largest message that a thread which posts it writes itself although the progress
  // threads are awake, where it has no other on that connection. A thread that drives many
  // connections at once is better off with less.
  uint64_t inlineBytes = 128 << 10;
  // One thread drives many connections: large messages are sent without asking, and in parts of
  // 128 KiB at most, and not every test makes a system call. With one connection that costs more
  // than it gives.
  bool manyConnections = false;
  // How long connection set-up may take, and how long a peer may acknowledge nothing.
  int64_t timeoutUs = 60'000'000;
  // How long a peer that has come in may take to prove the secret.
  int64_t proofTimeoutUs = 5'000'000;

  // Messages of any size travel on the control socket, and the thread that posts and tests
  // moves them: where cores are few, another thread would only take its place.
  bool oneSocket() const;

  // From COLL_NET_IFACE, COLL_NET_SOCKETS, COLL_NET_THREADS and COLL_TIMEOUT_US.
  static TcpOptions fromEnv();
};

// One device per interface. Connections are made only with peers that prove `secret`.
// Without one, each listener makes a secret of its own, which its handle carries: whoever
// was given the handle may connect, so the way by which handles travel has to be trusted.
Result<std::unique_ptr<Transport>> createTcpTransport(const TcpOptions &options,
                                                      const std::optional<Secret> &secret);

} // namespace coll::net

#endif // COLL_RUNTIME_NET_TCP_TCP_H
