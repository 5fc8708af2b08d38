// One tcp connection over two cables between two network namespaces.

#include "runtime/net/bond/bond.h"
#include "runtime/net/tcp/tcp.h"
#include "test/conformance/transport/harness.h"
#include "test/net/namespaced_transport.h"
#include "test/net/options.h"

namespace coll::net::test {
namespace {

class BondNetnsTest : public testing::Test {
protected:
  void SetUp() override {
    Result<Namespaces *> pair = Namespaces::get();
    if (!pair.ok())
      GTEST_SKIP() << pair.status().message();
    pair_ = *pair;
    for (int side : {0, 1}) {
      Result<std::unique_ptr<Transport>> made = NamespacedTransport::create(*pair_, side, [] {
        TcpOptions options;
        options.iface = "coll0,coll1";
        options.dataStreams = 2;
        options.threads = 1;
        options.timeoutUs = 4'000'000;
        return createTcpTransport(options, testSecret());
      });
      // Links are also made inside its calls.
      if (made.ok())
        made = createBondTransport(made.take(), {});
      ASSERT_TRUE(made.ok()) << made.status().message();
      // IPv4 addresses come first, on both cables.
      EXPECT_EQ(made->get()->devices()[0].name, "coll0+coll1");
      (side ? right_ : left_) = made.take();
    }
  }

  uint64_t bytesOver(int cable) const {
    uint64_t bytes = 0;
    EXPECT_TRUE(pair_->sentBytes(0, cable, bytes).ok());
    return bytes;
  }

  Namespaces *pair_ = nullptr;
  std::unique_ptr<Transport> left_, right_;
};

TEST_F(BondNetnsTest, UsesBothCables) {
  Ends ends = connect(*left_, *right_);
  uint64_t before[2] = {bytesOver(0), bytesOver(1)};
  std::vector<uint8_t> data = pattern(8 << 20, 1), got(8 << 20);
  Request *wanted = recv(*ends.right, got, 1);
  expectDone(*ends.left, send(*ends.left, data, 1), data.size());
  expectDone(*ends.right, wanted, data.size());
  EXPECT_EQ(got, data);
  for (int cable : {0, 1})
    EXPECT_GE(bytesOver(cable) - before[cable], data.size() / 2) << cable;
}

TEST_F(BondNetnsTest, GoesOnWhenACableIsPulledAndUsesItWhenItIsBack) {
  for (int cable : {0, 1}) {
    Ends ends = connect(*left_, *right_);
    std::vector<std::vector<uint8_t>> data, got;
    std::vector<Request *> sends, recvs;
    for (size_t i = 0; i < 16; ++i) {
      data.push_back(pattern(i % 3 ? 2 << 20 : 3000, i));
      got.emplace_back(data.back().size());
    }
    for (size_t i = 0; i < data.size(); ++i) {
      recvs.push_back(recv(*ends.right, got[i], 1));
      sends.push_back(send(*ends.left, data[i], 1));
      if (i == data.size() / 2) {
        ASSERT_TRUE(pair_->setLink(0, false, cable).ok());
      }
    }
    for (size_t i = 0; i < data.size(); ++i) {
      expectDone(*ends.right, recvs[i], data[i].size());
      expectDone(*ends.left, sends[i], data[i].size());
      EXPECT_TRUE(got[i] == data[i]) << i;
    }
    expectUsable(ends);
    // The connection must use the cable again once it is plugged in.
    ASSERT_TRUE(pair_->setLink(0, true, cable).ok());
    const uint64_t before = bytesOver(cable);
    for (int64_t end = nowUs() + kPatientUs; bytesOver(cable) < before + 200'000;) {
      expectUsable(ends);
      ASSERT_LT(nowUs(), end) << "cable " << cable;
    }
  }
}

} // namespace
} // namespace coll::net::test
