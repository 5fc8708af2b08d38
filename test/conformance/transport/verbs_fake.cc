#include "runtime/net/verbs/verbs.h"

#include "test/conformance/transport/harness.h"
#include "test/net/fake_ibverbs.h"

namespace {

// The protocol of the verbs transport over devices that exist in this process only: runs
// everywhere, sanitizers included. It proves nothing of a device or a driver.
std::unique_ptr<coll::net::Transport> makeVerbs() {
  static auto &devices = *new coll::net::test::FakeIbverbs; // lives as long as transports may
  coll::net::VerbsOptions options;
  options.iface = "lo";
  options.queuePairs = 3;
  auto secret = coll::net::Secret::create("a secret of this test");
  coll::rt::dl::useFakeIbverbs(devices.table());
  auto transport = coll::net::createVerbsTransport(options, *secret);
  coll::rt::dl::useFakeIbverbs(nullptr);
  EXPECT_TRUE(transport.ok()) << transport.status().message();
  return transport.ok() ? transport.take() : nullptr;
}

} // namespace

COLL_TRANSPORT_CONFORMANCE(verbs_fake, makeVerbs);
