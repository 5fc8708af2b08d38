// Remote tensors over verbs: over fake devices in this process, and over the machine's devices.

#include "runtime/net/verbs/verbs.h"
#include "test/exchange/remote_tensor_rig.h"
#include "test/support/fakes/ibverbs.h"

#include <gtest/gtest.h>

namespace coll::rt::exchange::test {
namespace {

TEST(RemoteTensorVerbsTest, RandomAccessOverFakeDevices) {
  static auto &devices = *new net::test::FakeIbverbs; // lives as long as transports may
  net::VerbsOptions options;
  options.iface = "lo";
  auto secret = net::Secret::create("a secret of this test");
  dl::useFakeIbverbs(devices.table());
  auto transport = net::createVerbsTransport(options, *secret);
  dl::useFakeIbverbs(nullptr);
  ASSERT_TRUE(transport.ok()) << transport.status().toString();
  accessMany(transport->get(), Via::Rdma, 100);
}

TEST(RemoteTensorVerbsTest, RandomAccessOverDevices) {
  auto secret = net::Secret::create("a secret of this test");
  auto transport = net::createVerbsTransport(net::VerbsOptions::fromEnv(), *secret);
  if (!transport.ok() && transport.status().code() == kCollUnsupported)
    GTEST_SKIP() << transport.status().message();
  ASSERT_TRUE(transport.ok()) << transport.status().toString();
  accessMany(transport->get(), Via::Rdma, 60);
}

} // namespace
} // namespace coll::rt::exchange::test
