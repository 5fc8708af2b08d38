#include "runtime/net/tcp/tcp.h"

#include "test/conformance/transport/harness.h"

namespace {

std::unique_ptr<coll::net::Transport> make(double cores) {
  coll::net::TcpOptions options;
  options.iface = "lo";
  options.cores = cores;
  auto secret = coll::net::Secret::create("a secret of this test");
  auto transport = coll::net::createTcpTransport(options, *secret);
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

std::unique_ptr<coll::net::Transport> makeTcp() { return make(4); }
std::unique_ptr<coll::net::Transport> makeTcpOneSocket() { return make(1); }

} // namespace

COLL_TRANSPORT_CONFORMANCE(tcp_one_socket, makeTcpOneSocket);
COLL_TRANSPORT_CONFORMANCE(tcp, makeTcp);
