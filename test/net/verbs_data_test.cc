// How the verbs transport moves data: inline, over all queue pairs, in place, with memory that it
// registers itself, and with GPU memory. The devices are fakes.

#include "runtime/net/verbs/device.h"
#include "test/net/verbs_pair.h"

#include <cerrno>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace coll::net::test {
namespace {

class VerbsDataTest : public VerbsPair {};

TEST_F(VerbsDataTest, GidsArePreferredByKind) {
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

TEST_F(VerbsDataTest, TinyMessagesGoInlineWhereTheDeviceCan) {
  open();
  EXPECT_TRUE(message(16).second.ok());
  EXPECT_GT(fake_.numInline(), 0);
  int before = fake_.numInline();
  fake_.fail("inline", 1);
  ASSERT_TRUE(connect().ok());
  EXPECT_TRUE(message(16).second.ok());
  EXPECT_EQ(fake_.numInline(), before);
}

TEST_F(VerbsDataTest, LargeMessagesUseAllQueuePairs) {
  VerbsOptions options = someOptions();
  options.queuePairs = 4;
  open(options);
  EXPECT_TRUE(message(1 << 20).second.ok());
  EXPECT_EQ(fake_.numPosted(IBV_WR_RDMA_WRITE_WITH_IMM), 4);
  EXPECT_TRUE(message(20'000).second.ok());
  EXPECT_EQ(fake_.numPosted(IBV_WR_RDMA_WRITE_WITH_IMM), 5);
}

TEST_F(VerbsDataTest, RegisteredSmallMessagesAreFetchedInPlace) {
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

TEST_F(VerbsDataTest, RegistrationsAreSharedAndGivenBack) {
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

TEST_F(VerbsDataTest, IdleRegistrationsAreKeptWithinTheirBound) {
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
  // Two registrations of 100,000 bytes in whole pages, on each side.
  EXPECT_EQ(fake_.numRegistrations(), before + 4);
}

//===-- memory of a GPU ---------------------------------------------------------===//

// Simulates GPU memory: this process cannot read its addresses, but devices can, through a
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

TEST_F(VerbsDataTest, DmabufIsRefusedWhereItCannotBeHad) {
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

TEST_F(VerbsDataTest, MovesGpuMemoryWithoutTouchingIt) {
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

// If the queue pair that copies into GPU memory cannot be made, each message tries again.
TEST_F(VerbsDataTest, AMirrorThatCannotBeMadeLeavesNothingBehind) {
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

// The owner may deregister its memory while a peer accesses it.
TEST_F(VerbsDataTest, MemoryMayGoWhileAPeerAsksForIt) {
  open();
  std::vector<uint8_t> remote(64, 1), mine(64);
  Segment to{mine.data(), mine.size(), nullptr};
  for (int turn = 0; turn < 300; ++turn) {
    Memory *memory = right_->regMr(0, {remote.data(), remote.size()}).take();
    Result<Request *> read = pair_.left->iread(&to, 1, memory->remoteKey(), 0);
    for (int i = 0; i < turn % 60; ++i)
      std::this_thread::yield();
    right_->deregMr(memory);
    // The memory exists, or is gone, or was deregistered during the access; in the last case the
    // connection has ended.
    if (Status status = ended(*pair_.left, read); status.code() == kCollPeer)
      ASSERT_TRUE(connect().ok());
    else
      EXPECT_TRUE(status.ok() || status.code() == kCollInvalidCall) << status.toString();
  }
}

TEST_F(VerbsDataTest, PlainCudaPointersAreRefusedWithAHint) {
  open();
  int value = 0;
  Status status = left_->regMr(0, {&value, sizeof(value), MemoryKind::Cuda, -1, 0}).status();
  EXPECT_EQ(status.code(), kCollUnsupported);
  EXPECT_NE(status.message().find("dmabuf"), std::string::npos);
}

} // namespace
} // namespace coll::net::test
