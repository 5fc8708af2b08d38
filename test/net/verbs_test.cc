// How the verbs transport handles errors that the software device of the kernel cannot produce, and
// calls that fail. The devices are fakes.

#include "runtime/net/verbs/message.h"
#include "test/net/verbs_pair.h"

#include <cerrno>
#include <chrono>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace coll::net::test {
namespace {

class VerbsTest : public VerbsPair {};

TEST_F(VerbsTest, DescribesItsPorts) {
  open();
  ASSERT_EQ(left_->devices().size(), 2u);
  const DeviceProperties &device = left_->devices()[0];
  EXPECT_EQ(device.name, "fake0:1");
  EXPECT_EQ(device.speedMbps, 100'000);
  EXPECT_EQ(device.address, "127.0.0.1");
  EXPECT_FALSE(device.needsFlush);
}

//===-- work that fails ---------------------------------------------------------===//

struct Failing {
  ibv_wr_opcode opcode;
  ibv_wc_status status;
  CollCode code;
  const char *text;
};

TEST_F(VerbsTest, FailedWorkEndsTheConnectionWithItsReason) {
  const Failing cases[] = {
      {IBV_WR_SEND, IBV_WC_RNR_RETRY_EXC_ERR, kCollPeer, "RNR"},
      {IBV_WR_SEND, IBV_WC_RETRY_EXC_ERR, kCollLink, "RETRY_EXC"},
      {IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_RETRY_EXC_ERR, kCollLink, "does not answer"},
      {IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_REM_ACCESS_ERR, kCollPeer, "REM_ACCESS"},
      {IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_LOC_PROT_ERR, kCollDevice, "LOC_PROT"},
      {IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_FATAL_ERR, kCollDevice, "FATAL"},
      {IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_REM_OP_ERR, kCollPeer, "REM_OP"},
      {IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WC_LOC_QP_OP_ERR, kCollDevice, "inconsistent (LOC_QP_OP)"},
  };
  open();
  for (const Failing &failing : cases) {
    ASSERT_TRUE(connect().ok());
    fake_.failNext(failing.opcode, failing.status);
    auto [sent, received] = message(300'000);
    EXPECT_EQ(sent.code(), failing.code) << sent.toString();
    EXPECT_NE(sent.message().find(failing.text), std::string::npos) << sent.message();
    EXPECT_EQ(received.code(), kCollPeer) << received.toString();
    EXPECT_NE(received.message().find("failed at the peer's end"), std::string::npos)
        << received.message();
  }
  ASSERT_TRUE(connect().ok());
  EXPECT_TRUE(message(300'000).second.ok());
}

// Hardware reports this for a broken queue pair, the kernel's software device for a lost route.
TEST_F(VerbsTest, APacketThatCannotLeaveTheSoftwareDeviceIsALostLink) {
  Status hardware = rt::dl::completionError(IBV_WC_LOC_QP_OP_ERR, 0, /*isSoftware=*/false);
  Status software = rt::dl::completionError(IBV_WC_LOC_QP_OP_ERR, 0, /*isSoftware=*/true);
  EXPECT_EQ(hardware.code(), kCollDevice);
  EXPECT_EQ(software.code(), kCollLink);
  EXPECT_NE(software.message().find("no route"), std::string::npos) << software.message();
}

TEST_F(VerbsTest, APortThatIsDownIsNotTaken) {
  open();
  fake_.fail("port", 1); // the state alone, without an event
  Status refused = right_->listen(0).status();
  EXPECT_EQ(refused.code(), kCollLink) << refused.toString();
  fake_.fail("port", 0);
  EXPECT_TRUE(right_->listen(0).ok());
}

TEST_F(VerbsTest, ABadKeyThatReachesTheDeviceEndsTheConnection) {
  open();
  std::vector<uint8_t> remote(4096), data(4096);
  Memory *memory = right_->regMr(0, {remote.data(), remote.size(), MemoryKind::Host, -1, 0}).take();
  fake_.failNext(IBV_WR_RDMA_READ, IBV_WC_REM_ACCESS_ERR);
  Segment to{data.data(), data.size(), nullptr};
  Status status = ended(*pair_.left, pair_.left->iread(&to, 1, memory->remoteKey(), 0));
  EXPECT_EQ(status.code(), kCollPeer) << status.toString();
  right_->deregMr(memory);
}

TEST_F(VerbsTest, APostThatFailsEndsTheConnection) {
  open();
  std::vector<uint8_t> got(100);
  Segment to{got.data(), got.size(), nullptr};
  Result<Request *> wanted = pair_.right->irecv(&to, 1, 1);
  fake_.fail("postSend", ENOMEM);
  Result<Request *> sent = pair_.left->isend(&to, 1, 1);
  EXPECT_EQ(ended(*pair_.left, sent).code(), kCollDevice);
  fake_.fail("postSend", 0);
  EXPECT_NE(ended(*pair_.right, wanted).code(), kCollOk);
}

TEST_F(VerbsTest, ACompletionQueueThatCannotBeReadEndsTheConnection) {
  open();
  Result<Request *> wanted = pair_.left->irecv(nullptr, 0, 1);
  fake_.fail("pollCq", EIO);
  Status status = ended(*pair_.left, wanted);
  EXPECT_EQ(status.code(), kCollDevice) << status.toString();
  fake_.fail("pollCq", 0);
}

//===-- events ------------------------------------------------------------------===//

TEST_F(VerbsTest, EventsEndTheConnectionsThatTheyConcern) {
  const struct {
    ibv_event_type type;
    CollCode code;
    const char *text;
  } cases[] = {
      {IBV_EVENT_CQ_ERR, kCollDevice, "completion queue overran"},
      {IBV_EVENT_QP_FATAL, kCollDevice, "queue pair has failed"},
      {IBV_EVENT_QP_REQ_ERR, kCollPeer, "invalid request"},
      {IBV_EVENT_QP_ACCESS_ERR, kCollPeer, "memory without permission"},
      {IBV_EVENT_PORT_ERR, kCollLink, "port went down"},
  };
  for (const auto &one : cases) {
    // The fake reports an event to the one that opened the device last, so this one.
    right_ = createVerbsTransport(someOptions(), testSecret()).take();
    left_ = createVerbsTransport(someOptions(), testSecret()).take();
    ASSERT_TRUE(connect().ok());
    Result<Request *> mine = pair_.left->irecv(nullptr, 0, 1);
    Result<Request *> theirs = pair_.right->irecv(nullptr, 0, 1);
    fake_.raise(0, one.type);
    expectBroken(mine, theirs, one.code, one.text);
    pair_ = Pair();
  }
}

TEST_F(VerbsTest, APortThatComesBackInTimeCostsNothing) {
  VerbsOptions options = someOptions();
  options.portGraceUs = 1'500'000;
  open(options);
  fake_.raise(0, IBV_EVENT_PORT_ERR);
  fake_.raise(0, IBV_EVENT_PORT_ACTIVE);
  std::this_thread::sleep_for(std::chrono::milliseconds(1800));
  EXPECT_TRUE(message(100).first.ok());
  EXPECT_TRUE(message(100'000).first.ok());
}

TEST_F(VerbsTest, EventsThatConcernNoConnectionCostNothing) {
  open();
  for (ibv_event_type type : {IBV_EVENT_GID_CHANGE, IBV_EVENT_SM_CHANGE, IBV_EVENT_LID_CHANGE,
                              IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_PKEY_CHANGE})
    fake_.raise(0, type);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_TRUE(message(100'000).first.ok());
}

TEST_F(VerbsTest, AFailedDeviceEndsItsConnectionsAndIsNotUsedAgain) {
  open();
  Result<Request *> mine = pair_.left->irecv(nullptr, 0, 1);
  Result<Request *> theirs = pair_.right->irecv(nullptr, 0, 1);
  fake_.raise(0, IBV_EVENT_DEVICE_FATAL); // told to the right, which opened it last
  Status status = ended(*pair_.right, theirs);
  EXPECT_EQ(status.code(), kCollDevice) << status.toString();
  EXPECT_EQ(ended(*pair_.left, mine).code(), kCollPeer);
  // Now the right side uses its other device instead of the first.
  ASSERT_TRUE(connect().ok());
  EXPECT_TRUE(message(300'000).second.ok());
  fake_.raise(1, IBV_EVENT_DEVICE_FATAL);
  Result<Request *> last = pair_.right->irecv(nullptr, 0, 1);
  EXPECT_EQ(ended(*pair_.right, last).code(), kCollDevice);
  Status refused = right_->listen(0).status();
  EXPECT_EQ(refused.code(), kCollLink) << refused.toString();
}

//===-- calls that fail ---------------------------------------------------------===//

TEST_F(VerbsTest, DevicesThatCannotBeOpenedAreLeftOut) {
  for (const char *call : {"openDevice", "queryDevice", "allocPd", "queryPort"}) {
    fake_.fail(call, EPERM);
    Status status = createVerbsTransport(someOptions(), testSecret()).status();
    EXPECT_EQ(status.code(), kCollUnsupported) << call << ": " << status.toString();
    fake_.fail(call, 0);
  }
  fake_.fail("port", 1); // all are down
  EXPECT_EQ(createVerbsTransport(someOptions(), testSecret()).status().code(), kCollUnsupported);
  fake_.fail("port", 0);
  FakeIbverbs none(0);
  Status status = createVerbsTransport(someOptions(), testSecret()).status();
  EXPECT_EQ(status.message(), "this machine has no RDMA device");
}

TEST_F(VerbsTest, ConnectionsThatCannotBeMadeSayWhy) {
  left_ = createVerbsTransport(someOptions(), testSecret()).take();
  right_ = createVerbsTransport(someOptions(), testSecret()).take();
  for (const char *call :
       {"createCompChannel", "createCq", "createQp", "regMr", "modifyQp", "rtr", "postRecv"}) {
    fake_.fail(call, ENOMEM);
    Status status = connect();
    EXPECT_FALSE(status.ok()) << call;
    EXPECT_NE(status.code(), kCollTimeout) << call;
    // The side where it happened knows the reason; the other one is told where to look.
    EXPECT_TRUE(status.message().find("ulimit") != std::string::npos ||
                status.message().find("its log says why") != std::string::npos)
        << status.message();
    fake_.fail(call, 0);
  }
  ASSERT_TRUE(connect().ok());
  EXPECT_TRUE(message(100'000).second.ok());
}

TEST_F(VerbsTest, AStrangerThatTakesTooLongIsHungUpOn) {
  VerbsOptions options = someOptions();
  options.proofTimeoutUs = 50'000;
  right_ = createVerbsTransport(options, testSecret()).take();
  std::unique_ptr<Listener> listener = right_->listen(0).take();
  Result<Fd> stranger = startConnect(verbs::decodeHandle(listener->handle())->address);
  ASSERT_TRUE(stranger.ok()) << stranger.status().message();
  pollfd hungUp = {stranger->get(), POLLIN, 0};
  ASSERT_EQ(poll(&hungUp, 1, kPatientUs / 1000), 1);
  char byte;
  EXPECT_EQ(::recv(stranger->get(), &byte, 1, 0), 0);
  testing::internal::CaptureStderr();
  Result<std::unique_ptr<Connection>> none = listener->accept();
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(none.ok() && !*none);
  EXPECT_NE(
      said.find(
          "verbs: refused a connection: timed out waiting for the peer to complete the connection"),
      std::string::npos)
      << said;
}

TEST_F(VerbsTest, ABufferThatCannotBeRegisteredFailsItsRequestAlone) {
  open();
  std::vector<uint8_t> data(100'000);
  Segment one{data.data(), data.size(), nullptr};
  fake_.fail("regMr", ENOMEM);
  EXPECT_EQ(pair_.left->isend(&one, 1, 1).status().code(), kCollDevice);
  EXPECT_EQ(pair_.left->irecv(&one, 1, 1).status().code(), kCollDevice);
  EXPECT_EQ(left_->regMr(0, {data.data(), data.size(), MemoryKind::Host, -1, 0}).status().code(),
            kCollDevice);
  EXPECT_TRUE(message(1000).second.ok()); // goes through buffers of the connection
  fake_.fail("regMr", 0);
  EXPECT_TRUE(message(100'000).second.ok());
}

TEST_F(VerbsTest, OptionsAreChecked) {
  auto code = [](const VerbsOptions &options) {
    return createVerbsTransport(options, testSecret()).status().code();
  };
  VerbsOptions options = someOptions();
  options.retryCount = 7; // for ever
  EXPECT_EQ(code(options), kCollInvalidCall);
  options = someOptions();
  options.queuePairs = 17;
  EXPECT_EQ(code(options), kCollInvalidCall);
  options = someOptions();
  options.devices = "fake0:x";
  EXPECT_EQ(code(options), kCollInvalidCall);
  options.devices = "mlx5_0";
  EXPECT_EQ(code(options), kCollUnsupported);
  options.devices = "fake1,fake0:1";
  Result<std::unique_ptr<Transport>> transport = createVerbsTransport(options, testSecret());
  ASSERT_TRUE(transport.ok()) << transport.status().toString();
  EXPECT_EQ((*transport)->devices()[0].name, "fake1:1");
  EXPECT_EQ((*transport)->devices()[1].name, "fake0:1");
}

//===-- the end -----------------------------------------------------------------===//

TEST_F(VerbsTest, CloseWithWorkUnderWayLeavesNoneBehind) {
  open();
  auto data = std::make_unique<std::vector<uint8_t>>(1 << 20);
  std::vector<uint8_t> got(1 << 20);
  Segment from{data->data(), data->size(), nullptr}, to{got.data(), got.size(), nullptr};
  Result<Request *> wanted = pair_.right->irecv(&to, 1, 1), sent = pair_.left->isend(&from, 1, 1);
  fake_.stall(true);
  // The answer, or the writes, are in flight and do not end.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pair_.left->close();
  data.reset();
  fake_.stall(false);
  Status status = ended(*pair_.left, sent);
  EXPECT_TRUE(status.ok() || status.code() == kCollAborted) << status.toString();
  EXPECT_NE(ended(*pair_.right, wanted).code(), kCollTimeout);
}

// Packets that arrive after the owner of the memory has closed the connection change nothing, even
// before the peer knows of it.
TEST_F(VerbsTest, AbortIsAFence) {
  open();
  std::vector<uint8_t> remote(100'000, 1), mine(100'000, 2);
  Memory *memory = right_->regMr(0, {remote.data(), remote.size()}).take();
  Segment all{mine.data(), mine.size(), nullptr};
  fake_.delayNext();
  Request *write = pair_.left->iwrite(&all, 1, memory->remoteKey(), 0).take();
  for (int64_t end = nowUs() + kPatientUs;
       fake_.numPosted(IBV_WR_RDMA_WRITE) == 0 && nowUs() < end;) {
    ASSERT_TRUE(pair_.left->test(write).ok());
  }
  pair_.right->abort();
  EXPECT_EQ(fake_.deliverLate(), 0);
  EXPECT_EQ(remote, std::vector<uint8_t>(remote.size(), 1));
  EXPECT_NE(wait(*pair_.left, write, kPatientUs).status().code(), kCollOk);
  right_->deregMr(memory);
}

TEST_F(VerbsTest, ACutNetworkEndsInAnErrorOnBothSides) {
  open();
  Result<Request *> theirs = pair_.right->irecv(nullptr, 0, 2);
  fake_.cut(true);
  Result<Request *> mine = pair_.left->isend(nullptr, 0, 1);
  expectBroken(mine, theirs, kCollLink, "does not answer");
  fake_.cut(false);
}

} // namespace
} // namespace coll::net::test
