// The exchange of tokens of steps on GPUs, over the fake driver, with the kernels' device code on
// host threads: the same bytes as on host memory, eagerly and in graphs.

#include "runtime/base/dtype.h"
#include "runtime/base/trace.h"
#include "runtime/step/device/gpu/platform.h"
#include "test/conformance/emulated_peers.h"
#include "test/exchange/moe_emulated.h"
#include "test/runtime/fixtures.h"
#include "test/support/emulation/tokens.h"
#include "test/support/fakes/cuda.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

namespace coll::rt::test {
namespace {

constexpr int64_t kUnit = 256;

int64_t roundUp(int64_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

template <typename T>
size_t at(T index) {
  return static_cast<size_t>(index);
}

// A step with two dispatches, whose rows are then combined along both routes. The places are those
// of a rank's arrays in the step's buffers, in bytes.
struct TokenCase {
  int ranks = 1;
  std::vector<int64_t> tokens; // by rank
  int32_t topk = 1, localExperts = 1;
  int64_t hidden = 16, numScales = 0;
  std::vector<int64_t> capacity; // by rank
  CollDtype dtype = kCollF32, summed = kCollF32, index = kCollI32;
  int failing = -1;      // this rank returns before its first combine
  int foreign = -1;      // this rank combines along routes that no dispatch has written
  bool mixes = false;    // odd ranks combine along the other route
  bool isPaired = false; // ranks 0 and 1 are a group, 2 and 3, and so on

  void place();
  int64_t rowBytes() const { return hidden * dtypeSize(dtype); }
  int64_t sumBytes() const { return hidden * dtypeSize(summed); }
  int64_t mostTokens() const { return *std::max_element(tokens.begin(), tokens.end()); }
  int64_t mostRows() const { return *std::max_element(capacity.begin(), capacity.end()); }

  int64_t x = 0, experts[2] = {}, weights = 0, scales = 0, back = 0, inBytes = 0;
  struct Results {
    int64_t rows = 0, rowExperts = 0, rowWeights = 0, rowScales = 0, counts = 0, sums = 0;
  } results[2];
  int64_t outBytes = 0, routes[2] = {}, arenaBytes = 0;
};

void TokenCase::place() {
  const int64_t t = mostTokens(), rows = mostRows(), indexBytes = dtypeSize(index);
  const auto take = [](int64_t &total, int64_t bytes) {
    const int64_t begin = total;
    total += roundUp(bytes);
    return begin;
  };
  inBytes = outBytes = arenaBytes = 0;
  x = take(inBytes, t * rowBytes());
  for (int64_t &place : experts)
    place = take(inBytes, t * topk * indexBytes);
  weights = take(inBytes, t * topk * 4);
  scales = take(inBytes, t * numScales * 4);
  back = take(inBytes, rows * sumBytes());
  for (int i = 0; i < 2; ++i) {
    results[i].rows = take(outBytes, rows * rowBytes());
    results[i].rowExperts = take(outBytes, rows * topk * indexBytes);
    results[i].rowWeights = take(outBytes, rows * topk * 4);
    results[i].rowScales = take(outBytes, rows * numScales * 4);
    results[i].counts = take(outBytes, localExperts * 4);
    results[i].sums = take(outBytes, t * sumBytes());
    routes[i] = take(arenaBytes, collRouteBytes(t, topk, rows));
  }
}

const TokenCase *current = nullptr; // of the step that runs

int32_t tokenCaseStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *,
                      void *arena) {
  const TokenCase &c = *current;
  int64_t rank = 0;
  if (const int32_t code = abi->rank(ctx, &rank))
    return code;
  char *in = static_cast<char *>(args[1]), *out = static_cast<char *>(args[0]);
  const int64_t tokens = c.tokens[at(rank)], capacity = c.capacity[at(rank)];
  const auto real = [](char *data) { return reinterpret_cast<float *>(data); };
  for (int i = 0; i < 2; ++i) {
    const TokenCase::Results &r = c.results[i];
    if (const int32_t code = abi->dispatch(
            ctx, 0, in + c.x, in + c.experts[i], real(in + c.weights),
            c.numScales ? real(in + c.scales) : nullptr, tokens, c.hidden, c.topk, c.numScales,
            c.dtype, c.index, c.localExperts, capacity, out + r.rows, out + r.rowExperts,
            real(out + r.rowWeights), c.numScales ? real(out + r.rowScales) : nullptr,
            reinterpret_cast<int32_t *>(out + r.counts), static_cast<char *>(arena) + c.routes[i],
            /*group=*/0))
      return code;
  }
  if (rank == c.failing)
    return kCollInvalidCall;
  const char zero = 0;
  if (rank == c.foreign)
    if (const int32_t code = abi->fill(ctx, 0, arena, &zero, 1, c.arenaBytes))
      return code;
  for (int i = 0; i < 2; ++i) {
    char *route = static_cast<char *>(arena) + c.routes[c.mixes && rank % 2 ? 1 - i : i];
    if (const int32_t code = abi->combine(ctx, 0, in + c.back, out + c.results[i].sums, tokens,
                                          c.hidden, c.topk, capacity, c.summed, route, /*group=*/0))
      return code;
  }
  return 0;
}

// Combines along a route that no dispatch has written.
int32_t foreignRouteStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *,
                         void *arena) {
  const TokenCase &c = *current;
  const char zero = 0;
  if (const int32_t code = abi->fill(ctx, 0, arena, &zero, 1, c.arenaBytes))
    return code;
  char *in = static_cast<char *>(args[1]), *out = static_cast<char *>(args[0]);
  return abi->combine(ctx, 0, in + c.back, out, c.tokens[0], c.hidden, c.topk, c.capacity[0],
                      c.summed, arena, /*group=*/0);
}

std::string textOf(const TokenCase &c, bool isOnGpu) {
  const auto tensor = [&](const char *name, const char *role, int64_t bytes) {
    return R"({"name":")" + std::string(name) + R"(","role":")" + role +
           R"(","dtype":"i8","shape":[)" + std::to_string(bytes * c.ranks) + R"(],"local":[)" +
           std::to_string(bytes) + R"(],"sharding":[{"axes":["dp"],"unit":1}])";
  };
  std::string text = descriptorText(c.ranks);
  text.resize(text.find(R"("args")"));
  if (c.isPaired) {
    std::string pairs;
    for (int rank = 0; rank < c.ranks; rank += 2)
      pairs += (rank ? ",[" : "[") + std::to_string(rank) + "," + std::to_string(rank + 1) + "]";
    const size_t begin = text.find(R"("groups")");
    text.replace(begin, text.find(R"(,"ops")") - begin, R"("groups":[[)" + pairs + "]]");
  }
  if (isOnGpu)
    text.insert(1, R"("device":"gpu",)");
  return text + R"("args":[)" + tensor("out", "state", c.outBytes) + "}," +
         tensor("in", "batch", c.inBytes) + R"(}],"results":[)" +
         tensor("out", "state", c.outBytes) + R"(,"arg":0}],"arena_bytes":)" +
         std::to_string(c.arenaBytes) + "}";
}

HostTensor bytesOf(int64_t count) {
  HostTensor tensor;
  tensor.dtype = kCollI8;
  tensor.shape = {count};
  tensor.data.resize(at(count));
  return tensor;
}

class GpuTokensTest : public testing::Test {
protected:
  GpuTokensTest() { setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1); }
  ~GpuTokensTest() override {
    unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    EXPECT_EQ(cuda_.misuse(), "");
    EXPECT_EQ(cuda_.liveAllocations(), 0);
  }

  template <auto emulate, typename Args>
  static Status emulated(const Args &args, void *stream) {
    ++launches;
    return onStream(stream, [args] { emulate(args); });
  }
  static GpuPlatform platformOf(const dl::FakeCuda &cuda) {
    GpuPlatform platform;
    platform.cuda = &cuda.table();
    platform.tokens = {emulated<kernels::emulateWidenExperts, kernels::WidenExperts>,
                       emulated<kernels::emulateUnpackTokens, kernels::UnpackTokens>,
                       emulated<kernels::emulateReadRoute, kernels::TokenRoute>,
                       emulated<kernels::emulateCheckRoute, kernels::TokenRoute>, rehearse};
    return platform;
  }
  // What rehearseTokenKernels starts: kernels without memory.
  static Status rehearse(void *) {
    kernels::emulateWidenExperts({});
    kernels::emulateUnpackTokens({});
    kernels::emulateCheckRoute({});
    return {};
  }
  // The same; but the first of these kernels to be launched ends only after three seconds.
  static Status widenLate(const kernels::WidenExperts &args, void *stream) {
    using Clock = std::chrono::steady_clock;
    if (!isFirstLate.exchange(true))
      (void)dl::FakeCuda::enqueue(static_cast<dl::CudaStream>(stream), [] {
        const Clock::time_point end = Clock::now() + std::chrono::seconds(3);
        return [end] { return Clock::now() >= end; };
      });
    return emulated<kernels::emulateWidenExperts, kernels::WidenExperts>(args, stream);
  }

  std::unique_ptr<Executor> start(const TokenCase &c, bool isOnGpu, CollEntry step = tokenCaseStep,
                                  bool graphs = true, int64_t timeoutUs = 0) {
    current = &c;
    Result<Program> program = Program::create(textOf(c, isOnGpu), step, nullptr);
    EXPECT_TRUE(program.ok()) << program.status().toString();
    ExecutorOptions options;
    options.graphs = graphs;
    options.timeoutUs = timeoutUs;
    Result<std::unique_ptr<Executor>> executor = Executor::create({*program}, options);
    EXPECT_TRUE(executor.ok()) << executor.status().toString();
    if (!executor || !(*executor)->initialize({bytesOf(c.outBytes * c.ranks)}).ok())
      return nullptr;
    return executor.take();
  }

  // Random rows and weights; each token's experts are different, and each with probability `kept`.
  HostTensor input(const TokenCase &c, int64_t experts, double kept) {
    HostTensor in = bytesOf(c.inBytes * c.ranks);
    for (int rank = 0; rank < c.ranks; ++rank) {
      char *data = in.data.data() + rank * c.inBytes;
      fill(data + c.x, c.dtype, c.mostTokens() * c.hidden);
      fill(data + c.back, c.summed, c.mostRows() * c.hidden);
      fill(data + c.weights, kCollF32, c.mostTokens() * c.topk);
      fill(data + c.scales, kCollF32, c.mostTokens() * c.numScales);
      for (int64_t place : c.experts)
        for (int64_t t = 0; t < c.mostTokens(); ++t)
          chooseExperts(c, data + place, t, experts, kept);
    }
    return in;
  }
  void chooseExperts(const TokenCase &c, char *data, int64_t token, int64_t experts, double kept) {
    std::vector<int64_t> all(at(experts));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random_);
    for (int32_t k = 0; k < c.topk; ++k) {
      const bool isKept = k < experts && std::bernoulli_distribution(kept)(random_);
      setExpert(c, data, token * c.topk + k, isKept ? all[at(k)] : -1);
    }
  }
  static void setExpert(const TokenCase &c, char *data, int64_t index, int64_t expert) {
    if (c.index == kCollI64)
      reinterpret_cast<int64_t *>(data)[index] = expert;
    else
      reinterpret_cast<int32_t *>(data)[index] = static_cast<int32_t>(expert);
  }
  // Numbers of about one, and negative zeros; bytes of any value for types that are not summed.
  void fill(char *data, CollDtype dtype, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const float value =
          random_() % 8 == 0 ? -0.0f : std::uniform_real_distribution<float>(-2, 2)(random_);
      if (dtype == kCollF32)
        reinterpret_cast<float *>(data)[i] = value;
      else if (dtype == kCollBf16 || dtype == kCollF16)
        reinterpret_cast<uint16_t *>(data)[i] =
            dtype == kCollBf16 ? f32ToBf16(value) : f32ToF16(value);
      else
        for (int64_t b = 0; b < dtypeSize(dtype); ++b)
          data[i * dtypeSize(dtype) + b] = static_cast<char>(random_());
    }
  }

  // Runs steps on GPUs and on the host, and compares all results.
  void compare(TokenCase &c, int steps, int64_t experts, double kept, bool graphs = true) {
    c.place();
    std::unique_ptr<Executor> gpu = start(c, /*isOnGpu=*/true, tokenCaseStep, graphs);
    std::unique_ptr<Executor> host = start(c, /*isOnGpu=*/false);
    ASSERT_TRUE(gpu && host);
    for (int step = 0; step < steps; ++step) {
      const HostTensor in = input(c, experts, kept);
      for (Executor *executor : {gpu.get(), host.get()}) {
        const Status status = executor->step({in}).status();
        ASSERT_TRUE(status.ok()) << "step " << step << ": " << status.toString();
      }
      const HostTensor got = gpu->state().take()[0], expected = host->state().take()[0];
      for (size_t i = 0; i < expected.data.size(); ++i)
        ASSERT_EQ(static_cast<int>(got.data[i]), static_cast<int>(expected.data[i]))
            << "step " << step << ", byte " << i % at(c.outBytes) << " of rank "
            << i / at(c.outBytes);
    }
  }

  Status failureOf(TokenCase &c, const HostTensor &in, CollEntry step = tokenCaseStep) {
    std::unique_ptr<Executor> executor = start(c, /*isOnGpu=*/true, step);
    return executor ? executor->step({in}).status() : Status();
  }

  static inline std::atomic<int> launches{0};
  static inline std::atomic<bool> isFirstLate{false};

  std::minstd_rand random_{7};
  dl::FakeCuda cuda_{2};
  ScopedMoePlatform exchange_{emulatedMoe(cuda_.table())};
  ScopedGpuPlatform platform_{platformOf(cuda_)};
};

TokenCase small(int ranks, CollDtype dtype) {
  TokenCase c;
  c.ranks = ranks;
  c.tokens.assign(at(ranks), 5);
  c.capacity.assign(at(ranks), 5 * ranks);
  c.topk = 2;
  c.localExperts = 2;
  c.dtype = c.summed = dtype;
  return c;
}

TEST_F(GpuTokensTest, RandomRoutesGiveTheBytesOfTheHost) {
  constexpr CollDtype kSummed[] = {kCollBf16, kCollF16, kCollF32};
  constexpr CollDtype kMoved[] = {kCollBf16, kCollF16,      kCollF32,    kCollI64,
                                  kCollF64,  kCollF8E4M3FN, kCollF8E5M2, kCollI8};
  for (int seed = 0; seed < 24; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    random_.seed(static_cast<uint32_t>(seed) * 2654435761u + 1);
    TokenCase c;
    c.ranks = std::array{1, 2, 3, 4, 8}[random_() % 5];
    c.topk = static_cast<int32_t>(1 + random_() % 8);
    c.localExperts = static_cast<int32_t>(1 + random_() % 5);
    c.hidden = static_cast<int64_t>(16 * (1 + random_() % 40));
    c.dtype = kMoved[random_() % 8];
    c.summed = kSummed[random_() % 3];
    c.index = random_() % 2 ? kCollI64 : kCollI32;
    c.numScales = random_() % 2 ? static_cast<int64_t>(random_() % 9) : 0;
    int64_t sum = 0;
    for (int r = 0; r < c.ranks; ++r) {
      c.tokens.push_back(static_cast<int64_t>(random_() % 20));
      sum += c.tokens.back();
    }
    c.capacity.assign(at(c.ranks), sum + 1);
    // Some cases send all tokens to few experts, some none of most tokens.
    const int64_t all = c.ranks * c.localExperts;
    const int64_t experts = random_() % 3 ? all : 1 + static_cast<int64_t>(random_()) % all;
    launches = 0;
    compare(c, 3, experts, random_() % 2 ? 1.0 : 0.3);
    EXPECT_GT(launches, 0);
  }
}

TEST_F(GpuTokensTest, GraphsAreReplayedWithOtherRoutes) {
  for (CollDtype dtype : {kCollBf16, kCollF32}) {
    TokenCase c = small(4, dtype);
    const int64_t before = cuda_.calls("graphLaunch");
    compare(c, 6, 8, 0.8);
    EXPECT_EQ(cuda_.calls("graphLaunch") - before, 4 * 4);
    compare(c, 3, 8, 0.8, /*graphs=*/false);
    EXPECT_EQ(cuda_.calls("graphLaunch") - before, 4 * 4);
  }
}

TEST_F(GpuTokensTest, ExchangesThatAGraphCapturesAreNotReported) {
  struct Groups : TraceSink {
    void onEvent(const TraceEvent &event) override {
      begun += event.level == TraceLevel::Group && event.phase == TracePhase::Begin;
    }
    std::atomic<int> begun{0};
  } groups;
  constexpr int kSteps = 5, kEager = 2, kExchanges = 4;
  TokenCase c = small(4, kCollF32);
  c.place();
  std::unique_ptr<Executor> executor = start(c, /*isOnGpu=*/true);
  ASSERT_TRUE(executor);
  ScopedTraceSink listen(&groups);
  for (int step = 0; step < kSteps; ++step) {
    const Status status = executor->step({input(c, 8, 0.8)}).status();
    ASSERT_TRUE(status.ok()) << status.toString();
  }
  EXPECT_EQ(cuda_.calls("graphLaunch"), c.ranks * (kSteps - kEager));
  EXPECT_EQ(groups.begun, c.ranks * kEager * kExchanges);
}

TEST_F(GpuTokensTest, OtherCallsGoThroughTheHost) {
  TokenCase narrow = small(2, kCollF32);
  narrow.hidden = 2; // 8 bytes
  TokenCase wide = small(2, kCollF64);
  wide.summed = kCollF64;
  TokenCase uneven = small(2, kCollF32);
  uneven.capacity = {10, 12};
  for (TokenCase *c : {&narrow, &uneven}) {
    launches = 0;
    compare(*c, 4, 4, 1);
    EXPECT_EQ(launches, 0);
  }
  launches = 0;
  compare(wide, 4, 4, 1); // only its combines
  EXPECT_GT(launches, 0);
  EXPECT_EQ(cuda_.calls("graphLaunch"), 0);
}

TEST_F(GpuTokensTest, WithoutPeerAccessTokensGoThroughTheHost) {
  cuda_.failNext("contextEnablePeerAccess", 217);
  TokenCase c = small(2, kCollBf16);
  launches = 0;
  compare(c, 3, 4, 1);
  EXPECT_EQ(launches, 0);
}

TEST_F(GpuTokensTest, RanksThatShareAGpuNeedQueues) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "8", 1);
  for (int ranks : {2, 3}) { // there are two GPUs
    TokenCase c = small(ranks, kCollBf16);
    launches = 0;
    compare(c, 3, 2 * ranks, 1);
    EXPECT_EQ(launches > 0, ranks == 2) << ranks;
  }
}

TEST_F(GpuTokensTest, GroupsThatShareAGpuNeedQueues) {
  TokenCase c = small(4, kCollBf16); // each group has both GPUs
  c.isPaired = true;
  for (const char *queues : {"8", "32"}) {
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", queues, 1);
    launches = 0;
    compare(c, 3, 4, 1);
    EXPECT_EQ(launches > 0, std::string(queues) == "32");
  }
}

TEST_F(GpuTokensTest, GroupsThatShareAGpuShareItsMultiprocessors) {
  setenv("COLL_LOG", "info", 1);
  for (int ranks : {2, 8}) { // on two GPUs with 132 multiprocessors
    TokenCase c = small(ranks, kCollBf16);
    c.isPaired = true;
    testing::internal::CaptureStderr();
    compare(c, 1, 4, 1);
    const std::string log = testing::internal::GetCapturedStderr();
    const std::string blocks = ranks == 2 ? "with 24 blocks" : "with 16 blocks";
    EXPECT_NE(log.find("exchanged by the GPUs, " + blocks), std::string::npos) << log;
  }
  unsetenv("COLL_LOG");
}

TEST_F(GpuTokensTest, RanksThatCannotMakeTheExchangeAgree) {
  // The second rank has no memory for its buffer.
  TokenCase c = small(2, kCollBf16);
  c.place();
  std::unique_ptr<Executor> executor = start(c, /*isOnGpu=*/true);
  ASSERT_TRUE(executor);
  cuda_.failNext("memHostAlloc", 2);
  launches = 0;
  const Status status = executor->step({input(c, 4, 1)}).status();
  EXPECT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(launches, 0);
}

TEST_F(GpuTokensTest, AnUnknownExpertFailsTheStep) {
  TokenCase c = small(2, kCollBf16);
  c.place();
  HostTensor in = input(c, 4, 1);
  setExpert(c, in.data.data() + c.inBytes + c.experts[0], 3, 4);
  const Status status = failureOf(c, in);
  EXPECT_EQ(status.code(), kCollInvalidCall) << status.toString();
  EXPECT_TRUE(contains(status, "token 1 has an unknown expert")) << status.toString();
}

TEST_F(GpuTokensTest, MoreRowsThanTheCapacityFailTheStep) {
  TokenCase c = small(3, kCollF32);
  c.capacity.assign(3, 14);
  c.place();
  HostTensor in = input(c, 6, 1);
  for (int rank = 0; rank < 3; ++rank)
    for (int64_t t = 0; t < 5; ++t)
      for (int32_t k = 0; k < 2; ++k)
        setExpert(c, in.data.data() + rank * c.inBytes + c.experts[0], t * 2 + k, k ? -1 : 2);
  const Status status = failureOf(c, in);
  EXPECT_EQ(status.code(), kCollInvalidCall) << status.toString();
  EXPECT_TRUE(contains(status, "there are more tokens for rank 1 than its buffer holds"))
      << status.toString();
}

TEST_F(GpuTokensTest, AForeignRouteFailsTheStep) {
  TokenCase c = small(2, kCollF32);
  c.place();
  const Status status = failureOf(c, input(c, 4, 1), foreignRouteStep);
  EXPECT_EQ(status.code(), kCollInvalidCall) << status.toString();
  EXPECT_TRUE(contains(status, "the route is not of a dispatch like this")) << status.toString();
}

TEST(TokenKernels, TheCheckOfReturningRowsKeepsTheErrorOfAForeignRoute) {
  std::vector<int32_t> words(static_cast<size_t>(collRouteBytes(1, 1, 1)) / sizeof(int32_t));
  const int32_t rankPrefix = 0; // no row returns, but the route has one of rank 0
  uint8_t isTokenInRank = 1;
  int32_t tokensPerRank = 1;
  uint32_t error = 0;
  kernels::TokenRoute route;
  route.shape = {1, 0, 1, 1, 1};
  route.route = words.data();
  route.isTokenInRank = &isTokenInRank;
  route.tokensPerRank = &tokensPerRank;
  route.rankPrefix = &rankPrefix;
  route.error = &error;
  kernels::emulateCheckRoute(route);
  EXPECT_EQ(error, static_cast<uint32_t>(kernels::RouteError::Changed));
  error = 0;
  kernels::emulateReadRoute(route);
  EXPECT_EQ(error, static_cast<uint32_t>(kernels::RouteError::Foreign));
  EXPECT_EQ(isTokenInRank, 0);
  EXPECT_EQ(tokensPerRank, 0);
  kernels::emulateCheckRoute(route);
  EXPECT_EQ(error, static_cast<uint32_t>(kernels::RouteError::Foreign));
}

// The other rank finds that rows of this one do not return; the route is the cause.
TEST_F(GpuTokensTest, AForeignRouteOfOneRankIsTheReportedCause) {
  for (int rank : {0, 1}) {
    TokenCase c = small(2, kCollF32);
    c.foreign = rank;
    c.place();
    const Status status = failureOf(c, input(c, 4, 1));
    EXPECT_EQ(status.code(), kCollInvalidCall) << status.toString();
    EXPECT_TRUE(contains(status, "step failed: ")) << status.toString();
    const size_t cause = status.message().find("the route is not of a dispatch like this");
    EXPECT_LT(cause, status.message().find("\n")) << status.toString();
  }
}

TEST_F(GpuTokensTest, RoutesOfDifferentDispatchesFailTheStep) {
  TokenCase c = small(2, kCollF32);
  c.mixes = true;
  c.place();
  HostTensor in = input(c, 4, 1);
  for (int64_t i = 0; i < 10; ++i) // the first dispatch sends all tokens to rank 0 only
    for (int rank = 0; rank < 2; ++rank)
      setExpert(c, in.data.data() + rank * c.inBytes + c.experts[0], i, i % 2);
  for (int64_t i = 0; i < 10; ++i)
    for (int rank = 0; rank < 2; ++rank)
      setExpert(c, in.data.data() + rank * c.inBytes + c.experts[1], i, 2 + i % 2);
  const Status status = failureOf(c, in);
  EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
  EXPECT_TRUE(contains(status, "other rows return than the dispatch has received"))
      << status.toString();
}

TEST_F(GpuTokensTest, ARankThatFailsEndsTheOthers) {
  TokenCase c = small(3, kCollF32);
  c.failing = 1;
  c.place();
  const Status status = failureOf(c, input(c, 6, 1));
  EXPECT_FALSE(status.ok());
  EXPECT_TRUE(contains(status, "rank 1")) << status.toString();
}

// COLL_TIMEOUT_US, a minute, would let the late rank come in time.
TEST_F(GpuTokensTest, KernelsWaitAsLongAsTheCallerOfTheExecutorSays) {
  GpuPlatform platform = platformOf(cuda_);
  platform.tokens.widen = widenLate;
  const ScopedGpuPlatform late(platform);
  TokenCase c = small(2, kCollBf16);
  c.place();
  isFirstLate = true; // not in the step that connects the ranks
  std::unique_ptr<Executor> executor =
      start(c, /*isOnGpu=*/true, tokenCaseStep, /*graphs=*/false, /*timeoutUs=*/1'000'000);
  ASSERT_TRUE(executor);
  ASSERT_TRUE(executor->step({input(c, 4, 1)}).ok());
  isFirstLate = false;
  const Status status = executor->step({input(c, 4, 1)}).status();
  EXPECT_EQ(status.code(), kCollTimeout) << status.toString();
  EXPECT_TRUE(contains(status, "did not arrive before the deadline")) << status.toString();
}

} // namespace
} // namespace coll::rt::test
