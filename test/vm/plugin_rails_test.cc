// The plugin for NCCL over several RDMA ports, over which NCCL distributes its channels; one port
// fails during transfers. Runs in the virtual machine (suite.sh); COLL_TEST_PLUGIN names the
// library.

#include "test/net/nccl_plugin_harness.h"
#include "test/vm/ports.h"

#include <array>
#include <cstdlib>

namespace coll::net::nccl::test {
namespace {

using net::test::isInMachine;

// In the order of COLL_NET_RDMA_DEVICES. The first two are the ends of the wire.
constexpr int kLeft = 0, kRight = 1, kOther = 2;
constexpr size_t kBytes = 1 << 20;

class PluginRailsTest : public testing::Test {
protected:
  void SetUp() override {
    COLL_NEEDS_MACHINE();
    setenv("COLL_NET_TRANSPORT", "verbs", 1);
    setenv("COLL_NET_RDMA_DEVICES", "ra,rb,rc", 1);
    setenv("COLL_NET_IFACE", "lo", 1);
    warnings.clear();
    api_ = findApi(library_, 11);
    ASSERT_TRUE(api_) << "no symbol";
    ASSERT_EQ(api_->init(logger, nullptr), kNcclSuccess);
  }
  void TearDown() override {
    if (isInMachine()) {
      EXPECT_EQ(api_->finalize(), kNcclSuccess);
    }
  }

  // Sends one message in each of the pairs at the same time, as parts of one operation.
  void expectMessages(const std::vector<Pair *> &pairs, uint32_t seed) {
    std::vector<std::vector<uint8_t>> data, got(pairs.size(), std::vector<uint8_t>(kBytes));
    std::vector<std::array<void *, 2>> requests;
    for (size_t i = 0; i < pairs.size(); ++i) {
      data.push_back(pattern(kBytes, seed + static_cast<uint32_t>(i)));
      requests.push_back({pairs[i]->post(true, got[i].data(), kBytes),
                          pairs[i]->post(false, data[i].data(), kBytes)});
    }
    for (size_t i = 0; i < pairs.size(); ++i) {
      for (void *request : requests[i])
        EXPECT_EQ(pairs[i]->wait(request), kNcclSuccess);
      EXPECT_TRUE(got[i] == data[i]);
    }
  }

  rt::dl::Library library_ = openPlugin();
  std::unique_ptr<Api> api_;
};

TEST_F(PluginRailsTest, EachPortIsADevice) {
  int count = 0;
  ASSERT_EQ(api_->devices(&count), kNcclSuccess);
  ASSERT_EQ(count, 3);
  const char *names[] = {"ra:1", "rb:1", "rc:1"};
  for (int device = 0; device < count; ++device) {
    Properties properties;
    ASSERT_EQ(api_->properties(device, properties), kNcclSuccess);
    EXPECT_EQ(properties.name, names[device]);
    EXPECT_EQ(properties.pointers, kPtrHost) << "soft-RoCE exports no GPU memory";
    EXPECT_EQ(properties.deviceType, kDeviceHost);
  }
}

TEST_F(PluginRailsTest, AWireThatIsCutFailsItsConnectionsAndNewOnesGoAround) {
  Pair wire(*api_, kLeft, kRight), back(*api_, kRight, kLeft), other(*api_, kOther, kOther);
  for (uint32_t round = 0; round < 3; ++round)
    expectMessages({&wire, &back, &other}, round);

  // The port fails during transfers that take seconds.
  net::test::run("tc qdisc replace dev va root netem limit 10000 rate 20mbit");
  std::vector<uint8_t> data = pattern(8 * kBytes, 5), got(8 * kBytes);
  void *wanted = wire.post(true, got.data(), got.size());
  void *sent = wire.post(false, data.data(), data.size());
  net::test::setWire(false);
  net::test::run("tc qdisc del dev va root");
  EXPECT_EQ(wire.wait(sent), kNcclRemoteError);
  EXPECT_EQ(wire.wait(wanted), kNcclRemoteError);
  EXPECT_TRUE([] {
    std::lock_guard<std::mutex> lock(logMutex);
    for (const std::string &warning : warnings)
      if (warning.find("verbs ra:1") != std::string::npos)
        return true;
    return false;
  }()) << "the port is named";
  expectMessages({&other}, 20);

  // The communicator that NCCL makes after this failure.
  {
    Pair around(*api_, kLeft, kRight);
    expectMessages({&around, &other}, 30);
  }
  net::test::setWire(true);
  Pair again(*api_, kLeft, kRight);
  expectMessages({&again, &other}, 40);
}

} // namespace
} // namespace coll::net::nccl::test
