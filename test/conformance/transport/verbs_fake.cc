#include "runtime/net/bond/bond.h"
#include "runtime/net/verbs/verbs.h"

#include "test/conformance/transport/harness.h"
#include "test/support/fakes/ibverbs.h"

namespace {

using Made = coll::net::Result<std::unique_ptr<coll::net::Transport>>;

// The protocol of the verbs transport over fake devices in this process: runs everywhere, including
// under sanitizers. It shows nothing about a device or a driver.
Made openVerbs(int queuePairs) {
  static auto &devices = *new coll::net::test::FakeIbverbs(2); // lives as long as transports may
  coll::net::VerbsOptions options;
  options.iface = "lo";
  options.queuePairs = queuePairs;
  auto secret = coll::net::Secret::create("a secret of this test");
  coll::rt::dl::useFakeIbverbs(devices.table());
  Made transport = coll::net::createVerbsTransport(options, *secret);
  coll::rt::dl::useFakeIbverbs(nullptr);
  return transport;
}

std::unique_ptr<coll::net::Transport> taken(Made transport) {
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

std::unique_ptr<coll::net::Transport> makeVerbs() { return taken(openVerbs(3)); }

// Connections that use both devices.
std::unique_ptr<coll::net::Transport> makeBond() {
  std::unique_ptr<coll::net::Transport> verbs = taken(openVerbs(1));
  return verbs ? taken(coll::net::createBondTransport(std::move(verbs), {})) : nullptr;
}

} // namespace

COLL_TRANSPORT_CONFORMANCE(verbs_fake, makeVerbs);
COLL_TRANSPORT_CONFORMANCE(bond_verbs_fake, makeBond);
