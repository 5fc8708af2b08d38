// Tests of the parts of the device transport.

#include "runtime/base/unpack_layout.h"
#include "runtime/net/gpu/bounce_pool.h"
#include "runtime/net/gpu/handle_life.h"
#include "test/support/fakes/cuda.h"

#include <gtest/gtest.h>
#include <set>

namespace coll::net::test {
namespace {

//===-- driver --------------------------------------------------------------------===//

TEST(CudaTest, ErrorsNameTheCallAndTheReason) {
  rt::dl::FakeCuda fake;
  const rt::dl::Cuda &cuda = fake.table();
  EXPECT_TRUE(cudaStatus(cuda, rt::dl::kCudaSuccess, "cuInit").ok());
  Status status = cudaStatus(cuda, rt::dl::kCudaOutOfMemory, "cuMemAlloc");
  EXPECT_EQ(status.code(), kCollDevice);
  EXPECT_EQ(status.message(), "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY");
  EXPECT_EQ(cudaStatus(cuda, 4711, "cuInit").message(), "cuInit: error 4711");
}

TEST(CudaTest, DevicesAreDescribed) {
  rt::dl::FakeCuda fake(2);
  auto devices = rt::dl::cudaDevices(fake.table());
  ASSERT_TRUE(devices.ok());
  ASSERT_EQ(devices->size(), 2u);
  EXPECT_EQ((*devices)[1].pciBusId, "0000:1b:00.0");
  EXPECT_EQ((*devices)[1].computeMajor, 9);
  fake.failNext("deviceGetName", 999);
  EXPECT_EQ(rt::dl::cudaDevices(fake.table()).status().code(), kCollDevice);
}

TEST(CudaTest, PointersAreToldApart) {
  rt::dl::FakeCuda fake(2);
  void *device = fake.allocate(100, 1);
  rt::dl::CudaPointerInfo info = rt::dl::cudaPointerInfo(fake.table(), device);
  EXPECT_TRUE(info.device);
  EXPECT_EQ(info.ordinal, 1);
  EXPECT_EQ(info.host, nullptr);
  int local = 0;
  info = rt::dl::cudaPointerInfo(fake.table(), &local);
  EXPECT_FALSE(info.device);
  EXPECT_EQ(info.ordinal, -1);
  fake.free(device);
}

TEST(CudaTest, MissingLibraryIsAReason) {
  auto real = rt::dl::cuda();
  if (!real.ok()) {
    EXPECT_EQ(real.status().code(), kCollUnsupported);
    EXPECT_FALSE(real.status().message().empty());
  }
}

//===-- life of a handle ----------------------------------------------------------===//

const DeviceHandle kGood{DeviceType::Unpack, rt::kUnpackVersion, reinterpret_cast<void *>(64),
                         sizeof(rt::UnpackHandle), true};

TEST(HandleLifeTest, GoesThroughItsStages) {
  Result<HandleLife> life = HandleLife::discover(DeviceType::Unpack, rt::kUnpackVersion);
  ASSERT_TRUE(life.ok());
  EXPECT_EQ(life->stage(), HandleStage::Discovered);
  ASSERT_TRUE(life->allocate(Direction::Receive).ok());
  ASSERT_TRUE(life->fill(kGood).ok());
  Result<const DeviceHandle *> mapped = life->map();
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ((*mapped)->handle, kGood.handle);
  EXPECT_TRUE(life->map().ok()); // another kernel
  life->close();
  EXPECT_EQ(life->stage(), HandleStage::Closed);
}

TEST(HandleLifeTest, VersionMismatchNamesBoth) {
  Status status = HandleLife::discover(DeviceType::Unpack, 0x6).status();
  EXPECT_EQ(status.code(), kCollUnsupported);
  EXPECT_NE(status.message().find("0x6"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("0x7"), std::string::npos) << status.message();
  EXPECT_FALSE(HandleLife::discover(DeviceType::Unpack, rt::kUnpackVersionInvalid).ok());
  EXPECT_FALSE(HandleLife::discover(DeviceType::Host, rt::kUnpackVersion).ok());
  EXPECT_FALSE(HandleLife::discover(static_cast<DeviceType>(77), rt::kUnpackVersion).ok());
}

// Tries every step in every stage; only those of the diagram are allowed.
TEST(HandleLifeTest, OtherStepsAreRefused) {
  for (int stage = 0; stage <= 4; ++stage)
    for (int step = 0; step < 3; ++step) {
      HandleLife life = HandleLife::discover(DeviceType::Unpack, rt::kUnpackVersion).take();
      if (stage == 4)
        life.close();
      if (stage >= 1 && stage < 4) {
        ASSERT_TRUE(life.allocate(Direction::Receive).ok());
      }
      if (stage >= 2 && stage < 4) {
        ASSERT_TRUE(life.fill(kGood).ok());
      }
      if (stage == 3) {
        ASSERT_TRUE(life.map().ok());
      }
      HandleStage before = life.stage();
      Status outcome = step == 0   ? life.allocate(Direction::Receive)
                       : step == 1 ? life.fill(kGood)
                                   : life.map().status();
      bool good = step == stage || (stage == 3 && step == 2);
      EXPECT_EQ(outcome.ok(), good) << "stage " << stage << " step " << step;
      if (!good) {
        EXPECT_EQ(outcome.code(), kCollInvalidCall);
        EXPECT_EQ(life.stage(), before);
      }
    }
}

TEST(HandleLifeTest, SendsAndWrongHandlesAreRefused) {
  HandleLife life = HandleLife::discover(DeviceType::Unpack, rt::kUnpackVersion).take();
  EXPECT_EQ(life.allocate(Direction::Send).code(), kCollUnsupported);
  ASSERT_TRUE(life.allocate(Direction::Receive).ok());
  DeviceHandle bad = kGood;
  bad.version = 8;
  EXPECT_EQ(life.fill(bad).code(), kCollUnsupported);
  bad = kGood;
  bad.handle = nullptr;
  EXPECT_EQ(life.fill(bad).code(), kCollInvalidCall);
  EXPECT_TRUE(life.fill(kGood).ok());
}

//===-- bounce pool ---------------------------------------------------------------===//

class CountingPinner final : public Pinner {
public:
  explicit CountingPinner(int64_t *pinned, bool *fail = nullptr) : pinned_(pinned), fail_(fail) {}
  Status pin(uint8_t *, uint64_t bytes) override {
    if (fail_ && *fail_)
      return {kCollDevice, "no memory to pin"};
    *pinned_ += static_cast<int64_t>(bytes);
    return {};
  }
  void unpin(uint8_t *, uint64_t bytes) override { *pinned_ -= static_cast<int64_t>(bytes); }
  Result<uint64_t> deviceAddress(uint8_t *data) override {
    return reinterpret_cast<uint64_t>(data) + 0x1000'0000; // GPUs may see it elsewhere
  }

private:
  int64_t *pinned_;
  bool *fail_;
};

constexpr uint64_t kBlock = BouncePool::kBlockBytes;
constexpr uint32_t kSure = BouncePool::kGuaranteedBlocks;

TEST(BouncePoolTest, CountsWhatIsTaken) {
  int64_t pinned = 0;
  {
    auto pool = BouncePool::create(std::make_unique<CountingPinner>(&pinned), 256 << 20).take();
    EXPECT_EQ(pool->stats().pinnedBytes, 0u);
    auto account = pool->open(BouncePool::kChunkBytes).take();
    EXPECT_EQ(static_cast<int64_t>(pool->stats().pinnedBytes), pinned);
    EXPECT_EQ(pool->device(), reinterpret_cast<uint64_t>(pool->host()) + 0x1000'0000);
    uint32_t blocks[kSure];
    ASSERT_TRUE(account->take(3, blocks));
    EXPECT_EQ(blocks[0], 0u); // the lowest first
    EXPECT_EQ(pool->stats().usedBytes, 3 * kBlock);
    account->give(3, blocks);
    ASSERT_TRUE(account->take(1, blocks));
    EXPECT_EQ(blocks[0], 0u); // what the cache may still hold
    account->give(1, blocks);
    EXPECT_EQ(pool->stats().usedBytes, 0u);
    EXPECT_EQ(pool->stats().peakBytes, 3 * kBlock);
  }
  EXPECT_EQ(pinned, 0);
}

TEST(BouncePoolTest, NobodyStarves) {
  int64_t pinned = 0;
  uint64_t limit = 3 * kSure * kBlock;
  auto pool = BouncePool::create(std::make_unique<CountingPinner>(&pinned), limit).take();
  auto greedy = pool->open(BouncePool::kChunkBytes).take(),
       modest = pool->open(BouncePool::kChunkBytes).take(),
       third = pool->open(BouncePool::kChunkBytes).take();
  EXPECT_EQ(pool->open(BouncePool::kChunkBytes).status().code(), kCollDevice);
  std::set<uint32_t> seen;
  uint32_t blocks[kSure];
  int taken = 0;
  while (greedy->take(1, blocks)) {
    EXPECT_TRUE(seen.insert(blocks[0]).second);
    EXPECT_LT(blocks[0], limit / kBlock);
    ++taken;
  }
  EXPECT_EQ(taken, static_cast<int>(kSure)); // no more is left over
  EXPECT_EQ(pool->stats().refused, 1u);
  ASSERT_TRUE(modest->take(kSure, blocks, /*spread=*/true));
  for (uint32_t block : blocks)
    EXPECT_TRUE(seen.insert(block).second);
  modest->give(kSure, blocks);
  third.reset(); // what it was sure of is for all now
  while (greedy->take(1, blocks))
    ++taken;
  EXPECT_EQ(taken, 2 * static_cast<int>(kSure));
  EXPECT_LE(pinned, static_cast<int64_t>(limit));
}

TEST(BouncePoolTest, LimitsAndFailuresAreReported) {
  int64_t pinned = 0;
  bool fail = true;
  EXPECT_EQ(BouncePool::create(std::make_unique<CountingPinner>(&pinned), 1000).status().code(),
            kCollInvalidCall);
  auto pool =
      BouncePool::create(std::make_unique<CountingPinner>(&pinned, &fail), ~uint64_t(0)).take();
  EXPECT_EQ(pool->stats().limitBytes, uint64_t(1) << 32);
  Status status = pool->open(BouncePool::kChunkBytes).status();
  EXPECT_EQ(status.code(), kCollDevice);
  EXPECT_NE(status.message().find("no memory to pin"), std::string::npos);
  EXPECT_EQ(pool->stats().accounts, 0u);
  fail = false;
  auto first = pool->open(BouncePool::kChunkBytes);
  ASSERT_TRUE(first.ok());
  // No more memory can be pinned, but the existing memory suffices.
  fail = true;
  EXPECT_TRUE(pool->open(BouncePool::kChunkBytes).ok());
}

} // namespace
} // namespace coll::net::test
