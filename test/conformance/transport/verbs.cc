#include "runtime/net/verbs/verbs.h"

#include "test/conformance/transport/harness.h"

namespace {

using coll::net::Transport;
using coll::net::VerbsOptions;

// If the machine has two ports, the two ends of a test use different ones, so that data really
// crosses the network.
std::unique_ptr<Transport> makeVerbs() {
  static int count = 0;
  VerbsOptions options = VerbsOptions::fromEnv();
  auto secret = coll::net::Secret::create("a secret of this test");
  auto transport = coll::net::createVerbsTransport(options, *secret);
  if (transport.ok() && (*transport)->devices().size() > 1 && count++ % 2 == 1) {
    options.devices = (*transport)->devices()[1].name;
    transport = coll::net::createVerbsTransport(options, *secret);
  }
  if (!transport.ok() && transport.status().code() == kCollUnsupported) {
    coll::net::test::skipReason() = transport.status().message();
    return nullptr;
  }
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

} // namespace

COLL_TRANSPORT_CONFORMANCE(verbs, makeVerbs);
