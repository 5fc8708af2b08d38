// Transports that access GPU memory themselves: there is no bounce buffer, and the kernel gets no
// pages.

#include "test/net/device_harness.h"

#include "runtime/net/loopback/loopback.h"

#include <sys/stat.h>

namespace coll::net::test {
namespace {

// Loopback that claims to accept another kind of memory, like a NIC next to the GPU. This works
// because the memory of the fake GPU is host memory.
class ReachingTransport final : public Transport {
public:
  explicit ReachingTransport(MemoryKind kind) : inner_(createLoopbackTransport().take()) {
    devices_ = inner_->devices();
    devices_[0].memoryKinds |= static_cast<uint32_t>(kind);
  }
  const char *name() const override { return "reaching"; }
  const std::vector<DeviceProperties> &devices() const override { return devices_; }
  Result<std::unique_ptr<Listener>> listen(int device) override { return inner_->listen(device); }
  Result<std::unique_ptr<Connector>> connect(int device, const Handle &handle) override {
    return inner_->connect(device, handle);
  }
  Result<Memory *> regMr(int device, const MemoryRegion &region) override {
    seen = region;
    struct stat file = {};
    dmabufWasOpen = region.dmabufFd >= 0 && fstat(region.dmabufFd, &file) == 0;
    if (refuse)
      return Status(kCollDevice, "no room in the NIC");
    MemoryRegion host = region;
    host.kind = MemoryKind::Host;
    return inner_->regMr(device, host);
  }
  void deregMr(Memory *memory) override { inner_->deregMr(memory); }

  MemoryRegion seen;
  bool dmabufWasOpen = false;
  bool refuse = false;

private:
  std::unique_ptr<Transport> inner_;
  std::vector<DeviceProperties> devices_;
};

class DirectTest : public testing::TestWithParam<MemoryKind> {
protected:
  void SetUp() override {
    DeviceOptions options;
    options.gpu = 0;
    left_ = wrap(options);
    options.receive = ReceivePath::Unpack;
    right_ = wrap(options);
  }
  void TearDown() override {
    left_.reset();
    right_.reset();
    fake_.free(data_);
    EXPECT_EQ(fake_.misuse(), "");
    EXPECT_EQ(fake_.liveAllocations(), 0);
  }
  std::unique_ptr<DeviceTransport> wrap(const DeviceOptions &options) {
    auto reaching = std::make_unique<ReachingTransport>(GetParam());
    reaching_ = reaching.get();
    return createDeviceTransport(std::move(reaching), fake_.table(), options).take();
  }

  rt::dl::FakeCuda fake_;
  uint8_t *data_ = static_cast<uint8_t *>(fake_.allocate(300'000));
  std::unique_ptr<DeviceTransport> left_, right_;
  ReachingTransport *reaching_ = nullptr; // below right_
};

TEST_P(DirectTest, MovesWithoutBounceOrPages) {
  MemoryRegion region{data_ + 100, 200'000, MemoryKind::Cuda, -1, 0};
  auto mine = right_->regMr(0, region), theirs = left_->regMr(0, region);
  ASSERT_TRUE(mine.ok() && theirs.ok());
  EXPECT_EQ(reaching_->seen.kind, GetParam());
  if (GetParam() == MemoryKind::Dmabuf) {
    EXPECT_TRUE(reaching_->dmabufWasOpen);
    EXPECT_EQ(reaching_->seen.dmabufOffset, reinterpret_cast<uint64_t>(region.data) % 4096);
    struct stat file = {};
    EXPECT_NE(fstat(reaching_->seen.dmabufFd, &file), 0); // ours, and closed again
  }
  Ends ends = connectEnds(*left_, *right_);
  HostKernel kernel(*ends.right);
  Segment in{data_ + 300, 50'000, *mine}, out{data_ + 100'100, 50'000, *theirs};
  std::vector<uint8_t> data = pattern(50'000, 1);
  std::copy(data.begin(), data.end(), static_cast<uint8_t *>(out.data));
  Result<Request *> wanted = ends.right->irecv(&in, 1, 1), sent = ends.left->isend(&out, 1, 1);
  ASSERT_TRUE(wanted.ok() && sent.ok());
  expectDone(*ends.left, *sent, 50'000);
  expectDone(*ends.right, *wanted, 50'000);
  Result<Request *> flushed = ends.right->iflush(&in, 1);
  ASSERT_TRUE(flushed.ok());
  expectDone(*ends.right, *flushed, 50'000);
  EXPECT_EQ(kernel.unpack(data_, 0), 0u); // a slot all the same
  ends.right->consumed();
  EXPECT_TRUE(std::equal(data.begin(), data.end(), data_ + 300));
  EXPECT_EQ(right_->stats().directReceives, 1u);
  EXPECT_EQ(left_->stats().directSends, 1u);
  EXPECT_EQ(left_->stats().stagedSends, 0u);
  // A peer's one-sided access works, too.
  RemoteKey key = (*mine)->remoteKey();
  Result<Request *> written = ends.left->iwrite(&out, 1, key, 1000);
  ASSERT_TRUE(written.ok());
  expectDone(*ends.left, *written, 50'000);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), data_ + 1100));
  right_->deregMr(*mine);
  left_->deregMr(*theirs);
}

TEST_P(DirectTest, WhatCannotBeRegisteredBounces) {
  if (GetParam() == MemoryKind::Dmabuf)
    fake_.failNext("memGetHandleForAddressRange", 801);
  else
    reaching_->refuse = true;
  auto memory = right_->regMr(0, {data_, 100'000, MemoryKind::Cuda, -1, 0});
  ASSERT_TRUE(memory.ok());
  Ends ends = connectEnds(*left_, *right_);
  HostKernel kernel(*ends.right);
  Segment in{data_, 100'000, *memory};
  std::vector<uint8_t> data = pattern(70'000, 2);
  Result<Request *> wanted = ends.right->irecv(&in, 1, 1);
  ASSERT_TRUE(wanted.ok());
  expectDone(*ends.left, send(*ends.left, data, 1), 70'000);
  expectDone(*ends.right, *wanted, 70'000);
  EXPECT_GT(kernel.unpack(data_, 100'000), 0u);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), data_));
  right_->deregMr(*memory);
}

INSTANTIATE_TEST_SUITE_P(Device, DirectTest, testing::Values(MemoryKind::Cuda, MemoryKind::Dmabuf),
                         [](const auto &info) {
                           return info.param == MemoryKind::Cuda ? "cuda" : "dmabuf";
                         });

} // namespace
} // namespace coll::net::test
