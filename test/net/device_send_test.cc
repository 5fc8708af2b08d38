// Sends of GPU memory, packed by a kernel or copied by the host, including failures.

#include "test/net/device_harness.h"

#include "runtime/net/gpu/greeting.h"

#include <cstring>
#include <thread>

namespace coll::net::test {
namespace {

class SendTest : public DeviceTest {
protected:
  GpuBuffer filled(DeviceTransport &transport, const std::vector<uint8_t> &data) {
    GpuBuffer buffer = allocate(transport, std::max<size_t>(data.size(), 1));
    std::copy(data.begin(), data.end(), buffer.data);
    return buffer;
  }
  static DeviceOptions packing() {
    DeviceOptions options;
    options.send = SendPath::Pack;
    return options;
  }
};

TEST_P(SendTest, PackedMessagesComeOutWhole) {
  for (bool scatter : {false, true}) {
    DeviceOptions options = packing();
    options.scatter = scatter;
    make(options);
    {
      Ends ends = connect();
      ASSERT_NE(ends.left->packHandle(), nullptr);
      EXPECT_EQ(ends.left->packHandle()->version, rt::kPackVersion);
      HostKernel packer(*ends.left), unpacker(*ends.right);
      GpuBuffer to = allocate(*right_, kMaxDeviceMessageBytes);
      for (uint64_t bytes : messageSizes()) {
        std::vector<uint8_t> data = pattern(bytes, bytes);
        GpuBuffer from = filled(*left_, data);
        Segment out = from.segment(0, bytes), in = to.segment();
        Request *wanted = post(ends.right->irecv(&in, 1, 1));
        Request *sent = post(ends.left->isend(&out, 1, 1));
        // Nothing may be sent before the kernel has filled the pages.
        EXPECT_FALSE(ends.left->test(sent)->done);
        EXPECT_FALSE(ends.right->test(wanted)->done);
        packer.pack(from.data, bytes);
        std::thread receiver([&] { expectDone(*ends.right, wanted, bytes); });
        expectDone(*ends.left, sent, bytes);
        receiver.join();
        unpacker.unpack(to.data, to.bytes);
        ends.right->consumed();
        ASSERT_TRUE(std::equal(data.begin(), data.end(), to.data)) << bytes;
      }
      EXPECT_EQ(left_->stats().packedMessages, messageSizes().size());
      EXPECT_EQ(left_->bounceStats(0).usedBytes, 0u);
    }
    DeviceTest::TearDown();
  }
}

TEST_P(SendTest, PackSlotsArePushedBack) {
  make(packing());
  Ends ends = connect();
  HostKernel packer(*ends.left);
  GpuBuffer from = allocate(*left_, 100);
  Segment out = from.segment();
  std::vector<Request *> sent;
  for (uint32_t i = 0; i < rt::kUnpackSlots; ++i)
    sent.push_back(post(ends.left->isend(&out, 1, 1)));
  EXPECT_EQ(*ends.left->isend(&out, 1, 1), nullptr);
  for (uint32_t i = 0; i < rt::kUnpackSlots; ++i) {
    packer.pack(from.data, from.bytes);
    std::vector<uint8_t> got(100);
    Request *wanted = recv(*ends.right, got, 1);
    expectDone(*ends.left, sent[i], 100);
    expectDone(*ends.right, wanted, 100);
  }
  EXPECT_NE(post(ends.left->isend(&out, 1, 1)), nullptr);
}

// The message that was posted first arrives first, whichever is ready first.
TEST_P(SendTest, HostMessagesWaitBehindPackedOnes) {
  make(packing());
  Ends ends = connect();
  HostKernel packer(*ends.left);
  std::vector<uint8_t> first = pattern(3000, 1), second = pattern(4000, 2), got(5000);
  GpuBuffer from = filled(*left_, first);
  Segment out = from.segment();
  Request *packed = post(ends.left->isend(&out, 1, 1));
  Request *plain = send(*ends.left, second, 1);
  Request *wanted = recv(*ends.right, got, 1);
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(ends.left->test(plain)->done);
    EXPECT_FALSE(ends.right->test(wanted)->done);
  }
  packer.pack(from.data, from.bytes);
  std::thread sender([&] {
    expectDone(*ends.left, plain, 4000);
    expectDone(*ends.left, packed, 3000);
  });
  expectDone(*ends.right, wanted, 3000);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), got.begin()));
  expectDone(*ends.right, recv(*ends.right, got, 1), 4000);
  EXPECT_TRUE(std::equal(second.begin(), second.end(), got.begin()));
  sender.join();
}

// For example the message that says why a rank gives up.
TEST_P(SendTest, MessagesOfOtherTagsDoNotWaitForPackedOnes) {
  make(packing());
  Ends ends = connect();
  HostKernel packer(*ends.left);
  std::vector<uint8_t> first = pattern(3000, 1), other = pattern(400, 2), got(5000);
  GpuBuffer from = filled(*left_, first);
  Segment out = from.segment();
  Request *packed = post(ends.left->isend(&out, 1, 1));
  Request *plain = send(*ends.left, other, 2);
  Request *wanted = recv(*ends.right, got, 2);
  expectDone(*ends.right, wanted, 400);
  expectDone(*ends.left, plain, 400);
  EXPECT_TRUE(std::equal(other.begin(), other.end(), got.begin()));
  EXPECT_FALSE(ends.left->test(packed)->done);
  packer.pack(from.data, from.bytes);
  wanted = recv(*ends.right, got, 1);
  expectDone(*ends.left, packed, 3000);
  expectDone(*ends.right, wanted, 3000);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), got.begin()));
}

TEST_P(SendTest, CopiedByTheHostBothWays) {
  for (bool scatter : {false, true})
    for (int delay : {0, 5}) {
      DeviceOptions options;
      options.scatter = scatter;
      options.receive = ReceivePath::Host;
      make(options, options);
      fake_.delayCopies(delay);
      {
        Ends ends = connect();
        EXPECT_EQ(ends.right->deviceHandle(), nullptr);
        GpuBuffer to = allocate(*right_, kMaxDeviceMessageBytes);
        for (uint64_t bytes : messageSizes()) {
          std::vector<uint8_t> data = pattern(bytes, bytes + 1);
          GpuBuffer from = filled(*left_, data);
          Segment out = from.segment(0, bytes), in = to.segment();
          std::memset(to.data, 0xee, to.bytes);
          Request *wanted = post(ends.right->irecv(&in, 1, 1));
          Request *sent = post(ends.left->isend(&out, 1, 1));
          std::thread receiver([&] { expectDone(*ends.right, wanted, bytes); });
          expectDone(*ends.left, sent, bytes);
          receiver.join();
          ASSERT_TRUE(std::equal(data.begin(), data.end(), to.data)) << bytes;
          ASSERT_TRUE(bytes == to.bytes || to.data[bytes] == 0xee);
        }
        EXPECT_EQ(left_->stats().stagedSends, messageSizes().size());
        EXPECT_EQ(right_->stats().stagedReceives, messageSizes().size());
        EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
      }
      fake_.delayCopies(0);
      DeviceTest::TearDown();
    }
}

TEST_P(SendTest, CopiesThatFailFailTheirMessage) {
  DeviceOptions options;
  options.receive = ReceivePath::Host;
  make(options, options);
  Ends ends = connect();
  GpuBuffer from = allocate(*left_, 1000), to = allocate(*right_, 1000);
  Segment out = from.segment(), in = to.segment();
  std::vector<uint8_t> host(1000);
  for (const char *function : {"eventCreate", "memcpyDtoHAsync", "eventRecord"}) {
    fake_.failNext(function, 700);
    Result<Request *> sent = ends.left->isend(&out, 1, 1);
    EXPECT_EQ(sent.status().code(), kCollDevice) << function;
  }
  fake_.failNext("eventQuery", 700);
  Result<Request *> sent = ends.left->isend(&out, 1, 1); // tried once already
  ASSERT_TRUE(!sent.ok() || outcome(*ends.left, *sent) == kCollDevice);
  fake_.failNext("memcpyHtoDAsync", 700);
  Request *wanted = post(ends.right->irecv(&in, 1, 1));
  Request *good = send(*ends.left, host, 1);
  EXPECT_EQ(outcome(*ends.right, wanted), kCollDevice);
  expectDone(*ends.left, good, 1000);
  EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
  wanted = post(ends.right->irecv(&in, 1, 1));
  good = send(*ends.left, host, 1);
  expectDone(*ends.right, wanted, 1000);
  expectDone(*ends.left, good, 1000);
}

TEST_P(SendTest, SetUpThatFailsFailsTheConnection) {
  for (const char *function :
       {"primaryContextRetain", "streamCreate", "memHostAlloc", "memHostRegister", "memAlloc",
        "memcpyHtoDAsync", "streamSynchronize", "memHostGetDevicePointer", "contextPush"}) {
    make();
    Result<std::unique_ptr<Listener>> listener = right_->listen(0);
    Result<std::unique_ptr<Connector>> connector = left_->connect(0, (*listener)->handle());
    ASSERT_TRUE(listener.ok() && connector.ok());
    fake_.failNext(function, rt::dl::kCudaOutOfMemory);
    std::unique_ptr<Connection> left;
    Status failure;
    for (int i = 0; i < 1'000'000 && failure.ok(); ++i) {
      if (!left)
        left = (*connector)->poll().take();
      Result<std::unique_ptr<Connection>> accepted = (*listener)->accept();
      failure = accepted.status();
      ASSERT_TRUE(!accepted.ok() || !*accepted) << function;
      std::this_thread::yield();
    }
    EXPECT_EQ(failure.code(), kCollDevice) << function;
    EXPECT_NE(failure.message().find("OUT_OF_MEMORY"), std::string::npos) << failure.message();
    left.reset();
    connector->reset();
    listener->reset();
    DeviceTest::TearDown();
  }
}

TEST_P(SendTest, UnknownMemoryIsRefused) {
  make();
  int local = 0;
  EXPECT_EQ(right_->regMr(0, {&local, sizeof(local), MemoryKind::Cuda, -1, 0}).status().code(),
            kCollInvalidCall);
  EXPECT_EQ(right_->regMr(7, {&local, sizeof(local), MemoryKind::Host, -1, 0}).status().code(),
            kCollInvalidCall);
  // Registers all memory of the GPU, whatever its addresses.
  auto all = right_->regMr(0, {nullptr, ~uint64_t(0), MemoryKind::Cuda, -1, 0});
  ASSERT_TRUE(all.ok());
  Ends ends = connect();
  HostKernel kernel(*ends.right);
  GpuBuffer to = allocate(*right_, 1000);
  Segment in{to.data, 1000, *all};
  std::vector<uint8_t> data = pattern(1000, 1);
  Request *wanted = post(ends.right->irecv(&in, 1, 1));
  Request *sent = send(*ends.left, data, 1);
  expectDone(*ends.right, wanted, 1000);
  expectDone(*ends.left, sent, 1000);
  kernel.unpack(to.data, 1000);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), to.data));
  right_->deregMr(*all);
}

//===-- peers that are different, or hostile --------------------------------------===//

TEST_P(SendTest, PeersThatDisagreeAboutScatteringFailWithBothNamed) {
  DeviceOptions plain, scattered;
  plain.gpu = scattered.gpu = 0;
  scattered.scatter = true;
  make(plain, scattered);
  Ends ends = connect();
  std::vector<uint8_t> got(100);
  Segment into = segment(got);
  Result<Request *> wanted = ends.right->irecv(&into, 1, 1); // the news may be here already
  Status status = wanted.ok() ? wait(*ends.right, *wanted, kPatientUs).status() : wanted.status();
  EXPECT_EQ(status.code(), kCollMismatch);
  EXPECT_NE(status.message().find("COLL_NET_SCATTER=0"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("COLL_NET_SCATTER=1"), std::string::npos);
  EXPECT_EQ(ends.right->irecv(nullptr, 0, 1).status().code(), kCollMismatch);
}

TEST_P(SendTest, APeerWithoutThisLayerIsUnderstood) {
  DeviceOptions options;
  options.receive = ReceivePath::Unpack;
  options.gpu = 0;
  make(options, options);
  std::unique_ptr<Transport> stranger = below();
  {
    Ends ends = connectEnds(*stranger, *right_);
    HostKernel kernel(*ends.right);
    GpuBuffer to = allocate(*right_, 1000);
    Segment in = to.segment();
    std::vector<uint8_t> data = pattern(1000, 3);
    Request *wanted = post(ends.right->irecv(&in, 1, 1));
    Request *sent = send(*ends.left, data, 1);
    expectDone(*ends.right, wanted, 1000);
    expectDone(*ends.left, sent, 1000);
    kernel.unpack(to.data, 1000);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), to.data));
  }
}

// A peer sends streams that no honest sender would send: this must be an error of that connection
// only, and nothing may reach the kernel.
TEST_P(SendTest, HostileStreamsEndTheirConnectionAlone) {
  DeviceOptions options;
  options.scatter = true;
  make(options);
  std::unique_ptr<Transport> stranger = below();
  Ends good = connect();
  for (uint64_t round = 0; round < 20; ++round) {
    Ends ends = connectEnds(*stranger, *right_);
    HostKernel kernel(*ends.right);
    GpuBuffer to = allocate(*right_, 100'000);
    Segment in = to.segment();
    std::memset(to.data, 0xee, to.bytes);
    std::vector<uint8_t> junk = pattern(round * 1000, round);
    Request *wanted = post(ends.right->irecv(&in, 1, 1));
    Request *sent = send(*ends.left, junk, 1 ^ kScatterTagBit);
    EXPECT_EQ(outcome(*ends.right, wanted), kCollPeer);
    (void)outcome(*ends.left, sent);
    EXPECT_EQ(kernel.unpack(to.data, to.bytes), 0u);
    EXPECT_EQ(to.data[0], 0xee);
    EXPECT_FALSE(ends.right->irecv(&in, 1, 1).ok());
  }
  EXPECT_EQ(right_->bounceStats(0).usedBytes, 0u);
  expectUsable(good);
}

TEST_P(SendTest, CloseEndsWhatWaitsForAKernel) {
  make(packing());
  Ends ends = connect();
  GpuBuffer from = allocate(*left_, 1 << 20);
  Segment out = from.segment();
  Request *sent = post(ends.left->isend(&out, 1, 1));
  ends.left->close();
  EXPECT_EQ(outcome(*ends.left, sent), kCollAborted);
  EXPECT_EQ(left_->bounceStats(0).usedBytes, 0u);
  EXPECT_EQ(ends.left->isend(&out, 1, 1).status().code(), kCollAborted);
}

// The kernel may still be using them.
TEST_P(SendTest, PagesOfASendThatFailedAreNotUsedAgainBeforeTheEnd) {
  DeviceOptions options = packing();
  options.scatter = true;
  make(options);
  std::unique_ptr<Transport> stranger = below();
  Ends ends = connectEnds(*left_, *stranger);
  GpuBuffer from = allocate(*left_, 1 << 20);
  Segment out = from.segment();
  Request *sent = post(ends.left->isend(&out, 1, 1));
  std::vector<uint8_t> junk = pattern(1000, 1), got(1000);
  Request *wanted = recv(*ends.left, got, 2);
  Request *thrown = send(*ends.right, junk, 2 ^ kScatterTagBit);
  EXPECT_EQ(outcome(*ends.left, wanted), kCollPeer);
  EXPECT_EQ(outcome(*ends.left, sent), kCollPeer);
  EXPECT_GE(left_->bounceStats(0).usedBytes, 1u << 20);
  (void)outcome(*ends.right, thrown);
  ends.left->close();
  EXPECT_EQ(left_->bounceStats(0).usedBytes, 0u);
}

INSTANTIATE_TEST_SUITE_P(Device, SendTest, testing::Values("loopback", "tcp", "bond"),
                         [](const auto &info) { return std::string(info.param); });

} // namespace
} // namespace coll::net::test
