// Compiled steps on this machine's GPU: the calls of abi.def on GPU memory, compared with their
// results on the host. The kernels are hand-written PTX. Everything is skipped without a GPU.

#include "runtime/base/dtype.h"
#include "runtime/program/made_up.h"
#include "runtime/step/device/contraction.h"
#include "runtime/step/device/gpu/gpu_device.h"
#include "test/runtime/fixtures.h"
#include "test/runtime/token_step.h"

#include <cmath>
#include <cstring>

namespace coll::rt::test {
namespace {

constexpr char kImage[] = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 y, .param .f32 a, .param .u32 n) {
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p, %r5, %r1;
  @%p bra DONE;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f2, [%rd4];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%rd5], %f3;
DONE:
  ret;
}
.visible .entry fault() {
  .reg .b64 %rd1;
  mov.u64 %rd1, 16;
  st.global.u32 [%rd1], 1;
  ret;
}
)";
constexpr char kKernels[] = R"([{"name":"scale","grid":2,"block":128,"loc":"train.py:7:3"},
                                {"name":"fault","grid":1,"block":1,"loc":"train.py:9:5"}])";
constexpr float kConstants[] = {10, 20, 30, 40};

int32_t scale(const CollAbi *abi, CollContext *ctx, const void *x, void *y, float a, uint32_t n) {
  const void *args[] = {&x, &y, &a, &n};
  return abi->launch(ctx, 0, 0, args, 4);
}

#define CALL(call)                                                                                 \
  if (const int32_t code = call)                                                                   \
    return code;

// w += 2 * w + constants, through a buffer of the arena; loss = 3 * x[0].
int32_t localStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                  void *arena) {
  void *constants = nullptr;
  CALL(abi->constants(ctx, &constants));
  CollContraction c{};
  c.dtype_a = c.dtype_b = c.dtype_out = kCollF32;
  c.batch = 1, c.m = 4, c.n = 1, c.k = 1;
  c.ld_a = c.ld_b = c.ld_out = 1;
  c.accumulate = 1;
  const float two = 2, one = 1;
  CALL(abi->fill(ctx, 0, static_cast<char *>(arena) + 64, &two, 4, 1));
  CALL(abi->copy(ctx, 0, arena, args[0], 16));
  CALL(abi->contract(ctx, 0, &c, arena, static_cast<char *>(arena) + 64, args[0]));
  CALL(abi->fill(ctx, 0, static_cast<char *>(arena) + 128, &one, 4, 1));
  CALL(abi->contract(ctx, 0, &c, constants, static_cast<char *>(arena) + 128, args[0]));
  return scale(abi, ctx, args[1], results[1], 3, 1);
}

// The same with a sum over the ranks, and control flow on the host.
int32_t sharedStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                   void *arena) {
  CALL(scale(abi, ctx, args[0], arena, 2, 4));
  CALL(abi->all_reduce(ctx, 0, arena, args[0], 4, kCollF32, kCollSum, 0, kCollOrderRank, 0,
                       nullptr));
  float first = 0;
  CALL(abi->fetch(ctx, 0, &first, args[1], 4));
  first *= 3;
  CALL(abi->store(ctx, 0, arena, &first, 4));
  CollRequest *request = nullptr;
  CALL(abi->all_reduce(ctx, 0, arena, results[1], 1, kCollF32, kCollSum, 0, kCollOrderRank, 0,
                       &request));
  return abi->wait(ctx, 0, request);
}

int32_t faultyStep(const CollAbi *abi, CollContext *ctx, void *const *, void *const *, void *) {
  return abi->launch(ctx, 0, 1, nullptr, 0);
}

class StepsOnGpuTest : public testing::Test {
protected:
  void SetUp() override {
    if (Result<GpuPlatform> platform = gpuPlatform(); !platform)
      GTEST_SKIP() << platform.status().message();
    else
      platform_ = *platform;
  }

  static Program program(int ranks, CollEntry step) {
    std::string text = descriptorText(ranks);
    text.insert(1, R"("device":"gpu",)");
    Result<Program> made =
        Program::create(text, step, nullptr, {kImage, kKernels, kConstants, sizeof(kConstants)});
    EXPECT_TRUE(made.ok()) << made.status().toString();
    return made ? made.take() : Program();
  }

  static std::vector<std::vector<float>> runSteps(int ranks, CollEntry step, bool graphs, int steps,
                                                  const std::string &backend = "threads") {
    ExecutorOptions options;
    options.backend = backend;
    options.graphs = graphs;
    Result<std::unique_ptr<Executor>> executor = Executor::create({program(ranks, step)}, options);
    EXPECT_TRUE(executor.ok()) << executor.status().toString();
    std::vector<std::vector<float>> all;
    if (!executor)
      return all;
    Status status = (*executor)->initialize({floats({4}, {1, 2, 3, 4})});
    EXPECT_TRUE(status.ok()) << status.toString();
    for (int i = 0; i < steps && status.ok(); ++i) {
      const float x = static_cast<float>(i + 1);
      Result<std::vector<HostTensor>> results =
          (*executor)->step({floats({8}, {x, 0, 0, 0, 10 * x, 0, 0, 0})});
      EXPECT_TRUE(results.ok()) << results.status().toString();
      if (!results)
        return all;
      all.push_back(values((*results)[0]));
    }
    Result<std::vector<HostTensor>> state = (*executor)->state();
    EXPECT_TRUE(state.ok()) << state.status().toString();
    if (state)
      all.push_back(values((*state)[0]));
    return all;
  }

  GpuPlatform platform_;
};

TEST_F(StepsOnGpuTest, AStepRunsAsItIsWritten) {
  EXPECT_EQ(runSteps(1, localStep, /*graphs=*/false, 2),
            (std::vector<std::vector<float>>{{3}, {6}, {49, 98, 147, 196}}));
}

TEST_F(StepsOnGpuTest, GraphsReplayWhatEagerStepsDo) {
  EXPECT_EQ(runSteps(1, localStep, /*graphs=*/true, 8), runSteps(1, localStep, false, 8));
}

TEST_F(StepsOnGpuTest, RanksShareAGpu) {
  for (const char *backend : {"threads", "net", "auto"})
    for (int ranks : {2, 4}) {
      SCOPED_TRACE(std::string(backend) + ", " + std::to_string(ranks) + " ranks");
      const float factor = static_cast<float>(2 * ranks);
      const std::vector<float> w = {factor, 2 * factor, 3 * factor, 4 * factor};
      // With four ranks, rank 2 has the fifth element of x.
      EXPECT_EQ(runSteps(ranks, sharedStep, true, 1, backend),
                (std::vector<std::vector<float>>{{33}, w}));
    }
}

TEST_F(StepsOnGpuTest, RanksThatShareAGpuExchangeTokens) {
  for (const char *backend : {"threads", "net"}) {
    SCOPED_TRACE(backend);
    std::string text = descriptorText(2);
    text.insert(1, R"("device":"gpu",)");
    const std::string arena = R"("arena_bytes":256)";
    text.replace(text.find(arena), arena.size(), R"("arena_bytes":)" + std::to_string(kTokenArena));
    Result<Program> made = Program::create(text, tokenStep, nullptr);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    ExecutorOptions options;
    options.backend = backend;
    Result<std::unique_ptr<Executor>> executor = Executor::create({*made}, options);
    ASSERT_TRUE(executor.ok()) << executor.status().toString();
    ASSERT_TRUE((*executor)->initialize({floats({4}, {0, 0, 0, 0})}).ok());
    auto results = (*executor)->step({floats({8}, {1, 2, 3, 4, 5, 6, 7, 8})});
    ASSERT_TRUE(results.ok()) << results.status().toString();
    EXPECT_EQ(values((*results)[0]), (std::vector<float>{5}));
    EXPECT_EQ(values((*executor)->state().take()[0]), (std::vector<float>{1, 2, 3, 4}));
  }
}

//===-- contractions ------------------------------------------------------------===//

struct Form {
  int32_t dtype, out, compute;
  double tolerance; // of the largest value
};
constexpr Form kForms[] = {
    {kCollF32, kCollF32, kCollComputeF32, 1e-6},   {kCollF32, kCollF32, kCollComputeTf32, 2e-3},
    {kCollF32, kCollF32, kCollComputeBf16, 1e-2},  {kCollF64, kCollF64, kCollComputeF64, 1e-14},
    {kCollF16, kCollF16, kCollComputeF32, 1e-3},   {kCollF16, kCollF32, kCollComputeF32, 1e-5},
    {kCollBf16, kCollBf16, kCollComputeF32, 8e-3}, {kCollBf16, kCollF32, kCollComputeF32, 1e-5}};

std::vector<char> randomOf(int32_t dtype, int64_t elems, Random &random) {
  std::vector<char> data(static_cast<size_t>(elems * dtypeSize(static_cast<CollDtype>(dtype))));
  for (int64_t i = 0; i < elems; ++i) {
    const double value = 2 * random.uniform() - 1;
    if (dtype == kCollF64)
      reinterpret_cast<double *>(data.data())[i] = value;
    else if (dtype == kCollF32)
      reinterpret_cast<float *>(data.data())[i] = static_cast<float>(value);
    else
      reinterpret_cast<uint16_t *>(data.data())[i] = dtype == kCollF16
                                                         ? f32ToF16(static_cast<float>(value))
                                                         : f32ToBf16(static_cast<float>(value));
  }
  return data;
}

double valueOf(const std::vector<char> &data, int32_t dtype, size_t i) {
  if (dtype == kCollF64)
    return reinterpret_cast<const double *>(data.data())[i];
  if (dtype == kCollF32)
    return static_cast<double>(reinterpret_cast<const float *>(data.data())[i]);
  const uint16_t bits = reinterpret_cast<const uint16_t *>(data.data())[i];
  return static_cast<double>(dtype == kCollF16 ? f16ToF32(bits) : bf16ToF32(bits));
}

// The device of a program without a step, and its contractions.
class ContractionsOnGpuTest : public StepsOnGpuTest {
protected:
  void SetUp() override {
    StepsOnGpuTest::SetUp();
    if (IsSkipped())
      return;
    program_ = program(1, localStep);
    backend_ = createBackend("threads", {}).take();
    endpoint_ = backend_->endpoint(0).take();
    Result<std::unique_ptr<GpuDevice>> made =
        GpuDevice::create(platform_, 0, program_, *endpoint_, TokenOptions());
    ASSERT_TRUE(made.ok()) << made.status().toString();
    device_ = made.take();
    constexpr int64_t kRoom = 8 << 20;
    Result<std::vector<char *>> buffers = device_->allocate({{kRoom, true, "a"},
                                                             {kRoom, true, "b"},
                                                             {kRoom, true, "out"},
                                                             {kRoom, true, "bias"},
                                                             {kRoom, true, "x"},
                                                             {kRoom, true, "kept"}},
                                                            /*members=*/nullptr);
    ASSERT_TRUE(buffers.ok()) << buffers.status().toString();
    buffers_ = *buffers;
  }

  Status upload(int index, const std::vector<char> &data) {
    return device_->upload(buffers_[static_cast<size_t>(index)], static_cast<int64_t>(data.size()),
                           [&](int64_t begin, int64_t bytes, char *to) {
                             std::memcpy(to, data.data() + begin, static_cast<size_t>(bytes));
                           });
  }

  // The largest difference of the two, as a part of the largest expected value.
  static double differenceOf(const std::vector<char> &got, const std::vector<char> &expected,
                             int32_t dtype) {
    double delta = 0, largest = 0;
    for (size_t i = 0; i < got.size() / static_cast<size_t>(dtypeSize(CollDtype(dtype))); ++i) {
      const double wanted = valueOf(expected, dtype, i);
      delta = std::max(delta, std::fabs(valueOf(got, dtype, i) - wanted));
      largest = std::max(largest, std::fabs(wanted));
    }
    return delta / largest;
  }

  // `keeps`: asks for the other result, too.
  void compare(CollContraction c, double tolerance, bool keeps = false) {
    SCOPED_TRACE(describe(c) + (c.accumulate ? " accumulated" : "") + ", epilogue " +
                 std::to_string(c.epilogue));
    Random random(7);
    const auto a = randomOf(c.dtype_a, c.batch * c.m * c.k, random);
    const auto b = randomOf(c.dtype_b, c.batch * c.k * c.n, random);
    const auto bias = randomOf(c.dtype_out, c.n, random);
    const auto before = randomOf(c.dtype_out, c.batch * c.m * c.n, random);
    const bool isGradient = c.epilogue == kCollEpilogueGeluGradient;
    const auto x = randomOf(c.dtype_out, c.m * c.n, random);
    std::vector<char> expected = before, got = before;
    std::vector<char> expectedKept(isGradient ? bias.size() : x.size()), kept = expectedKept;
    c.bias = bias.data();
    c.x = isGradient ? x.data() : nullptr;
    c.kept = keeps ? expectedKept.data() : nullptr;
    ASSERT_TRUE(contractOnHost(c, a.data(), b.data(), expected.data()).ok());
    c.bias = buffers_[3];
    c.x = isGradient ? buffers_[4] : nullptr;
    c.kept = keeps ? buffers_[5] : nullptr;
    for (const auto &[index, data] : {std::pair(0, &a), {1, &b}, {2, &before}, {3, &bias}, {4, &x}})
      ASSERT_TRUE(upload(index, *data).ok());
    Status status = device_->execute(
        {{},
         {},
         false,
         [&] { return device_->contract({}, c, buffers_[0], buffers_[1], buffers_[2]); },
         [] {}});
    ASSERT_TRUE(status.ok()) << status.toString();
    ASSERT_TRUE(device_->download(got.data(), buffers_[2], static_cast<int64_t>(got.size())).ok());
    ASSERT_TRUE(
        device_->download(kept.data(), buffers_[5], static_cast<int64_t>(kept.size())).ok());
    status = device_->synchronize();
    ASSERT_TRUE(status.ok()) << status.toString();
    EXPECT_LE(differenceOf(got, expected, c.dtype_out), tolerance);
    if (keeps)
      EXPECT_LE(differenceOf(kept, expectedKept, c.dtype_out), tolerance) << "the other result";
  }

  CollContraction contraction(const Form &form, int64_t batch, int64_t m, int64_t n, int64_t k,
                              int transposed) {
    CollContraction c{};
    c.dtype_a = c.dtype_b = form.dtype;
    c.dtype_out = form.out;
    c.compute = form.compute;
    c.batch = batch, c.m = m, c.n = n, c.k = k;
    c.trans_a = transposed & 1;
    c.trans_b = transposed >> 1;
    c.ld_a = c.trans_a ? m : k;
    c.ld_b = c.trans_b ? k : n;
    c.ld_out = n;
    c.stride_a = m * k, c.stride_b = k * n, c.stride_out = m * n;
    return c;
  }

  Program program_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<GpuDevice> device_;
  std::vector<char *> buffers_;
};

TEST_F(ContractionsOnGpuTest, EveryTypeAndTransposeMatchesTheHost) {
  constexpr int64_t kSizes[][3] = {{64, 96, 128}, {33, 17, 65}, {1, 10, 7}, {256, 192, 160}};
  for (const Form &form : kForms)
    for (int transposed = 0; transposed < 4; ++transposed)
      for (auto [m, n, k] : kSizes)
        for (int64_t batch : {1, 3}) {
          CollContraction c = contraction(form, batch, m, n, k, transposed);
          compare(c, form.tolerance);
          c.accumulate = 1;
          compare(c, form.tolerance);
          c.ld_out = batch * n, c.stride_out = n; // side by side, as heads of attention
          compare(c, form.tolerance);
        }
}

// The library has none for f64: a kernel of the runtime follows the product.
TEST_F(ContractionsOnGpuTest, EpiloguesMatchTheHost) {
  for (const Form &form : kForms)
    for (int epilogue = kCollEpilogueBias; epilogue <= kCollEpilogueBiasGelu; ++epilogue)
      for (int transposed = 0; transposed < 4; ++transposed)
        for (auto [m, n, k] : {std::array<int64_t, 3>{64, 96, 128}, {33, 10, 65}}) {
          CollContraction c = contraction(form, 1, m, n, k, transposed);
          c.epilogue = epilogue;
          compare(c, std::max(form.tolerance, 2e-6));
        }
}

// What the compiler asks for: results in the 16-bit type of the factors; and f64, of the kernel.
TEST_F(ContractionsOnGpuTest, GeluKeepsItsArgumentForTheGradient) {
  for (const Form &form : kForms)
    for (int transposed = 0; transposed < 4; ++transposed)
      for (auto [m, n, k] : {std::array<int64_t, 3>{64, 96, 128}, {33, 40, 65}, {512, 512, 512}}) {
        if (form.dtype != form.out || form.dtype == kCollF32)
          continue;
        CollContraction c = contraction(form, 1, m, n, k, transposed);
        for (int epilogue : {kCollEpilogueGelu, kCollEpilogueBiasGelu, kCollEpilogueGeluGradient}) {
          c.epilogue = epilogue;
          compare(c, 2 * std::max(form.tolerance, 1e-13), /*keeps=*/true);
        }
        compare(c, form.tolerance);
      }
}

TEST_F(ContractionsOnGpuTest, ReluOfNaNIsNaN) {
  CollContraction c = contraction(kForms[0], 1, 64, 64, 64, 0);
  c.epilogue = kCollEpilogueRelu;
  std::vector<char> a(64 * 64 * 4), got = a;
  std::memset(a.data(), 0xff, 4); // a NaN in the first row
  ASSERT_TRUE(upload(0, a).ok());
  ASSERT_TRUE(upload(1, std::vector<char>(a.size())).ok());
  auto run = [&] { return device_->contract({}, c, buffers_[0], buffers_[1], buffers_[2]); };
  ASSERT_TRUE(device_->execute({{}, {}, false, run, [] {}}).ok());
  ASSERT_TRUE(device_->download(got.data(), buffers_[2], static_cast<int64_t>(got.size())).ok());
  ASSERT_TRUE(device_->synchronize().ok());
  EXPECT_TRUE(std::isnan(valueOf(got, kCollF32, 0)));
  EXPECT_EQ(valueOf(got, kCollF32, 64), 0);
}

TEST_F(ContractionsOnGpuTest, AProductIsTheSameEachTime) {
  CollContraction c = contraction(kForms[0], 1, 512, 512, 1024, 0);
  Random random(3);
  ASSERT_TRUE(upload(0, randomOf(kCollF32, c.m * c.k, random)).ok());
  ASSERT_TRUE(upload(1, randomOf(kCollF32, c.k * c.n, random)).ok());
  std::vector<char> first(static_cast<size_t>(c.m * c.n * 4)), again = first;
  for (int i = 0; i < 20; ++i) {
    std::vector<char> &to = i == 0 ? first : again;
    auto run = [&] { return device_->contract({}, c, buffers_[0], buffers_[1], buffers_[2]); };
    ASSERT_TRUE(device_->execute({{}, {}, false, run, [] {}}).ok());
    ASSERT_TRUE(device_->download(to.data(), buffers_[2], static_cast<int64_t>(to.size())).ok());
    ASSERT_TRUE(device_->synchronize().ok());
    ASSERT_TRUE(i == 0 || first == again) << "run " << i;
  }
}

TEST_F(ContractionsOnGpuTest, PatternsOfEachSizeFillMemory) {
  const uint32_t pattern[4] = {0x01020304, 0x05060708, 0x090a0b0c, 0x0d0e0f10};
  for (int32_t bytes : {1, 2, 4, 8, 16}) {
    std::vector<char> got(static_cast<size_t>(bytes) * 9), expected;
    for (int i = 0; i < 9; ++i)
      expected.insert(expected.end(), reinterpret_cast<const char *>(pattern),
                      reinterpret_cast<const char *>(pattern) + bytes);
    auto run = [&] { return device_->fill({}, buffers_[2], pattern, bytes, 9); };
    ASSERT_TRUE(device_->execute({{}, {}, false, run, [] {}}).ok());
    ASSERT_TRUE(device_->download(got.data(), buffers_[2], static_cast<int64_t>(got.size())).ok());
    ASSERT_TRUE(device_->synchronize().ok());
    EXPECT_EQ(got, expected) << bytes;
  }
}

//===-- failures ----------------------------------------------------------------===//

TEST_F(StepsOnGpuTest, TooLittleMemoryNamesWhatIsNeeded) {
  std::string text = descriptorText(1);
  text.insert(1, R"("device":"gpu",)");
  const std::string arena = R"("arena_bytes":256)";
  text.replace(text.find(arena), arena.size(), R"("arena_bytes":1099511627776)");
  Result<Program> made = Program::create(text, localStep, nullptr, {kImage, kKernels, nullptr, 0});
  ASSERT_TRUE(made.ok()) << made.status().toString();
  Result<std::unique_ptr<Executor>> executor = Executor::create({*made});
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(contains(executor.status(), "the largest is the memory of temporaries with 1048576"))
      << executor.status().message();
}

TEST_F(StepsOnGpuTest, ABrokenImageShowsTheCompilersLog) {
  std::string text = descriptorText(1);
  text.insert(1, R"("device":"gpu",)");
  Result<Program> made = Program::create(
      text, localStep, nullptr, {".version 7.0\n.target sm_80\nnonsense;", kKernels, nullptr, 0});
  Result<std::unique_ptr<Executor>> executor = Executor::create({*made});
  ASSERT_FALSE(executor.ok());
  EXPECT_TRUE(contains(executor.status(), "line 3")) << executor.status().message();
}

// A fault makes the GPU unusable for its process, so each fault has its own process.
class FaultsOnGpuTest : public testing::Test {
protected:
  static int32_t hostStep(const CollAbi *abi, CollContext *ctx, void *const *args,
                          void *const *results, void *) {
    return abi->copy(ctx, 0, results[1], args[1], 4);
  }
  // Returns true if the process can continue with another step.
  static bool hostStepRuns() {
    Result<Program> made = Program::create(descriptorText(1), hostStep, nullptr);
    Result<std::unique_ptr<Executor>> executor = Executor::create({*made});
    if (!executor || !(*executor)->initialize({floats({4}, {1, 2, 3, 4})}).ok())
      return false;
    auto results = (*executor)->step({floats({8}, {7, 0, 0, 0, 0, 0, 0, 0})});
    return results.ok() && values((*results)[0]) == std::vector<float>{7};
  }
  // Expects that the step fails with this message, in a process that ends.
  static void expectDeath(const char *message) {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    EXPECT_EXIT(
        {
          if (!gpuPlatform())
            _exit(3);
          std::string text = descriptorText(1);
          text.insert(1, R"("device":"gpu",)");
          Result<Program> made =
              Program::create(text, faultyStep, nullptr, {kImage, kKernels, nullptr, 0});
          Result<std::unique_ptr<Executor>> executor = Executor::create({*made});
          if (!executor || !(*executor)->initialize({floats({4}, {1, 2, 3, 4})}).ok())
            _exit(4);
          Result<std::vector<HostTensor>> results =
              (*executor)->step({floats({8}, {0, 0, 0, 0, 0, 0, 0, 0})});
          std::fprintf(stderr, "%s\n", results.status().message().c_str());
          executor->reset();
          std::fprintf(stderr, "then: %s\n", Executor::create({*made}).status().message().c_str());
          _exit(results.ok() ? 5 : hostStepRuns() ? 0 : 6);
        },
        testing::ExitedWithCode(0), message);
  }
};

TEST_F(FaultsOnGpuTest, AnIllegalAccessIsAnError) {
  if (access("/dev/nvidiactl", F_OK) != 0)
    GTEST_SKIP() << "no GPU";
  expectDeath(
      "CUDA_ERROR_.*COLL_GPU_SYNC=1 names the operation(.|\n)*then: .*ended the use of GPUs");
}

TEST_F(FaultsOnGpuTest, WaitingForEachCallNamesTheKernel) {
  if (access("/dev/nvidiactl", F_OK) != 0)
    GTEST_SKIP() << "no GPU";
  setenv("COLL_GPU_SYNC", "1", 1);
  expectDeath("launch .op 0 \"grad\" at train.py:12:3. on rank 0: kernel \"fault\" at "
              "train.py:9:5: .*CUDA_ERROR_");
  unsetenv("COLL_GPU_SYNC");
}

} // namespace
} // namespace coll::rt::test
