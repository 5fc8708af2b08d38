// Prepared accesses must not allocate when they run: reshards on host memory and, over a fake
// driver, on GPU memory, and accesses to a mapped tensor. Allocations are counted by operator new.

#include "runtime/exchange/reshard/gpu.h"
#include "runtime/exchange/tensor/owner.h"
#include "runtime/exchange/tensor/remote_tensor.h"
#include "test/exchange/reshard_cases.h"
#include "test/support/fakes/cuda.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <new>

namespace {

thread_local bool isCounting = false;
thread_local int allocations = 0;

void *countedNew(size_t bytes) {
  allocations += isCounting;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}

} // namespace

void *operator new(size_t bytes) { return countedNew(bytes); }
void *operator new[](size_t bytes) { return countedNew(bytes); }
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete[](void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
void operator delete[](void *memory, size_t) noexcept { std::free(memory); }

namespace coll::rt::exchange::test {
namespace {

// Returns the number of allocations of this thread.
template <typename Body>
int allocationsOf(Body &&body) {
  allocations = 0;
  isCounting = true;
  body();
  isCounting = false;
  return allocations;
}

TEST(AllocationsTest, AreCounted) {
  EXPECT_GT(allocationsOf([] { delete new Bytes(100); }), 0);
}

// A reshard that sends both to other ranks and to the rank itself, and its ranks' memory.
struct Ranks {
  explicit Ranks(ReshardStrategy strategy) {
    ReshardSpec spec;
    bool isFound = false;
    for (uint64_t seed = 1; !isFound; ++seed) {
      Random random(seed);
      spec = randomSpec(random);
      plan = planReshard(spec, strategy).take();
      size_t local = 0;
      for (const Transfer &transfer : plan.transfers)
        local += transfer.isLocal;
      isFound = local > 0 && local < plan.transfers.size();
    }
    for (size_t i = 0; i < plan.senders.size(); ++i)
      sources.push_back(sourceOf(spec, i, plan.senderBytes[i]));
    for (int64_t bytes : plan.receiverBytes) {
      targets.emplace_back(static_cast<size_t>(bytes), kUntouched);
      scratches.emplace_back(static_cast<size_t>(plan.scratchBytes), kUntouched);
    }
  }
  // The buffers of a receiver that pulls.
  ReshardBuffers buffersOf(size_t receiver) {
    const auto own = [](Bytes &bytes) {
      return OwnBuffer{bytes.data(), static_cast<int64_t>(bytes.size()), nullptr};
    };
    ReshardBuffers buffers;
    buffers.direction = ReshardDirection::Pull;
    if (const int i = plan.senderOf(plan.receivers[receiver]); i >= 0)
      buffers.source = own(sources[static_cast<size_t>(i)]);
    buffers.target = own(targets[receiver]);
    buffers.scratch = own(scratches[receiver]);
    for (Bytes &source : sources)
      buffers.peers.push_back({source.data(), static_cast<int64_t>(source.size()), nullptr, {}, 1});
    return buffers;
  }

  ReshardPlan plan;
  std::vector<Bytes> sources, targets, scratches;
};

TEST(AllocationsTest, AReshardOnHostMemoryMakesNone) {
  for (ReshardStrategy strategy : {ReshardStrategy::Routed, ReshardStrategy::Gather}) {
    Ranks ranks(strategy);
    for (size_t j = 0; j < ranks.plan.receivers.size(); ++j) {
      auto made = HostReshard::create(ranks.plan, ranks.plan.receivers[j], ranks.buffersOf(j));
      ASSERT_TRUE(made.ok()) << made.status().toString();
      bool isFine = true;
      EXPECT_EQ(allocationsOf([&] { isFine = (*made)->run().ok() && (*made)->slice().ok(); }), 0)
          << nameOf(strategy);
      EXPECT_TRUE(isFine);
    }
  }
}

int launches = 0;
Status countLaunch(const kernels::ReshardCopy &, void *) {
  ++launches;
  return {};
}

// The kernel's launch is a fake, so allocations of the driver do not count.
TEST(AllocationsTest, AReshardOnGpuMemoryMakesNone) {
  dl::FakeCuda fake(1);
  auto gpu = dl::GpuContext::open(fake.table(), 0).take();
  for (ReshardStrategy strategy : {ReshardStrategy::Routed, ReshardStrategy::Gather}) {
    Ranks ranks(strategy);
    GpuReshardOptions options;
    options.engine = ReshardEngine::Kernel;
    auto made = GpuReshard::create(ranks.plan, ranks.plan.receivers[0], ranks.buffersOf(0), gpu,
                                   options, countLaunch);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    bool isFine = true;
    launches = 0;
    EXPECT_EQ(
        allocationsOf([&] { isFine = (*made)->run(nullptr).ok() && (*made)->slice(nullptr).ok(); }),
        0)
        << nameOf(strategy);
    EXPECT_TRUE(isFine);
    EXPECT_EQ(launches, strategy == ReshardStrategy::Gather ? 2 : 1);
  }
}

TEST(AllocationsTest, APreparedAccessToMappedMemoryMakesNone) {
  auto owner = TensorOwner::create({"owner", nullptr, 0, nullptr}).take();
  auto *data = static_cast<float *>(owner->allocate(400).take());
  data[37] = 5;
  const std::string handle =
      owner->publish({kCollF32, {10, 10}, {}, data, nullptr}, {true, false}).take();
  RemoteTensors remote{RemoteTensorsOptions()};
  const std::shared_ptr<RemoteTensor> tensor = remote.open(handle).take();
  float local[20] = {};
  const TensorView view = {kCollF32, {10, 1}, {2, 1}, local, nullptr};
  const TensorAccess column = {Via::Ipc, Region{{0, 7}, {10, 1}}};
  auto read = tensor->prepareRead(view, column), write = tensor->prepareWrite(view, column);
  ASSERT_TRUE(read.ok() && write.ok());
  bool isFine = true;
  EXPECT_EQ(allocationsOf([&] { isFine = (*read)->run().ok() && (*write)->run().ok(); }), 0);
  EXPECT_TRUE(isFine);
  EXPECT_EQ(local[6], 5);
}

} // namespace
} // namespace coll::rt::exchange::test
