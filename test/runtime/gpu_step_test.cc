// Compiled steps on GPUs, over the fake driver and the fake libraries: tests of the host side.

#include "runtime/backend/direct/platform.h"
#include "runtime/backend/nccl/platform.h"
#include "runtime/step/device/gpu/choices.h"
#include "runtime/step/device/gpu/gpu_device.h"
#include "test/conformance/emulated_peers.h"
#include "test/runtime/fixtures.h"
#include "test/runtime/token_step.h"
#include "test/support/fakes/cublaslt.h"
#include "test/support/fakes/nccl.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace coll::rt::test {
namespace {

using testing::Test;

constexpr char kImage[] = ".version 8.0 of a fake";
constexpr char kKernels[] = R"([{"name":"scale","grid":2,"block":64,"loc":"train.py:7:3"}])";
constexpr float kConstants[] = {10, 20, 30, 40};

#define CALL(call)                                                                                 \
  if (const int32_t code = call)                                                                   \
    return code;

int32_t scale(const CollAbi *abi, CollContext *ctx, const void *x, void *y, float a, uint32_t n) {
  const void *args[] = {&x, &y, &a, &n};
  return abi->launch(ctx, 0, 0, args, 4);
}

// w = a sum of no products, which is zero; loss = 3 * x[0].
int32_t emptySumStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                     void *arena) {
  CollContraction c{};
  c.batch = 1, c.m = 4, c.n = 1;
  c.ld_a = c.ld_b = c.ld_out = 1;
  CALL(abi->contract(ctx, 0, &c, arena, arena, args[0]));
  return scale(abi, ctx, args[1], results[1], 3, 1);
}

// w += 2 * w + constants; loss = 3 * x[0].
int32_t localStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                  void *arena) {
  void *constants = nullptr;
  char *scratch = static_cast<char *>(arena);
  CALL(abi->constants(ctx, &constants));
  CollContraction c{};
  c.batch = 1, c.m = 4, c.n = 1, c.k = 1;
  c.ld_a = c.ld_b = c.ld_out = 1;
  c.accumulate = 1;
  const float pattern[2] = {2, 1};
  CALL(abi->fill(ctx, 0, scratch + 64, pattern, 8, 1));
  CALL(abi->copy(ctx, 0, scratch, args[0], 16));
  CALL(abi->contract(ctx, 0, &c, scratch, scratch + 64, args[0]));
  CALL(abi->contract(ctx, 0, &c, constants, scratch + 68, args[0]));
  return scale(abi, ctx, args[1], results[1], 3, 1);
}

// w = sum of 2 * w over the ranks; loss = 3 * x[0].
int32_t sharedStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                   void *arena) {
  CALL(scale(abi, ctx, args[0], arena, 2, 4));
  CALL(abi->all_reduce(ctx, 0, arena, args[0], 4, kCollF32, kCollSum, 0, 0, 0, nullptr));
  return scale(abi, ctx, args[1], results[1], 3, 1);
}

// The same, but the host reads and writes in between, and the call is waited for later.
int32_t hostStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                 void *arena) {
  CALL(scale(abi, ctx, args[0], arena, 2, 4));
  CollRequest *request = nullptr;
  CALL(abi->all_reduce(ctx, 0, arena, args[0], 4, kCollF32, kCollSum, 0, 0, 0, &request));
  float first = 0;
  CALL(abi->fetch(ctx, 0, &first, args[1], 4));
  first *= 3;
  CALL(abi->wait(ctx, 0, request));
  return abi->store(ctx, 0, results[1], &first, 4);
}

// w[0] += 10 * (1 + 2 + 3), with a loop that the host counts; loss = 3 * x[0].
int32_t countedStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                    void *arena) {
  void *constants = nullptr;
  CALL(abi->constants(ctx, &constants));
  CollContraction c{};
  c.batch = 1, c.m = 1, c.n = 1, c.k = 1;
  c.ld_a = c.ld_b = c.ld_out = 1;
  c.accumulate = 1;
  for (float i = 1; i <= 3; ++i) {
    CALL(abi->store(ctx, 0, arena, &i, 4));
    CALL(abi->contract(ctx, 0, &c, constants, arena, args[0]));
  }
  return scale(abi, ctx, args[1], results[1], 3, 1);
}

// w = attention of one query and one key, and its d_v; both are x; loss = 3 * x[0].
int32_t attentionStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                      void *arena) {
  CollAttention a{};
  a.batch = a.heads = a.kv_heads = a.queries = a.keys = 1;
  a.dim = 8;
  a.scale = 0.5;
  float *memory = static_cast<float *>(arena), *lse = memory + 8, *scratch = memory + 12;
  const void *x = args[1];
  CALL(abi->attention(ctx, 0, &a, x, x, x, memory, lse));
  CALL(abi->copy(ctx, 0, args[0], memory, 8));
  CALL(abi->attention_backward(ctx, 0, &a, x, x, x, memory, lse, x, memory + 16, memory + 24,
                               memory + 32, scratch));
  CALL(abi->copy(ctx, 0, static_cast<float *>(args[0]) + 2, memory + 32, 8));
  return scale(abi, ctx, args[1], results[1], 3, 1);
}

int32_t unknownKernelStep(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                          void *) {
  return abi->launch(ctx, 0, 1, nullptr, 0);
}

int32_t gemmStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *, void *) {
  return abi->gemm(ctx, kCollF32, 0, 0, 1, 1, 1, args[0], 1, 0, args[0], 1, 0, args[1], 1, 0, 1, 0);
}

class GpuStepTest : public Test {
protected:
  GpuStepTest() : cuda_(2) {
    setenv("COLL_CACHE_DIR", "none", 1);
    cuda_.defineKernel("scale", {8, 8, 4, 4}, [](const dl::FakeLaunch &launch) {
      const auto *x = launch.parameter<const float *>(0);
      auto *y = launch.parameter<float *>(1);
      for (uint32_t i = 0; i < launch.parameter<uint32_t>(3); ++i)
        y[i] = launch.parameter<float>(2) * x[i];
    });
  }
  ~GpuStepTest() override {
    unsetenv("COLL_CACHE_DIR");
    EXPECT_EQ(cuda_.misuse(), "");
    EXPECT_EQ(cuda_.liveAllocations(), 0);
    EXPECT_EQ(lt_.liveObjects(), 0);
  }

  static Program program(int ranks, CollEntry step, const char *image = kImage,
                         const char *kernels = kKernels) {
    std::string text = descriptorText(ranks);
    text.insert(1, R"("device":"gpu",)");
    Result<Program> made =
        Program::create(text, step, nullptr, {image, kernels, kConstants, sizeof(kConstants)});
    EXPECT_TRUE(made.ok()) << made.status().toString();
    return made ? made.take() : Program();
  }

  static Result<std::unique_ptr<Executor>> start(int ranks, CollEntry step,
                                                 const ExecutorOptions &options = {}) {
    return Executor::create({program(ranks, step)}, options);
  }

  // Returns the losses, then the state.
  static std::vector<std::vector<float>> run(Executor &executor, int steps) {
    std::vector<std::vector<float>> all;
    Status status = executor.initialize({floats({4}, {1, 2, 3, 4})});
    EXPECT_TRUE(status.ok()) << status.toString();
    for (int i = 0; i < steps; ++i) {
      const float x = static_cast<float>(i + 1);
      Result<std::vector<HostTensor>> results =
          executor.step({floats({8}, {x, 0, 0, 0, 0, 0, 0, 0})});
      EXPECT_TRUE(results.ok()) << results.status().toString();
      if (results)
        all.push_back(values((*results)[0]));
    }
    Result<std::vector<HostTensor>> state = executor.state();
    EXPECT_TRUE(state.ok()) << state.status().toString();
    if (state)
      all.push_back(values((*state)[0]));
    return all;
  }

  static Status failureOf(CollEntry step) {
    Result<std::unique_ptr<Executor>> executor = start(1, step);
    if (!executor)
      return executor.status();
    EXPECT_TRUE((*executor)->initialize({floats({4}, {1, 2, 3, 4})}).ok());
    return (*executor)->step({floats({8}, {0, 0, 0, 0, 0, 0, 0, 0})}).status();
  }

  dl::FakeCuda cuda_;
  dl::FakeCublasLt lt_;
  // The GPU memory of the fake driver is host memory.
  ScopedGpuPlatform platform_{{&cuda_.table(), &lt_.table(), plainly<kernels::attentionReference>,
                               plainly<kernels::attentionBackwardReference>}};

  template <auto Reference>
  static Status plainly(const kernels::Attention &attention,
                        const kernels::AttentionBuffers &buffers, void *stream) {
    const dl::CudaResult put =
        dl::FakeCuda::enqueue(static_cast<dl::CudaStream>(stream), [=]() -> dl::FakeCuda::Question {
          Reference(attention, buffers);
          return [] { return true; };
        });
    return put == dl::kCudaSuccess ? Status() : Status(kCollDevice, "enqueue");
  }
};

TEST_F(GpuStepTest, AStepRunsAsItIsWritten) {
  auto executor = start(1, localStep);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  EXPECT_EQ(run(**executor, 2), (std::vector<std::vector<float>>{{3}, {6}, {49, 98, 147, 196}}));
}

// A program of one pipeline stage; the last one returns the loss.
std::string stageText(int rank, const std::string &more) {
  const std::string number = std::to_string(rank);
  const std::string state =
      R"({"name":"w)" + number + R"(","role":"state","dtype":"f32","shape":[2],"index":)" + number;
  return R"({"device":"gpu","abi":)" + std::to_string(kCollAbiVersion) +
         R"(,"name":"step","mesh":{"name":"m","axes":[{"name":"pp","size":2}]},"ranks":[[)" +
         number + "," + number + R"(]],"args":[)" + state + R"(}],"results":[)" + state +
         R"(,"arg":0})" + more + "]}";
}

int32_t idleStep(const CollAbi *, CollContext *, void *const *, void *const *, void *) { return 0; }

int32_t lossStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                 void *) {
  return scale(abi, ctx, args[0], results[1], 3, 1);
}

TEST_F(GpuStepTest, AStageWithoutRankZeroGivesItsResult) {
  const ProgramData data{kImage, kKernels, kConstants, sizeof(kConstants)};
  Result<Program> first = Program::create(stageText(0, ""), idleStep, nullptr, data);
  ASSERT_TRUE(first.ok()) << first.status().toString();
  Result<Program> last = Program::create(
      stageText(1, R"(,{"name":"loss","role":"","dtype":"f32","shape":[],"arg":-1,"index":2})"),
      lossStep, nullptr, data);
  ASSERT_TRUE(last.ok()) << last.status().toString();
  auto executor = Executor::create({*first, *last}, {});
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  const Status loaded = (*executor)->initialize({floats({2}, {1, 2}), floats({2}, {5, 6})});
  ASSERT_TRUE(loaded.ok()) << loaded.toString();
  Result<std::vector<HostTensor>> results = (*executor)->step({});
  ASSERT_TRUE(results.ok()) << results.status().toString();
  ASSERT_EQ(results->size(), 1u);
  EXPECT_EQ(values(results->front()), std::vector<float>{15});
}

TEST_F(GpuStepTest, TheThirdStepIsCapturedAndReplayed) {
  auto executor = start(1, localStep);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  const auto replayed = run(**executor, 6);
  EXPECT_EQ(cuda_.calls("graphLaunch"), 4);
  EXPECT_EQ(cuda_.calls("launchKernel"), 3);
  ExecutorOptions eager;
  eager.graphs = false;
  auto other = start(1, localStep, eager);
  ASSERT_TRUE(other.ok());
  EXPECT_EQ(run(**other, 6), replayed);
  EXPECT_EQ(cuda_.calls("graphLaunch"), 4);
}

TEST_F(GpuStepTest, ASumOfNoProductsIsZero) {
  auto executor = start(1, emptySumStep);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  EXPECT_EQ(run(**executor, 1), (std::vector<std::vector<float>>{{3}, {0, 0, 0, 0}}));
}

TEST_F(GpuStepTest, AttentionRunsOnTheStream) {
  auto executor = start(1, attentionStep);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  EXPECT_EQ(run(**executor, 1), (std::vector<std::vector<float>>{{3}, {1, 0, 1, 0}}));
}

TEST_F(GpuStepTest, LoopsThatTheHostCountsAreCaptured) {
  auto executor = start(1, countedStep);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  const auto seen = run(**executor, 4);
  EXPECT_EQ(seen.back(), (std::vector<float>{241, 2, 3, 4}));
  EXPECT_EQ(cuda_.calls("graphLaunch"), 2);
}

TEST_F(GpuStepTest, TokensAreExchangedThroughTheHost) {
  std::string text = descriptorText(2);
  text.insert(1, R"("device":"gpu",)");
  const std::string arena = R"("arena_bytes":256)";
  text.replace(text.find(arena), arena.size(), R"("arena_bytes":)" + std::to_string(kTokenArena));
  Result<Program> made = Program::create(text, tokenStep, nullptr);
  ASSERT_TRUE(made.ok()) << made.status().toString();
  auto executor = Executor::create({*made});
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  ASSERT_TRUE((*executor)->initialize({floats({4}, {0, 0, 0, 0})}).ok());
  for (int step = 0; step < 3; ++step) {
    auto results = (*executor)->step({floats({8}, {1, 2, 3, 4, 5, 6, 7, 8})});
    ASSERT_TRUE(results.ok()) << results.status().toString();
    EXPECT_EQ(values((*results)[0]), (std::vector<float>{5}));
    EXPECT_EQ(values((*executor)->state().take()[0]), (std::vector<float>{1, 2, 3, 4}));
  }
  EXPECT_EQ(cuda_.calls("graphLaunch"), 0);
}

TEST_F(GpuStepTest, WaitingForEachCallUsesNoGraphs) {
  setenv("COLL_GPU_SYNC", "1", 1);
  auto executor = start(1, localStep);
  unsetenv("COLL_GPU_SYNC");
  ASSERT_TRUE(executor.ok());
  run(**executor, 4);
  EXPECT_EQ(cuda_.calls("graphLaunch"), 0);
}

// A product of zeros, large enough that algorithms are tried.
int32_t productStep(const CollAbi *abi, CollContext *ctx, void *const *, void *const *,
                    void *arena) {
  CollContraction c{};
  c.batch = 1, c.m = 1, c.n = 1, c.k = 1 << 22;
  c.ld_a = c.k, c.ld_b = c.ld_out = 1;
  c.trans_b = 1, c.ld_b = c.k;
  return abi->contract(ctx, 0, &c, arena, arena, static_cast<char *>(arena) + (int64_t{4} << 22));
}

TEST_F(GpuStepTest, AlgorithmsAreTimedOnceAndKeptOnDisk) {
  const std::string folder = testing::TempDir() + "algorithms-" + std::to_string(getpid());
  setenv("COLL_CACHE_DIR", folder.c_str(), 1);
  std::string text = descriptorText(1);
  text.insert(1, R"("device":"gpu",)");
  const std::string arena = R"("arena_bytes":256)";
  text.replace(text.find(arena), arena.size(), R"("arena_bytes":16777472)");
  Result<Program> made = Program::create(text, productStep, nullptr);
  ASSERT_TRUE(made.ok()) << made.status().toString();
  for (int start = 0; start < 2; ++start) {
    auto executor = Executor::create({*made});
    ASSERT_TRUE(executor.ok()) << executor.status().toString();
    ASSERT_TRUE((*executor)->initialize({floats({4}, {1, 2, 3, 4})}).ok());
    Status status = (*executor)->step({floats({8}, {0, 0, 0, 0, 0, 0, 0, 0})}).status();
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  // Two candidates with four runs each, then a run in each executor.
  EXPECT_EQ(lt_.calls("heuristics"), 1);
  EXPECT_EQ(lt_.calls("matmul"), 10);
  const std::string file = folder + "/matmul-fake-GPU-0-130000";
  EXPECT_EQ(access(file.c_str(), R_OK), 0) << file;
  EXPECT_EQ(std::system(("rm -r '" + folder + "'").c_str()), 0);
}

TEST_F(GpuStepTest, RanksThatShareGpusTalkThroughTheHost) {
  for (CollEntry step : {sharedStep, hostStep}) {
    auto executor = start(4, step);
    ASSERT_TRUE(executor.ok()) << executor.status().toString();
    EXPECT_EQ(run(**executor, 1), (std::vector<std::vector<float>>{{3}, {8, 16, 24, 32}}));
  }
  EXPECT_EQ(cuda_.calls("streamBeginCapture"), 0);
}

TEST_F(GpuStepTest, CallsOfNcclAreCapturedToo) {
  dl::FakeNccl nccl;
  nccl::ScopedPlatform platform({&cuda_.table(), &nccl.table()});
  ExecutorOptions options;
  options.backend = "nccl";
  auto executor = start(2, sharedStep, options);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  const auto all = run(**executor, 5);
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all.back(), (std::vector<float>{1024, 2048, 3072, 4096}));
  EXPECT_EQ(cuda_.calls("graphLaunch"), 6);
  EXPECT_EQ((*executor)->stats().collectivesPerStep, 2);
  EXPECT_EQ(nccl.misuse(), "");
}

TEST_F(GpuStepTest, MemoryForCallsOnTheHostIsUsedAgain) {
  auto executor = start(2, hostStep);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  run(**executor, 1);
  const int64_t before = cuda_.calls("memHostAlloc");
  run(**executor, 3);
  EXPECT_EQ(cuda_.calls("memHostAlloc"), before);
}

TEST_F(GpuStepTest, StateIsReadFromTheGpu) {
  auto executor = start(2, sharedStep);
  ASSERT_TRUE(executor.ok());
  run(**executor, 1);
  for (int rank : {0, 1}) {
    Result<std::vector<HostTensor>> state = (*executor)->stateOf(rank);
    ASSERT_TRUE(state.ok()) << state.status().toString();
    EXPECT_EQ(values((*state)[0]), (std::vector<float>{4, 8, 12, 16}));
  }
}

TEST_F(GpuStepTest, AnImageThatIsRejectedShowsTheLog) {
  Result<std::unique_ptr<Executor>> executor = Executor::create({program(1, localStep, "no PTX")});
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(contains(executor.status(), "ptxas fatal: line 1")) << executor.status().message();
  executor = Executor::create(
      {program(1, localStep, kImage, R"([{"name":"missing","grid":1,"block":1}])")});
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(contains(executor.status(), "kernel \"missing\"")) << executor.status().message();
  cuda_.failNext("moduleLoad", dl::kCudaNoBinary);
  executor = start(1, localStep);
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(contains(executor.status(), "--device=gpu:sm_90")) << executor.status().message();
}

TEST_F(GpuStepTest, TooLittleMemoryNamesWhatIsNeeded) {
  cuda_.failNext("memAlloc", dl::kCudaOutOfMemory);
  Result<std::unique_ptr<Executor>> executor = start(1, localStep);
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().code(), kCollDevice);
  EXPECT_TRUE(contains(executor.status(), "512 MiB of 1024 MiB are free; the largest is the memory "
                                          "of temporaries"))
      << executor.status().message();
  cuda_.failNext("memHostAlloc", dl::kCudaOutOfMemory);
  executor = start(1, localStep);
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(contains(executor.status(), "pinned memory")) << executor.status().message();
}

//===-- kernels on the memory of all members ------------------------------------===//

// w = sum of 2 * w over the ranks, each of which computes half of it; loss = 3 * x[0].
int32_t rootStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                 void *arena) {
  char *gradients = static_cast<char *>(arena), *parameters = gradients + 64;
  CALL(scale(abi, ctx, args[0], gradients, 2, 4));
  int64_t position = 0, size = 0;
  CALL(abi->group_position(ctx, 0, &position, &size));
  int32_t isReached = 0;
  CALL(abi->reaches(ctx, 0, &isReached));
  if (isReached) {
    CALL(abi->barrier(ctx, 0, 0, nullptr));
    void *from[2], *to[2];
    CALL(abi->members(ctx, kCollFirstComputation, 0, gradients, 16, from));
    CALL(abi->members(ctx, kCollFirstComputation, 0, parameters, 16, to));
    const void *values[] = {&from[0], &from[1], &to[0], &to[1], &position};
    CALL(abi->launch(ctx, kCollFirstComputation, 1, values, 5));
    CALL(abi->barrier(ctx, 0, 0, nullptr));
  } else {
    char *part = parameters + 64;
    CALL(abi->reduce_scatter(ctx, 0, gradients, part, 1, 2, kCollF32, kCollSum, 0, 0, 0, nullptr));
    CALL(abi->all_gather(ctx, 0, part, parameters, 1, 2, kCollF32, 0, nullptr));
  }
  CALL(abi->copy(ctx, 0, args[0], parameters, 16));
  return scale(abi, ctx, args[1], results[1], 3, 1);
}

class RootStepTest : public GpuStepTest {
protected:
  RootStepTest() {
    setenv("COLL_GPU_ROOT_UPDATE", "1", 1);
    cuda_.defineKernel("root_update", {8, 8, 8, 8, 8}, [](const dl::FakeLaunch &launch) {
      const auto first = 2 * launch.parameter<int64_t>(4);
      for (int64_t i = first; i < first + 2; ++i)
        for (int to : {2, 3})
          launch.parameter<float *>(to)[i] =
              launch.parameter<const float *>(0)[i] + launch.parameter<const float *>(1)[i];
    });
  }

  ~RootStepTest() override { unsetenv("COLL_GPU_ROOT_UPDATE"); }

  static Program rootProgram(CollEntry step = rootStep, const std::string &reached = "0") {
    std::string text = descriptorText(2);
    text.insert(1, R"("device":"gpu","reached":)" + reached + ",");
    Result<Program> made = Program::create(
        text, step, nullptr,
        {kImage,
         R"([{"name":"scale","grid":2,"block":64},{"name":"root_update","grid":1,"block":2}])",
         nullptr, 0});
    EXPECT_TRUE(made.ok()) << made.status().toString();
    return made ? made.take() : Program();
  }

  // The states after five steps.
  std::vector<float> trained(const char *backend) {
    ExecutorOptions options;
    options.backend = backend;
    auto executor = Executor::create({rootProgram()}, options);
    EXPECT_TRUE(executor.ok()) << executor.status().toString();
    return executor ? run(**executor, 5).back() : std::vector<float>();
  }

  const std::vector<float> afterFive_ = {1024, 2048, 3072, 4096};
};

TEST_F(RootStepTest, TheUpdateRunsOnTheMemoryOfAllMembersAndIsCaptured) {
  direct::ScopedPlatform platform(emulatedPeers(cuda_.table()));
  EXPECT_EQ(trained("direct"), afterFive_);
  EXPECT_EQ(cuda_.calls("graphLaunch"), 6);
  // Two eager steps and a capture on two ranks, three kernels in each.
  EXPECT_EQ(cuda_.calls("launchKernel"), 18);
}

TEST_F(RootStepTest, TheUpdateRunsAsCallsByDefault) {
  direct::ScopedPlatform platform(emulatedPeers(cuda_.table()));
  unsetenv("COLL_GPU_ROOT_UPDATE");
  EXPECT_EQ(trained("direct"), afterFive_);
  EXPECT_EQ(cuda_.calls("launchKernel"), 12);
}

TEST_F(RootStepTest, TheUpdateRunsAsCallsWhereMemoryIsNotReached) {
  dl::FakeNccl nccl;
  nccl::ScopedPlatform platform({&cuda_.table(), &nccl.table()});
  EXPECT_EQ(trained("nccl"), afterFive_);
  EXPECT_EQ(trained("threads"), afterFive_);
}

int32_t outsideStep(const CollAbi *abi, CollContext *ctx, void *const *, void *const *, void *) {
  void *found[2];
  float local = 0;
  return abi->members(ctx, kCollFirstComputation, 0, &local, sizeof(local), found);
}

TEST_F(RootStepTest, MemoryThatIsNotTheProgramsIsRefused) {
  direct::ScopedPlatform platform(emulatedPeers(cuda_.table()));
  ExecutorOptions options;
  options.backend = "direct";
  auto executor = Executor::create({rootProgram(outsideStep)}, options);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  ASSERT_TRUE((*executor)->initialize({floats({4}, {1, 2, 3, 4})}).ok());
  const Status status = (*executor)->step({floats({8}, {0, 0, 0, 0, 0, 0, 0, 0})}).status();
  EXPECT_TRUE(contains(status, "the members' memory is not reached at this place"))
      << status.message();
}

TEST_F(RootStepTest, AMemberThatFailsEndsTheOthers) {
  direct::ScopedPlatform platform(emulatedPeers(cuda_.table()));
  ExecutorOptions options;
  options.backend = "direct";
  auto executor = Executor::create({rootProgram()}, options);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  ASSERT_TRUE((*executor)->initialize({floats({4}, {1, 2, 3, 4})}).ok());
  cuda_.failNext("launchKernel", 719);
  const Status status = (*executor)->step({floats({8}, {0, 0, 0, 0, 0, 0, 0, 0})}).status();
  EXPECT_TRUE(contains(status, "cuLaunchKernel")) << status.message();
}

TEST_F(RootStepTest, TooLittleMemoryForTheGroupNamesWhatIsNeeded) {
  direct::ScopedPlatform platform(emulatedPeers(cuda_.table()));
  std::string text = descriptorText(2);
  text.insert(1, R"("device":"gpu","reached":0,)");
  const std::string arena = R"("arena_bytes":256)";
  text.replace(text.find(arena), arena.size(), R"("arena_bytes":281474976710656)");
  Result<Program> made = Program::create(text, idleStep, nullptr);
  ASSERT_TRUE(made.ok()) << made.status().toString();
  ExecutorOptions options;
  options.backend = "direct";
  auto executor = Executor::create({*made}, options);
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(contains(executor.status(), "has no room for this rank"))
      << executor.status().message();
}

TEST_F(GpuStepTest, AProcessThatHasLostItsGpuIsToldSo) {
  cuda_.failNext("primaryContextRetain", 716);
  auto executor = start(1, localStep);
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(contains(executor.status(), "a kernel's fault has ended the use of GPUs"))
      << executor.status().message();
}

TEST_F(GpuStepTest, FailuresNameTheKernelAndItsPlace) {
  cuda_.failNext("launchKernel", 701);
  Status status = failureOf(localStep);
  EXPECT_TRUE(contains(status, "launch (op 0 \"grad\" at train.py:12:3) on rank 0: kernel "
                               "\"scale\" at train.py:7:3: cuLaunchKernel: error 701"))
      << status.message();
  lt_.failNext("matmul", 13);
  status = failureOf(localStep);
  EXPECT_TRUE(contains(status, "contract (op 0")) << status.message();
  EXPECT_TRUE(contains(status, "f32 x f32 -> f32 in f32, 1 x 4x1x1")) << status.message();
  EXPECT_TRUE(contains(failureOf(unknownKernelStep), "no kernel 1"));
  EXPECT_TRUE(contains(failureOf(gemmStep), "a program on a GPU calls contract"));
}

TEST_F(GpuStepTest, AFaultOfTheGpuSaysHowToFindIt) {
  auto executor = start(1, localStep);
  ASSERT_TRUE(executor.ok());
  ASSERT_TRUE((*executor)->initialize({floats({4}, {1, 2, 3, 4})}).ok());
  cuda_.failNext("streamSynchronize", 700);
  Status status = (*executor)->step({floats({8}, {0, 0, 0, 0, 0, 0, 0, 0})}).status();
  EXPECT_TRUE(contains(status, "GPU 0 failed in the step")) << status.message();
  EXPECT_TRUE(contains(status, "COLL_GPU_SYNC=1 names the operation")) << status.message();
}

TEST(GpuStepWithoutGpuTest, SaysWhatIsMissing) {
  if (dl::cuda())
    GTEST_SKIP() << "there is a GPU";
  std::string text = descriptorText(1);
  text.insert(1, R"("device":"gpu",)");
  Result<Program> made = Program::create(text, localStep, nullptr, {kImage, kKernels, nullptr, 0});
  ASSERT_TRUE(made.ok()) << made.status().toString();
  Result<std::unique_ptr<Executor>> executor = Executor::create({*made});
  ASSERT_FALSE(executor.ok());
  EXPECT_EQ(executor.status().code(), kCollUnsupported);
  EXPECT_TRUE(contains(executor.status(), "compiled for GPUs: no CUDA here"))
      << executor.status().message();
}

TEST_F(GpuStepTest, OtherExecutorsRunAfterAFailure) {
  EXPECT_FALSE(failureOf(unknownKernelStep).ok());
  auto executor = start(1, localStep);
  ASSERT_TRUE(executor.ok()) << executor.status().toString();
  EXPECT_EQ(run(**executor, 1)[0], std::vector<float>{3});
}

//===-- choices of algorithms ---------------------------------------------------===//

class ChoicesTest : public Test {
protected:
  void TearDown() override {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
  }
  static dl::LtAlgorithm algorithm(uint64_t number) {
    dl::LtAlgorithm made;
    made.data[0] = number;
    return made;
  }
  const std::string path_ = testing::TempDir() + "choices-" + std::to_string(getpid());
};

TEST_F(ChoicesTest, TheFirstChoiceCountsForAllProcesses) {
  AlgorithmChoices mine(path_), others(path_);
  EXPECT_FALSE(mine.find("a"));
  EXPECT_EQ(mine.add("a", algorithm(7)).data[0], 7u);
  EXPECT_EQ(others.add("a", algorithm(8)).data[0], 7u);
  EXPECT_EQ(others.add("b", algorithm(9)).data[0], 9u);
  AlgorithmChoices later(path_);
  ASSERT_TRUE(later.find("a") && later.find("b"));
  EXPECT_EQ(later.find("a")->data[0], 7u);
  EXPECT_EQ(later.find("b")->data[0], 9u);
}

TEST_F(ChoicesTest, WhatIsDamagedInTheFileIsLeftOut) {
  std::ofstream(path_) << "a 12\nb " << std::string(128, 'z') << "\nc " << std::string(128, '1')
                       << "\n";
  AlgorithmChoices choices(path_);
  EXPECT_FALSE(choices.find("a"));
  EXPECT_FALSE(choices.find("b"));
  EXPECT_TRUE(choices.find("c"));
}

TEST_F(ChoicesTest, WithoutAFileChoicesLastAsLongAsTheProcess) {
  AlgorithmChoices choices("");
  EXPECT_EQ(choices.add("a", algorithm(1)).data[0], 1u);
  EXPECT_EQ(choices.find("a")->data[0], 1u);
}

} // namespace
} // namespace coll::rt::test
