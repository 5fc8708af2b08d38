// MoeBuffer on several nodes over verbs: over fake devices in this process, and over the machine's
// devices.

#include "runtime/net/verbs/verbs.h"
#include "test/exchange/moe_low_latency_rounds.h"
#include "test/exchange/moe_nodes_rounds.h"
#include "test/support/fakes/ibverbs.h"

namespace coll::rt::test {
namespace {

void playLowLatency(dl::FakeCuda &fake, net::Transport &transport, int numRanks, int nodeSize,
                    uint32_t rounds, int64_t timeoutUs = 20'000'000) {
  MoeRanks all = syncedRanks(fake, numRanks, [&](int r) {
    return moeLowLatencyNodesOptions(transport, r, numRanks, nodeSize, timeoutUs);
  });
  std::minstd_rand random(37);
  playLowLatencyRounds(all, rounds, random);
}

TEST(MoeNodesVerbsTest, RoundsOverFakeDevices) {
  static auto &devices = *new net::test::FakeIbverbs; // lives as long as transports may
  net::VerbsOptions options;
  options.iface = "lo";
  auto secret = net::Secret::create("a secret of this test");
  dl::useFakeIbverbs(devices.table());
  auto transport = net::createVerbsTransport(options, *secret);
  dl::useFakeIbverbs(nullptr);
  ASSERT_TRUE(transport.ok()) << transport.status().toString();
  dl::FakeCuda fake(4);
  ScopedMoePlatform platform(emulatedMoe(fake.table()));
  playMoeRounds(fake, **transport, 4, 2, 4);
  playLowLatency(fake, **transport, 4, 2, 4);
}

// The timeout is long enough for a slow emulated machine.
TEST(MoeNodesVerbsTest, RoundsOverDevices) {
  auto secret = net::Secret::create("a secret of this test");
  auto transport = net::createVerbsTransport(net::VerbsOptions::fromEnv(), *secret);
  if (!transport.ok() && transport.status().code() == kCollUnsupported)
    GTEST_SKIP() << transport.status().message();
  ASSERT_TRUE(transport.ok()) << transport.status().toString();
  dl::FakeCuda fake(2);
  ScopedMoePlatform platform(emulatedMoe(fake.table()));
  playMoeRounds(fake, **transport, 2, 1, 3, 60'000'000);
  playLowLatency(fake, **transport, 2, 1, 2, 60'000'000);
}

} // namespace
} // namespace coll::rt::test
