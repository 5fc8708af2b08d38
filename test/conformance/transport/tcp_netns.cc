// tcp between two network namespaces, like between hosts: over IPv4 on an interface selected by its
// name, and over IPv6 on one selected by its subnet.

#include "runtime/net/tcp/tcp.h"

#include "test/conformance/transport/harness.h"
#include "test/net/namespaced_transport.h"

namespace {

using coll::net::Transport;
using namespace coll::net::test;

// The two transports of a test, made one after the other, are on the two sides.
std::unique_ptr<Transport> makeSide(const char *iface) {
  static int count = 0;
  auto pair = Namespaces::get();
  if (!pair.ok()) {
    skipReason() = pair.status().message();
    return nullptr;
  }
  auto transport = NamespacedTransport::create(**pair, count++ % 2, [iface] {
    coll::net::TcpOptions options;
    options.iface = iface;
    return createTcpTransport(options, *coll::net::Secret::create("a secret of this test"));
  });
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

std::unique_ptr<Transport> makeByName() { return makeSide("coll0"); }
std::unique_ptr<Transport> makeBySubnet() { return makeSide("fd77::/64"); }

} // namespace

COLL_TRANSPORT_CONFORMANCE(tcp_netns, makeByName);
COLL_TRANSPORT_CONFORMANCE(tcp_netns_ipv6, makeBySubnet);
