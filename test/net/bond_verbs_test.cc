// Connections over two RDMA devices, one of which fails in a way that the software device of the
// kernel cannot reproduce. The devices are fakes.

#include "runtime/net/bond/bond.h"
#include "runtime/net/socket.h"
#include "runtime/net/verbs/verbs.h"
#include "test/conformance/transport/harness.h"
#include "test/net/options.h"
#include "test/support/fakes/ibverbs.h"

#include <functional>
#include <thread>

namespace coll::net::test {
namespace {

class BondVerbsTest : public testing::Test {
protected:
  ~BondVerbsTest() override { ends_ = Ends(); }

  void open(const std::string &devices = "") {
    ends_ = Ends();
    VerbsOptions options;
    options.devices = devices;
    options.iface = "lo";
    options.timeoutUs = 5'000'000;
    options.portGraceUs = 20'000;
    for (std::unique_ptr<Transport> *side : {&left_, &right_})
      *side = createBondTransport(createVerbsTransport(options, testSecret()).take(), {}).take();
    ends_ = net::test::connect(*left_, *right_);
  }

  // Exchanges messages of all protocols, in both directions and with both tags, while `event`
  // happens.
  void exchange(const std::function<void()> &event, bool isDeadly = false) {
    const std::vector<size_t> sizes = {10, 5000, 300'000, 0, 1'000'000, 8000, 40'000};
    std::vector<std::vector<uint8_t>> data, got;
    std::vector<Request *> sends, recvs;
    for (size_t i = 0; i < 2 * sizes.size(); ++i) {
      data.push_back(pattern(sizes[i / 2], i));
      got.emplace_back(sizes[i / 2]);
    }
    fake_.stall(true);
    for (size_t i = 0; i < data.size(); ++i) {
      Connection &from = i % 2 ? *ends_.left : *ends_.right;
      Connection &to = i % 2 ? *ends_.right : *ends_.left;
      recvs.push_back(recv(to, got[i], i % 4));
      sends.push_back(send(from, data[i], i % 4));
    }
    event();
    fake_.stall(false);
    for (size_t i = 0; i < data.size(); ++i) {
      Status sent = wait(i % 2 ? *ends_.left : *ends_.right, sends[i], kPatientUs).status();
      Status received = wait(i % 2 ? *ends_.right : *ends_.left, recvs[i], kPatientUs).status();
      if (isDeadly)
        continue;
      EXPECT_TRUE(sent.ok()) << i << ": " << sent.toString();
      EXPECT_TRUE(received.ok()) << i << ": " << received.toString();
      EXPECT_TRUE(got[i] == data[i]) << i;
    }
  }

  FakeIbverbs fake_{2}; // dies last
  std::unique_ptr<Transport> left_, right_;
  Ends ends_;
};

TEST_F(BondVerbsTest, GoesOnWhenADeviceFails) {
  for (int device : {0, 1}) {
    open();
    exchange([&] { fake_.raise(device, IBV_EVENT_DEVICE_FATAL); });
    expectUsable(ends_);
  }
}

TEST_F(BondVerbsTest, GoesOnWhenAPortStaysDown) {
  open();
  exchange([&] { fake_.raise(0, IBV_EVENT_PORT_ERR); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  exchange([] {});
  expectUsable(ends_);
}

// No other port may replace the one that is down, because its link would then not be separate.
TEST_F(BondVerbsTest, APortThatIsUpAgainIsUsedAgain) {
  for (int device : {0, 1}) {
    const std::string port = "port" + std::to_string(device);
    open();
    fake_.fail(port, 1);
    exchange([&] { fake_.raise(device, IBV_EVENT_PORT_ERR); });
    exchange([] {});
    // Waits until the port is known to be down.
    int before = -1;
    for (int64_t end = nowUs() + kPatientUs; fake_.numWrites(device) != before && nowUs() < end;) {
      before = fake_.numWrites(device);
      expectUsable(ends_);
    }
    for (int64_t end = nowUs() + 300'000; nowUs() < end;)
      expectUsable(ends_);
    EXPECT_EQ(fake_.numWrites(device), before);
    fake_.fail(port, 0);
    fake_.raise(device, IBV_EVENT_PORT_ACTIVE);
    for (int64_t end = nowUs() + kPatientUs; fake_.numWrites(device) == before && nowUs() < end;)
      expectUsable(ends_);
    // The remaining device must carry everything.
    fake_.raise(1 - device, IBV_EVENT_DEVICE_FATAL);
    exchange([] {});
    expectUsable(ends_);
  }
}

TEST_F(BondVerbsTest, GoesOnWhenRetriesAreUsedUp) {
  for (ibv_wr_opcode opcode : {IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    open();
    exchange([&] { fake_.failNext(opcode, IBV_WC_RETRY_EXC_ERR); });
    exchange([] {});
    expectUsable(ends_);
  }
}

TEST_F(BondVerbsTest, OneSidedOperationsAreDoneAgain) {
  for (bool isWrite : {true, false}) {
    open();
    std::vector<uint8_t> remote = pattern(1 << 20, 1), mine = pattern(1 << 20, 2);
    const std::vector<uint8_t> wanted = isWrite ? mine : remote;
    Memory *memory = right_->regMr(0, {remote.data(), remote.size()}).take();
    Segment all = segment(mine);
    fake_.failNext(isWrite ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, IBV_WC_RETRY_EXC_ERR);
    Result<Request *> request = isWrite ? ends_.left->iwrite(&all, 1, memory->remoteKey(), 0)
                                        : ends_.left->iread(&all, 1, memory->remoteKey(), 0);
    ASSERT_TRUE(request.ok());
    expectDone(*ends_.left, *request, mine.size());
    right_->deregMr(memory);
    EXPECT_TRUE(mine == wanted && remote == wanted);
    expectUsable(ends_);
  }
}

TEST_F(BondVerbsTest, TheOnlyDeviceStaysAnError) {
  open("fake0");
  exchange([&] { fake_.raise(0, IBV_EVENT_DEVICE_FATAL); }, /*isDeadly=*/true);
  // Both ends use that device, and learn of its failure from it or from each other.
  std::vector<uint8_t> data(1);
  CollCode code = kCollOk;
  for (int64_t end = nowUs() + kPatientUs; code == kCollOk && nowUs() < end;)
    code = outcome(*ends_.left, trySend(*ends_.left, data, 9));
  EXPECT_TRUE(code == kCollDevice || code == kCollPeer || code == kCollLink) << rt::codeName(code);
}

} // namespace
} // namespace coll::net::test
