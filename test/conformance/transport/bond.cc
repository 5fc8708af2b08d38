// Connections over several devices, above each transport that is possible in this process.

#include "runtime/net/bond/bond.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/tcp/tcp.h"
#include "test/conformance/transport/harness.h"
#include "test/net/flaky_transport.h"

namespace {

using coll::net::Transport;
using namespace coll::net::test;

std::unique_ptr<Transport> join(std::unique_ptr<Transport> inner, int rails) {
  coll::net::BondOptions options;
  options.rails = rails;
  auto transport = coll::net::createBondTransport(std::move(inner), options);
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

std::unique_ptr<Transport> makeLoopback() {
  return join(std::make_unique<FlakyTransport>(coll::net::createLoopbackTransport().take(), 3), 3);
}

std::unique_ptr<Transport> makeTcp() {
  coll::net::TcpOptions options;
  options.iface = "lo";
  options.dataStreams = 2;
  options.threads = 2;
  auto tcp =
      coll::net::createTcpTransport(options, *coll::net::Secret::create("a secret of this test"));
  EXPECT_TRUE(tcp.ok()) << tcp.status().message();
  return join(std::make_unique<FlakyTransport>(tcp.take(), 2), 2);
}

} // namespace

COLL_TRANSPORT_CONFORMANCE(bond_loopback, makeLoopback);
COLL_TRANSPORT_CONFORMANCE(bond_tcp, makeTcp);
