// tcp.h - a small tcp transport on this machine's loopback.

#ifndef COLL_TEST_EXCHANGE_TCP_H
#define COLL_TEST_EXCHANGE_TCP_H

#include "runtime/net/tcp/tcp.h"

#include <memory>
#include <optional>

namespace coll::rt::exchange::test {

// Uses one data stream and one thread, because tests make many. Ends the test if it cannot be
// created.
inline std::unique_ptr<net::Transport> tcp() {
  net::TcpOptions options;
  options.iface = "lo";
  options.dataStreams = 1;
  options.threads = 1;
  return net::createTcpTransport(options, std::nullopt).take();
}

} // namespace coll::rt::exchange::test

#endif // COLL_TEST_EXCHANGE_TCP_H
