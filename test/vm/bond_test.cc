// A connection over two ports of RDMA devices, one of which fails during transfers: the connection
// must continue over the other, and use the first again when it is back. Runs in the virtual
// machine (suite.sh).

#include "runtime/net/bond/bond.h"
#include "runtime/net/verbs/verbs.h"
#include "test/conformance/transport/harness.h"
#include "test/vm/ports.h"

#include <fstream>
#include <functional>

namespace coll::net::test {
namespace {

// A connection from ra to rb over the wire that can be cut, and over rc.
std::unique_ptr<Transport> open(const std::string &devices) {
  VerbsOptions options;
  options.devices = devices;
  options.iface = "lo"; // the faults are on the other wire
  options.retryTimeout = 17;
  options.timeoutUs = 5'000'000;
  Result<std::unique_ptr<Transport>> verbs =
      createVerbsTransport(options, Secret::create("a secret of this test").take());
  EXPECT_TRUE(verbs.ok()) << verbs.status().toString();
  return verbs.ok() ? createBondTransport(verbs.take(), {}).take() : nullptr;
}

class BondPortsTest : public testing::Test {
protected:
  void SetUp() override {
    COLL_NEEDS_MACHINE();
    left_ = open("ra,rc");
    right_ = open("rb,rc");
    ASSERT_TRUE(left_ && right_);
    ASSERT_EQ(left_->devices()[0].name, "ra:1+rc:1");
  }

  static void netem(const std::string &fault) {
    for (const char *port : {"va", "vb"})
      run(std::string("tc qdisc replace dev ") + port + " root netem limit 10000 " + fault);
  }

  // Moves data both ways, large and small, written and read; `fault` happens meanwhile.
  void expectDelivered(const std::function<void()> &fault) {
    Ends ends = connect(*left_, *right_);
    std::vector<uint8_t> remote(400'000), mine = pattern(400'000, 9), back(400'000);
    Memory *memory = right_->regMr(0, {remote.data(), remote.size()}).take();
    const std::vector<size_t> sizes = {1, 300'000, 5000, 1'000'000, 0, 70'001, 8000, 600'000};
    std::vector<std::vector<uint8_t>> data, got;
    std::vector<Request *> sends, recvs;
    for (size_t i = 0; i < 4 * sizes.size(); ++i) {
      data.push_back(pattern(sizes[i / 2 % sizes.size()], i));
      got.emplace_back(data.back().size());
      Connection &from = i % 2 ? *ends.left : *ends.right, &to = i % 2 ? *ends.right : *ends.left;
      recvs.push_back(recv(to, got[i], 1));
      sends.push_back(send(from, data[i], 1));
      if (i == sizes.size())
        fault();
    }
    Segment from = segment(mine), to = segment(back);
    Result<Request *> write = ends.left->iwrite(&from, 1, memory->remoteKey(), 0);
    ASSERT_TRUE(write.ok()) << write.status().toString();
    expectDone(*ends.left, *write, mine.size());
    Result<Request *> read = ends.left->iread(&to, 1, memory->remoteKey(), 0);
    ASSERT_TRUE(read.ok()) << read.status().toString();
    expectDone(*ends.left, *read, back.size());
    EXPECT_TRUE(back == mine);
    for (size_t i = 0; i < data.size(); ++i) {
      expectDone(i % 2 ? *ends.right : *ends.left, recvs[i], data[i].size());
      expectDone(i % 2 ? *ends.left : *ends.right, sends[i], data[i].size());
      EXPECT_TRUE(got[i] == data[i]) << i;
    }
    expectUsable(ends);
    ends = Ends();
    right_->deregMr(memory);
  }

  std::unique_ptr<Transport> left_, right_;
};

TEST_F(BondPortsTest, GoesOnWhenTheWireIsCut) {
  expectDelivered([] { setWire(false); });
  setWire(true);
  expectDelivered([] {});
}

TEST_F(BondPortsTest, UsesTheWireAgainWhenItIsBack) {
  auto wireBytes = [] {
    uint64_t bytes = 0;
    std::ifstream("/sys/class/net/va/statistics/tx_bytes") >> bytes;
    return bytes;
  };
  Ends ends = connect(*left_, *right_);
  for (int round = 0; round < 2; ++round) {
    setWire(false);
    expectUsable(ends);
    setWire(true);
    const uint64_t before = wireBytes();
    for (int64_t end = nowUs() + kPatientUs; wireBytes() < before + 200'000;) {
      expectUsable(ends);
      ASSERT_LT(nowUs(), end) << "round " << round;
    }
  }
}

TEST_F(BondPortsTest, GoesOnWhenPacketsVanish) {
  expectDelivered([] { netem("loss 100%"); });
  netem("delay 0ms");
}

// Reordering may end a connection of one such device (see faults_test.cc).
TEST_F(BondPortsTest, GoesOnWhenPacketsOvertake) {
  expectDelivered([] { netem("delay 1ms reorder 1%"); });
  netem("delay 0ms");
}

} // namespace
} // namespace coll::net::test
