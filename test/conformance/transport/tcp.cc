#include "runtime/net/tcp/tcp.h"

#include "test/conformance/transport/harness.h"

namespace {

std::unique_ptr<coll::net::Transport> makeTcp() {
  coll::net::TcpOptions options;
  options.iface = "lo";
  auto secret = coll::net::Secret::create("a secret of this test");
  auto transport = coll::net::createTcpTransport(options, *secret);
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

} // namespace

COLL_TRANSPORT_CONFORMANCE(tcp, makeTcp);
