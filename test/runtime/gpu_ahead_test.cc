// Batches that come to the GPU while the step before them computes, over the fake driver.

#include "runtime/step/device/gpu/bounce.h"
#include "runtime/step/device/gpu/platform.h"
#include "runtime/step/rank_memory.h"
#include "test/runtime/fixtures.h"
#include "test/support/fakes/cublaslt.h"
#include "test/support/fakes/cuda.h"
#include "test/support/no_more_threads.h"

#include <cstring>
#include <mutex>
#include <set>
#include <thread>

namespace coll::rt::test {
namespace {

using testing::Test;

using Batch = std::vector<HostTensor>;

constexpr int64_t kLargeElems = 3 << 20; // 12 MiB, more than the ring of pinned memory

// w[0] += the first element of x, w[1] += the last one, w[2] = a sum of the others' bits.
int32_t sumStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                void *) {
  const void *given[] = {&args[0], &args[1], &results[1]};
  return abi->launch(ctx, 0, 0, given, 3);
}

class GpuAheadTest : public Test {
protected:
  // Each rank has `elems_` elements of the batch.
  void define(int64_t elems) {
    elems_ = elems;
    cuda_.defineKernel("sum", {8, 8, 8}, [elems](const dl::FakeLaunch &launch) {
      auto *w = launch.parameter<float *>(0);
      const auto *x = launch.parameter<const float *>(1);
      w[0] += x[0];
      w[1] += x[elems - 1];
      uint32_t sum = 0, bits = 0;
      for (int64_t i = 0; i < elems; ++i) {
        std::memcpy(&bits, x + i, sizeof(bits));
        sum = sum * 31 + (bits >> 8);
      }
      w[2] = static_cast<float>(sum % 10'000);
      *launch.parameter<float *>(2) = 3 * x[0];
    });
  }
  ~GpuAheadTest() override {
    EXPECT_EQ(cuda_.misuse(), "");
    EXPECT_EQ(cuda_.liveAllocations(), 0);
  }

  static void replaceAll(std::string &text, const std::string &from, const std::string &to) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
      text.replace(at, from.size(), to);
  }

  Program program(int ranks) {
    std::string text = descriptorText(ranks);
    text.insert(1, R"("device":"gpu",)");
    const std::string local = R"("shape":[8],"local":[)" + std::to_string(8 / ranks) + "]";
    EXPECT_NE(text.find(local), std::string::npos);
    replaceAll(text, local,
               R"("shape":[)" + std::to_string(ranks * elems_) + R"(],"local":[)" +
                   std::to_string(elems_) + "]");
    Result<Program> made = Program::create(
        text, sumStep, nullptr,
        {".version 8.0 of a fake", R"([{"name":"sum","grid":1,"block":1}])", nullptr, 0});
    EXPECT_TRUE(made.ok()) << made.status().toString();
    return made ? made.take() : Program();
  }

  std::unique_ptr<Executor> start(int ranks, bool graphs = true) {
    ExecutorOptions options;
    options.graphs = graphs;
    auto executor = Executor::create({program(ranks)}, options);
    EXPECT_TRUE(executor.ok()) << executor.status().toString();
    if (!executor)
      return nullptr;
    EXPECT_TRUE((*executor)->initialize({floats({4}, {0, 0, 0, 0})}).ok());
    return executor.take();
  }

  Batch batch(int ranks, int number) const {
    std::vector<float> x(static_cast<size_t>(ranks * elems_));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>((i * 7 + static_cast<size_t>(number) * 13) % 1001);
    return {floats({ranks * elems_}, std::move(x))};
  }

  // The losses, then each rank's state.
  std::vector<std::vector<float>> run(Executor &executor, int ranks, int steps, bool isAhead) {
    std::vector<Batch> batches;
    for (int i = 0; i < steps; ++i)
      batches.push_back(batch(ranks, i));
    std::vector<std::vector<float>> all;
    for (size_t i = 0; i < batches.size(); ++i) {
      const bool hasNext = isAhead && i + 1 < batches.size();
      Result<Batch> results = executor.step(batches[i], hasNext ? &batches[i + 1] : nullptr);
      EXPECT_TRUE(results.ok()) << results.status().toString();
      if (results)
        all.push_back(values((*results)[0]));
    }
    for (int rank = 0; rank < ranks; ++rank) {
      Result<Batch> state = executor.stateOf(rank);
      EXPECT_TRUE(state.ok()) << state.status().toString();
      if (state)
        all.push_back(values((*state)[0]));
    }
    return all;
  }

  // Copies out of the memory of batches that came ahead of time.
  int64_t taken() const { return cuda_.calls("memcpyAsync"); }
  int64_t uploads() const { return cuda_.calls("memcpyHtoDAsync"); }

  int64_t elems_ = 0;
  dl::FakeCuda cuda_; // one GPU, which the ranks share
  dl::FakeCublasLt lt_;
  ScopedGpuPlatform platform_{{&cuda_.table(), &lt_.table()}};
};

TEST_F(GpuAheadTest, TheResultsAreTheSame) {
  for (int64_t elems : {int64_t{4}, kLargeElems})
    for (int ranks : {1, 2}) {
      define(elems);
      const int steps = elems == kLargeElems ? 3 : 6;
      const int64_t first = taken();
      const auto expected = run(*start(ranks), ranks, steps, /*isAhead=*/false);
      EXPECT_EQ(taken(), first);
      for (bool graphs : {true, false}) {
        const int64_t before = taken();
        EXPECT_EQ(run(*start(ranks, graphs), ranks, steps, /*isAhead=*/true), expected)
            << ranks << " ranks, " << elems << " elements";
        EXPECT_EQ(taken() - before, ranks * (steps - 1));
      }
    }
}

TEST_F(GpuAheadTest, TheNextBatchIsOnItsWayBeforeTheWait) {
  define(4);
  auto executor = start(1);
  const Batch first = batch(1, 0), second = batch(1, 1), third = batch(1, 2);
  ASSERT_TRUE(executor->step(first, &second).ok());
  const int64_t before = uploads();
  cuda_.failNext("streamSynchronize", 700);
  Status status = executor->step(second, &third).status();
  EXPECT_TRUE(contains(status, "GPU 0 failed in the step")) << status.message();
  EXPECT_EQ(uploads() - before, 1); // the third batch
  EXPECT_EQ(executor->step(third).status().message(), status.message());
}

TEST_F(GpuAheadTest, AnotherBatchDropsTheCopy) {
  define(4);
  auto executor = start(1);
  const Batch first = batch(1, 1), second = batch(1, 2), third = batch(1, 3);
  ASSERT_TRUE(executor->step(first, &second).ok());
  auto results = executor->step(third, &first);
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(values((*results)[0]), (std::vector<float>{3 * 39}));
  EXPECT_EQ(taken(), 0);
  results = executor->step(first);
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(values((*results)[0]), (std::vector<float>{3 * 13}));
  EXPECT_EQ(taken(), 1);
  // A copy serves one step.
  ASSERT_TRUE(executor->step(first).ok());
  EXPECT_EQ(taken(), 1);
}

TEST_F(GpuAheadTest, ARefusedCallDropsTheCopy) {
  define(4);
  auto executor = start(1);
  const Batch first = batch(1, 0), wrong = {floats({3}, {1, 2, 3})};
  Batch second = batch(1, 1);
  ASSERT_TRUE(executor->step(first, &second).ok());
  EXPECT_FALSE(executor->step(wrong).ok());
  auto *data = reinterpret_cast<float *>(second[0].data.data());
  std::fill_n(data, 4, 5.0F);
  auto results = executor->step(second);
  ASSERT_TRUE(results.ok()) << results.status().toString();
  EXPECT_EQ(taken(), 0);
}

TEST_F(GpuAheadTest, AFailedCopyIsTheNextStepsError) {
  define(4);
  for (bool isDropped : {false, true}) {
    auto executor = start(1);
    const Batch first = batch(1, 1), second = batch(1, 2), third = batch(1, 3);
    ASSERT_TRUE(executor->step(first, &second).ok());
    cuda_.failNext("memcpyHtoDAsync", 719);
    ASSERT_TRUE(executor->step(second, &third).ok());
    if (isDropped) {
      EXPECT_TRUE(executor->step(first, &third).ok());
      EXPECT_TRUE(executor->step(third).ok());
      continue;
    }
    const Status status = executor->step(third).status();
    EXPECT_TRUE(contains(status, "its batch, copied during the step before: cuMemcpyHtoDAsync"))
        << status.message();
    EXPECT_EQ(executor->step(first).status().message(), status.message());
  }
}

TEST_F(GpuAheadTest, ANextBatchThatDoesNotFitIsRefusedWhenItsTurnComes) {
  define(4);
  auto executor = start(1);
  const Batch first = batch(1, 1), wrong = {floats({2}, {1, 2})};
  ASSERT_TRUE(executor->step(first, &wrong).ok());
  EXPECT_TRUE(contains(executor->step(wrong).status(), "batch argument 0 (\"x\")"));
  EXPECT_TRUE(executor->step(first).ok());
}

TEST_F(GpuAheadTest, WithoutRoomTheBatchIsCopiedInItsStep) {
  define(4);
  const auto expected = run(*start(1), 1, 3, /*isAhead=*/false);
  auto executor = start(1);
  cuda_.failNext("memAlloc", dl::kCudaOutOfMemory);
  EXPECT_EQ(run(*executor, 1, 3, /*isAhead=*/true), expected);
  EXPECT_EQ(taken(), 0);
}

TEST_F(GpuAheadTest, AnExecutorEndsWithABatchUnderWay) {
  define(kLargeElems);
  auto executor = start(2);
  cuda_.delayCopies(3);
  const Batch first = batch(2, 0), second = batch(2, 1);
  EXPECT_TRUE(executor->step(first, &second).ok());
  executor.reset();
  cuda_.delayCopies(0);
}

TEST_F(GpuAheadTest, MemoryCountsTheNextBatch) {
  define(4);
  const RankMemory memory = memoryOf(program(2).descriptor);
  EXPECT_EQ(memory.nextBatch, memory.batch);
  std::vector<RankBuffer> buffers = buffersOf(program(2).descriptor);
  EXPECT_EQ(buffers.back().kind, BufferKind::NextBatch);
  EXPECT_EQ(memory.total(), memory.state + memory.outputs + memory.temporaries + 2 * memory.batch);
}

// Uploads a large input twice; returns how many threads wrote it.
size_t uploadLarge() {
  dl::FakeCuda cuda;
  auto gpu = gpu::Gpu::open(cuda.table(), 0, "the test", /*keepsContext=*/false).take();
  gpu::Gpu::Scope scope(*gpu);
  const int64_t bytes = (int64_t{21} << 20) + 5;
  auto bounce = Bounce::create(*gpu, gpu->stream(), bytes, 1 << 20, /*writers=*/4).take();
  dl::GpuMemory memory =
      dl::GpuMemory::create(gpu->context(), dl::GpuMemory::Kind::Device, bytes).take();
  std::vector<char> input(static_cast<size_t>(bytes));
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = static_cast<char>(static_cast<uint32_t>(i) * 2654435761u >> 24);
  std::mutex mutex;
  std::set<std::thread::id> writers;
  const InputWriter write = [&](int64_t begin, int64_t size, char *to) {
    std::memcpy(to, input.data() + begin, static_cast<size_t>(size));
    std::lock_guard<std::mutex> lock(mutex);
    writers.insert(std::this_thread::get_id());
  };
  for (int round = 0; round < 2; ++round) {
    // After the small input the ring is in the middle of a piece.
    EXPECT_TRUE(bounce->upload(memory.device(), 100, write).ok());
    EXPECT_TRUE(bounce->upload(memory.device(), bytes, write).ok());
    EXPECT_EQ(cuda.table().streamSynchronize(gpu->stream()), dl::kCudaSuccess);
    EXPECT_EQ(std::memcmp(memory.device(), input.data(), input.size()), 0);
    std::memset(memory.device(), 0, input.size());
  }
  EXPECT_EQ(cuda.misuse(), "");
  return writers.size();
}

TEST(BounceTest, SeveralThreadsWriteALargeInput) { EXPECT_EQ(uploadLarge(), 4u); }

TEST(BounceTest, OneThreadWritesWhereNoMoreCanStart) {
  NoMoreThreads limit;
  EXPECT_EQ(uploadLarge(), 1u);
}

int32_t nothing(const CollAbi *, CollContext *, void *const *, void *const *, void *) { return 0; }

TEST(AheadOnHostTest, TheNextBatchIsIgnored) {
  auto executor = makeExecutor(2, nothing);
  ASSERT_TRUE(executor);
  ASSERT_TRUE(executor->initialize({floats({4}, {1, 2, 3, 4})}).ok());
  const Batch batch = {floats({8}, {1, 2, 3, 4, 5, 6, 7, 8})}, wrong = {floats({2}, {1, 2})};
  EXPECT_TRUE(executor->step(batch, &wrong).ok());
  EXPECT_TRUE(executor->step(batch, &batch).ok());
  EXPECT_EQ(memoryOf(executor->descriptor()).nextBatch, 0);
}

} // namespace
} // namespace coll::rt::test
