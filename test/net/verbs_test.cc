// What the verbs transport makes of errors that the software device of the kernel cannot
// produce, and of calls that fail. The devices are fakes.

#include "runtime/net/verbs/verbs.h"

#include "runtime/net/socket.h"
#include "runtime/net/verbs/device.h"
#include "test/net/fake_ibverbs.h"
#include "test/net/options.h"

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace coll::net::test {
namespace {

constexpr int64_t kPatientUs = 30'000'000;

VerbsOptions someOptions() {
  VerbsOptions options;
  options.iface = "lo";
  options.timeoutUs = 5'000'000;
  options.portGraceUs = 20'000;
  return options;
}

struct Pair {
  std::unique_ptr<Connection> left, right;
};

class VerbsTest : public testing::Test {
protected:
  ~VerbsTest() override {
    pair_ = Pair();
    left_.reset();
    right_.reset();
  }

  // Two transports on one device each, and a connection.
  void open(const VerbsOptions &options = someOptions()) {
    pair_ = Pair();
    left_ = createVerbsTransport(options, testSecret()).take();
    right_ = createVerbsTransport(options, testSecret()).take();
    Status status = connect();
    ASSERT_TRUE(status.ok()) << status.toString();
  }

  Status connect(int device = 0) {
    Result<std::unique_ptr<Listener>> listener = right_->listen(device);
    if (!listener.ok())
      return listener.status();
    Result<std::unique_ptr<Connector>> connector = left_->connect(device, (*listener)->handle());
    if (!connector.ok())
      return connector.status();
    pair_ = Pair();
    for (int64_t end = nowUs() + kPatientUs; nowUs() < end;) {
      Result<std::unique_ptr<Connection>> mine(nullptr), theirs(nullptr);
      if (!pair_.left)
        mine = (*connector)->poll();
      if (!pair_.right)
        theirs = (*listener)->accept();
      if (!mine.ok())
        return mine.status();
      if (*mine)
        pair_.left = mine.take();
      if (theirs.ok() && *theirs)
        pair_.right = theirs.take();
      if (pair_.left && pair_.right)
        return {};
      std::this_thread::yield();
    }
    return {kCollTimeout, "no connection"};
  }

  static Status ended(Connection &connection, const Result<Request *> &request) {
    if (!request.ok() || !*request)
      return request.ok() ? Status::internal("no room") : request.status();
    return wait(connection, *request, kPatientUs).status();
  }

  // One message from left to right; the outcomes of both sides.
  std::pair<Status, Status> message(size_t bytes) {
    std::vector<uint8_t> data(bytes, 0x5a), got(bytes);
    Segment from{data.data(), bytes, nullptr}, to{got.data(), bytes, nullptr};
    Result<Request *> wanted = pair_.right->irecv(&to, 1, 1);
    Result<Request *> sent = pair_.left->isend(&from, 1, 1);
    std::pair<Status, Status> result = {ended(*pair_.left, sent), ended(*pair_.right, wanted)};
    EXPECT_TRUE(!result.second.ok() || got == data);
    return result;
  }

  // The connection has ended on both sides, in time.
  void expectBroken(const Result<Request *> &mine, const Result<Request *> &theirs, CollCode code,
                    const std::string &text) {
    Status status = ended(*pair_.left, mine);
    EXPECT_EQ(status.code(), code) << status.toString();
    EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
    EXPECT_NE(ended(*pair_.right, theirs).code(), kCollOk);
    EXPECT_FALSE(pair_.left->isend(nullptr, 0, 0).ok());
  }

  FakeIbverbs fake_{2}; // dies last
  std::unique_ptr<Transport> left_, right_;
  Pair pair_;
};

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

// Hardware says so of a broken queue pair, the kernel's software device of a lost route.
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
      {IBV_EVENT_QP_ACCESS_ERR, kCollPeer, "memory that it may not"},
      {IBV_EVENT_PORT_ERR, kCollLink, "port went down"},
  };
  for (const auto &one : cases) {
    // The fake tells one opener of a device: this one.
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
  options.portGraceUs = 300'000;
  open(options);
  fake_.raise(0, IBV_EVENT_PORT_ERR);
  fake_.raise(0, IBV_EVENT_PORT_ACTIVE);
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
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
  // Now the right takes its other device for what was to be on the first.
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

//===-- ways to move data -------------------------------------------------------===//

TEST_F(VerbsTest, GidsArePreferredByKind) {
  Result<const rt::dl::Ibverbs *> api = rt::dl::ibverbs();
  int count = 0;
  ibv_device **list = (*api)->getDeviceList(&count);
  std::unique_ptr<verbs::Device> device = verbs::Device::open(**api, list[0], 0).take();
  (*api)->freeDeviceList(list);
  EXPECT_EQ(device->queryPort(1, -1)->gidIndex, 3); // RoCE v2, IPv4
  EXPECT_EQ(device->queryPort(1, 1)->gidIndex, 1);
  Status none = device->queryPort(1, 77).status();
  EXPECT_EQ(none.code(), kCollLink);
  EXPECT_NE(none.message().find("COLL_NET_GID_INDEX"), std::string::npos);
}

TEST_F(VerbsTest, TinyMessagesGoInlineWhereTheDeviceCan) {
  open();
  EXPECT_TRUE(message(16).second.ok());
  EXPECT_GT(fake_.numInline(), 0);
  int before = fake_.numInline();
  fake_.fail("inline", 1);
  ASSERT_TRUE(connect().ok());
  EXPECT_TRUE(message(16).second.ok());
  EXPECT_EQ(fake_.numInline(), before);
}

TEST_F(VerbsTest, LargeMessagesUseAllQueuePairs) {
  VerbsOptions options = someOptions();
  options.queuePairs = 4;
  open(options);
  EXPECT_TRUE(message(1 << 20).second.ok());
  EXPECT_EQ(fake_.numPosted(IBV_WR_RDMA_WRITE_WITH_IMM), 4);
  EXPECT_TRUE(message(20'000).second.ok());
  EXPECT_EQ(fake_.numPosted(IBV_WR_RDMA_WRITE_WITH_IMM), 5);
}

TEST_F(VerbsTest, RegisteredSmallMessagesAreFetchedInPlace) {
  open();
  std::vector<uint8_t> data(6000, 7), got(6000);
  Memory *memory = left_->regMr(0, {data.data(), data.size(), MemoryKind::Host, -1, 0}).take();
  Segment from[2] = {{data.data(), 1000, memory}, {data.data() + 1000, 5000, memory}};
  Segment to{got.data(), got.size(), nullptr}, outside{data.data() + 1, data.size(), memory};
  Result<Request *> wanted = pair_.right->irecv(&to, 1, 1), sent = pair_.left->isend(from, 2, 1);
  EXPECT_TRUE(ended(*pair_.left, sent).ok());
  EXPECT_TRUE(ended(*pair_.right, wanted).ok());
  EXPECT_EQ(got, data);
  EXPECT_EQ(pair_.left->isend(&outside, 1, 1).status().code(), kCollInvalidCall);
  left_->deregMr(memory);
}

TEST_F(VerbsTest, RegistrationsAreSharedAndGivenBack) {
  open();
  size_t before = fake_.numRegistrations();
  std::vector<uint8_t> data(1 << 20), got(1 << 20);
  Segment from{data.data(), data.size(), nullptr}, to{got.data(), got.size(), nullptr};
  std::vector<Result<Request *>> sends, recvs;
  for (uint64_t i = 0; i < 5; ++i)
    sends.push_back(pair_.left->isend(&from, 1, i));
  EXPECT_EQ(fake_.numRegistrations(), before + 1);
  for (uint64_t i = 0; i < 5; ++i) {
    recvs.push_back(pair_.right->irecv(&to, 1, i));
    EXPECT_TRUE(ended(*pair_.right, recvs.back()).ok());
    EXPECT_TRUE(ended(*pair_.left, sends[i]).ok());
  }
  EXPECT_EQ(fake_.numRegistrations(), before);
}

TEST_F(VerbsTest, IdleRegistrationsAreKeptWithinTheirBound) {
  VerbsOptions options = someOptions();
  options.cacheBytes = 300'000;
  open(options);
  size_t before = fake_.numRegistrations();
  std::vector<std::vector<uint8_t>> buffers(6, std::vector<uint8_t>(100'000));
  for (std::vector<uint8_t> &buffer : buffers) {
    Segment one{buffer.data(), buffer.size(), nullptr};
    Result<Request *> sent = pair_.left->isend(&one, 1, 1), wanted = pair_.right->irecv(&one, 1, 1);
    EXPECT_TRUE(ended(*pair_.left, sent).ok());
    EXPECT_TRUE(ended(*pair_.right, wanted).ok());
  }
  // Two of 100,000 bytes in whole pages, on each side.
  EXPECT_EQ(fake_.numRegistrations(), before + 4);
}

//===-- the end -----------------------------------------------------------------===//

TEST_F(VerbsTest, CloseWithWorkUnderWayLeavesNoneBehind) {
  open();
  auto data = std::make_unique<std::vector<uint8_t>>(1 << 20);
  std::vector<uint8_t> got(1 << 20);
  Segment from{data->data(), data->size(), nullptr}, to{got.data(), got.size(), nullptr};
  Result<Request *> wanted = pair_.right->irecv(&to, 1, 1), sent = pair_.left->isend(&from, 1, 1);
  fake_.stall(true);
  // The answer is on its way, or the writes: they do not end.
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  pair_.left->close();
  data.reset();
  fake_.stall(false);
  Status status = ended(*pair_.left, sent);
  EXPECT_TRUE(status.ok() || status.code() == kCollAborted) << status.toString();
  EXPECT_NE(ended(*pair_.right, wanted).code(), kCollTimeout);
}

// Packets that come when the owner of the memory has given the connection up change nothing, even
// before the peer has heard of it.
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

//===-- memory of a GPU ---------------------------------------------------------===//

// As a GPU's memory: this process sees no data at its addresses, devices do, through a
// descriptor.
class GpuMemory {
public:
  explicit GpuMemory(size_t bytes) : bytes_(bytes), fd_(memfd_create("gpu", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_.get(), static_cast<off_t>(bytes)), 0);
    void *place =
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    address = static_cast<uint8_t *>(place);
    void *seen = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
    content = static_cast<uint8_t *>(seen);
  }
  ~GpuMemory() {
    munmap(address, bytes_);
    munmap(content, bytes_);
  }
  MemoryRegion region() const { return {address, bytes_, MemoryKind::Dmabuf, fd_.get(), 0}; }

  uint8_t *address = nullptr; // touching it kills the process
  uint8_t *content = nullptr;

private:
  size_t bytes_;
  Fd fd_;
};

TEST_F(VerbsTest, DmabufIsRefusedWhereItCannotBeHad) {
  GpuMemory gpu(8192);
  for (FakeIbverbs::Dmabuf kind :
       {FakeIbverbs::Dmabuf::NotInLibrary, FakeIbverbs::Dmabuf::RefusedByKernel}) {
    fake_.setDmabuf(kind);
    open();
    EXPECT_FALSE(left_->devices()[0].memoryKinds & static_cast<uint32_t>(MemoryKind::Dmabuf));
    Status status = left_->regMr(0, gpu.region()).status();
    EXPECT_EQ(status.code(), kCollUnsupported);
    EXPECT_NE(status.message().find("fake0 cannot register dmabuf"), std::string::npos);
  }
  fake_.setDmabuf(FakeIbverbs::Dmabuf::Supported);
  open();
  fake_.fail("regDmabufMr", EINVAL);
  EXPECT_EQ(left_->regMr(0, gpu.region()).status().code(), kCollDevice);
  fake_.fail("regDmabufMr", 0);
}

TEST_F(VerbsTest, MovesGpuMemoryWithoutTouchingIt) {
  fake_.setDmabuf(FakeIbverbs::Dmabuf::Supported);
  open();
  EXPECT_TRUE(left_->devices()[0].needsFlush);
  constexpr size_t kBytes = 1 << 20;
  GpuMemory from(kBytes), to(kBytes);
  Memory *source = left_->regMr(0, from.region()).take();
  Memory *target = right_->regMr(0, to.region()).take();
  for (size_t i = 0; i < kBytes; ++i)
    from.content[i] = static_cast<uint8_t>(i * 7 + i / 1000);
  std::vector<uint8_t> host(from.content, from.content + kBytes);
  for (size_t bytes : {size_t(0), size_t(10), size_t(3000), size_t(8000), size_t(700'000)})
    for (bool isFromHost : {false, true})
      for (bool isEarly : {false, true}) {
        std::memset(to.content, 0, kBytes);
        Segment mine[2] = {{from.address, bytes / 2, source},
                           {from.address + bytes / 2, bytes - bytes / 2, source}};
        Segment other{host.data(), bytes, nullptr};
        Segment theirs[2] = {{to.address + 5, bytes / 3, target},
                             {to.address + 5 + bytes / 3, bytes - bytes / 3, target}};
        Result<Request *> sent(nullptr), wanted(nullptr);
        if (isEarly)
          wanted = pair_.right->irecv(theirs, 2, 1);
        sent = isFromHost ? pair_.left->isend(&other, 1, 1) : pair_.left->isend(mine, 2, 1);
        if (!isEarly)
          wanted = pair_.right->irecv(theirs, 2, 1);
        ASSERT_TRUE(ended(*pair_.left, sent).ok());
        ASSERT_TRUE(ended(*pair_.right, wanted).ok());
        ASSERT_TRUE(ended(*pair_.right, pair_.right->iflush(theirs, 2)).ok());
        EXPECT_EQ(std::memcmp(to.content + 5, from.content, bytes), 0) << bytes;
        EXPECT_EQ(to.content[5 + bytes], 0);
      }
  EXPECT_GT(fake_.numPosted(IBV_WR_RDMA_READ), 0); // the flushes
  Segment whole{from.address, kBytes, source};
  ASSERT_TRUE(ended(*pair_.left, pair_.left->iwrite(&whole, 1, target->remoteKey(), 0)).ok());
  EXPECT_EQ(std::memcmp(to.content, from.content, kBytes), 0);
  std::memset(from.content, 0, kBytes);
  ASSERT_TRUE(ended(*pair_.left, pair_.left->iread(&whole, 1, target->remoteKey(), 0)).ok());
  EXPECT_EQ(std::memcmp(to.content, from.content, kBytes), 0);
  left_->deregMr(source);
  right_->deregMr(target);
}

// Where the queue pair that copies into GPU memory cannot be made, each message tries again.
TEST_F(VerbsTest, AMirrorThatCannotBeMadeLeavesNothingBehind) {
  fake_.setDmabuf(FakeIbverbs::Dmabuf::Supported);
  open();
  GpuMemory gpu(4096);
  Memory *memory = right_->regMr(0, gpu.region()).take();
  std::vector<uint8_t> data(100, 3);
  Segment from{data.data(), data.size(), nullptr}, to{gpu.address, data.size(), memory};
  auto received = [&] {
    Result<Request *> wanted = pair_.right->irecv(&to, 1, 1);
    Result<Request *> sent = pair_.left->isend(&from, 1, 1);
    EXPECT_TRUE(ended(*pair_.left, sent).ok());
    return ended(*pair_.right, wanted);
  };
  fake_.fail("createQp", ENOMEM);
  EXPECT_EQ(received().code(), kCollDevice);
  const size_t once = fake_.numRegistrations();
  EXPECT_EQ(received().code(), kCollDevice);
  EXPECT_EQ(fake_.numRegistrations(), once);
  fake_.fail("createQp", 0);
  EXPECT_TRUE(received().ok());
  EXPECT_EQ(std::memcmp(gpu.content, data.data(), data.size()), 0);
  right_->deregMr(memory);
}

// The owner may give its memory up while a peer asks for it.
TEST_F(VerbsTest, MemoryMayGoWhileAPeerAsksForIt) {
  open();
  std::vector<uint8_t> remote(64, 1), mine(64);
  Segment to{mine.data(), mine.size(), nullptr};
  for (int turn = 0; turn < 300; ++turn) {
    Memory *memory = right_->regMr(0, {remote.data(), remote.size()}).take();
    Result<Request *> read = pair_.left->iread(&to, 1, memory->remoteKey(), 0);
    for (int i = 0; i < turn % 60; ++i)
      std::this_thread::yield();
    right_->deregMr(memory);
    // It is there, or not any more, or it went on the way; then the connection has ended.
    if (Status status = ended(*pair_.left, read); status.code() == kCollPeer)
      ASSERT_TRUE(connect().ok());
    else
      EXPECT_TRUE(status.ok() || status.code() == kCollInvalidCall) << status.toString();
  }
}

TEST_F(VerbsTest, PlainCudaPointersAreRefusedWithAHint) {
  open();
  int value = 0;
  Status status = left_->regMr(0, {&value, sizeof(value), MemoryKind::Cuda, -1, 0}).status();
  EXPECT_EQ(status.code(), kCollUnsupported);
  EXPECT_NE(status.message().find("dmabuf"), std::string::npos);
}

} // namespace
} // namespace coll::net::test
