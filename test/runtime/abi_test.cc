// The table's checks of its arguments, and its matrix products.

#include "runtime/base/dtype.h"
#include "runtime/step/abi/context.h"
#include "runtime/step/abi/gemm.h"
#include "runtime/step/device/host_device.h"
#include "test/runtime/fixtures.h"

#include <cmath>
#include <thread>

namespace coll::rt::test {
namespace {

// Arguments of an exchange of two tokens of two elements, with an expert each.
struct TokenShape {
  const int32_t *experts = nullptr;
  int32_t *route = nullptr;
  int64_t tokens = 2, hidden = 2, scales = 0, capacity = 2;
  int32_t topk = 1, dtype = kCollF32, indexDtype = kCollI32, localExperts = 1, group = 0;
};

constexpr float kConstants[] = {1, 2, 3};

// One rank of a job of one; calls fail or succeed without peers.
class AbiTest : public testing::Test {
protected:
  void SetUp() override {
    Result<Descriptor> parsed = Descriptor::parse(descriptorText(1));
    ASSERT_TRUE(parsed.ok()) << parsed.status().toString();
    descriptor_ = parsed.take();
    backend_ = createBackend("threads", {}).take();
    endpoint_ = backend_->endpoint(0).take();
    endpoint_->enter();
    context_ = CollContext::create(0, 0, descriptor_, *endpoint_, device_).take();
  }

  void expectInvalid(int32_t code, const std::string &message) {
    EXPECT_EQ(code, kCollInvalidCall);
    EXPECT_TRUE(contains(context_->error, message)) << context_->error.message();
    context_->error = {};
  }

  const CollAbi &abi_ = abiTable();
  Descriptor descriptor_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Endpoint> endpoint_;
  HostDevice device_{kConstants};
  std::unique_ptr<CollContext> context_;
  CollContext *ctx() { return context_.get(); }
  float a_[64] = {}, b_[64] = {};
  int32_t experts_[2] = {0, -1}, counts_[1] = {}, route_[32] = {};
};

TEST_F(AbiTest, RefusesBadExchangesOfTokens) {
  TokenShape shape;
  auto dispatch = [&](const TokenShape &s) {
    return abi_.dispatch(ctx(), 0, a_, s.experts, a_, nullptr, s.tokens, s.hidden, s.topk, s.scales,
                         s.dtype, s.indexDtype, s.localExperts, s.capacity, b_, b_, b_, nullptr,
                         counts_, s.route, s.group);
  };
  auto combine = [&](const TokenShape &s) {
    return abi_.combine(ctx(), 0, a_, b_, s.tokens, s.hidden, s.topk, s.capacity, s.dtype, s.route,
                        s.group);
  };
  auto changed = [&](auto change) {
    TokenShape other = shape;
    other.experts = experts_;
    other.route = route_;
    change(other);
    return other;
  };
  expectInvalid(dispatch(changed([](auto &s) { s.tokens = -1; })), "-1 tokens");
  expectInvalid(dispatch(changed([](auto &s) { s.capacity = int64_t(1) << 40; })), "a capacity of");
  expectInvalid(dispatch(changed([](auto &s) { s.topk = 33; })), "33 experts for a token");
  expectInvalid(dispatch(changed([](auto &s) { s.hidden = INT64_MAX; })), "elements and 0 scales");
  expectInvalid(dispatch(changed([](auto &s) { s.scales = 1; })), "scales are null");
  expectInvalid(dispatch(changed([](auto &s) { s.dtype = kNumDtypes; })), "no element type");
  expectInvalid(dispatch(changed([](auto &s) { s.indexDtype = kCollF32; })), "not f32");
  expectInvalid(dispatch(changed([](auto &s) { s.localExperts = 0; })), "0 experts on each");
  expectInvalid(dispatch(changed([](auto &s) { s.experts = nullptr; })), "experts, weights");
  expectInvalid(dispatch(changed([](auto &s) { s.route = nullptr; })), "route is null");
  expectInvalid(dispatch(changed([](auto &s) { s.group = 1; })), "no group 1");
  expectInvalid(combine(changed([](auto &s) { s.dtype = kCollI32; })), "i32 cannot be added up");
  expectInvalid(combine(changed([](auto &s) { s.route = nullptr; })), "route is null");
  expectInvalid(combine(changed([](auto &) {})), "not of a dispatch like this");
  EXPECT_EQ(dispatch(changed([](auto &) {})), kCollOk);
  EXPECT_EQ(combine(changed([](auto &) {})), kCollOk);
  expectInvalid(combine(changed([](auto &s) { s.tokens = 1; })), "not of a dispatch like this");
}

TEST_F(AbiTest, RefusesBadArguments) {
  auto allReduce = [&](const void *src, void *dst, int64_t count, int32_t dtype, int32_t reduction,
                       int32_t order, int32_t group) {
    return abi_.all_reduce(ctx(), 0, src, dst, count, dtype, reduction, kCollAccumulateAny, order,
                           group, nullptr);
  };
  auto accumulate = [&](int32_t dtype, int32_t accumulation) {
    return abi_.all_reduce(ctx(), 0, a_, b_, 1, dtype, kCollSum, accumulation, 0, 0, nullptr);
  };
  expectInvalid(allReduce(a_, b_, -1, 0, 0, 0, 0), "negative");
  expectInvalid(allReduce(a_, b_, INT64_MAX, 0, 0, 0, 0), "too large");
  expectInvalid(allReduce(nullptr, b_, 1, 0, 0, 0, 0), "source is null");
  expectInvalid(allReduce(a_, nullptr, 1, 0, 0, 0, 0), "destination is null");
  expectInvalid(allReduce(a_, a_ + 1, 2, 0, 0, 0, 0), "overlap");
  expectInvalid(allReduce(a_ + 1, a_, 2, 0, 0, 0, 0), "overlap");
  EXPECT_EQ(allReduce(a_, a_ + 2, 2, 0, 0, 0, 0), kCollOk); // they touch
  EXPECT_EQ(allReduce(a_ + 2, a_, 2, 0, 0, 0, 0), kCollOk);
  expectInvalid(allReduce(a_, b_, 1, kNumDtypes, 0, 0, 0), "no element type");
  expectInvalid(allReduce(a_, b_, 1, -1, 0, 0, 0), "no element type -1");
  expectInvalid(allReduce(a_, b_, 1, 0, 10, 0, 0), "no reduction 10");
  expectInvalid(allReduce(a_, b_, 1, 0, kCollXor, 0, 0), "xor does not take f32");
  expectInvalid(allReduce(a_, b_, 1, kCollBool, kCollAvg, 0, 0), "avg does not take bool");
  expectInvalid(allReduce(a_, b_, 1, 0, 0, 2, 0), "no order 2");
  expectInvalid(accumulate(kCollBf16, 2), "no accumulation 2");
  expectInvalid(accumulate(kCollF32, kCollAccumulateF32), "f32 cannot be combined in f32");
  expectInvalid(accumulate(kCollI8, kCollAccumulateF32), "i8 cannot be combined in f32");
  expectInvalid(allReduce(a_, b_, 1, 0, 0, 0, 1), "no group 1");
  expectInvalid(allReduce(a_, b_, 1, 0, 0, 0, -1), "op 0 \"grad\" at train.py:12:3) on rank 0");
  expectInvalid(abi_.broadcast(ctx(), 1, a_, b_, 1, 0, 1, 0, nullptr), "root 1");
  expectInvalid(abi_.send(ctx(), 1, a_, 1, 0, 1, 0, 0, nullptr), "peer 1");
  expectInvalid(abi_.recv(ctx(), 1, a_, 1, 0, int64_t(1) << 40, 0, 0, nullptr), "peer");
  expectInvalid(abi_.send(ctx(), 1, a_, 1, 0, 0, -2, 0, nullptr), "tag -2");
  expectInvalid(abi_.all_to_all(ctx(), 1, a_, b_, 2, 3, 2, 2, 0, 0, nullptr), "do not fill");
  int32_t pairs[4] = {0, 0, 0, 0};
  expectInvalid(abi_.permute(ctx(), 1, a_, b_, 1, 0, pairs, 2, 0, nullptr), "2 pairs");
  pairs[1] = 1;
  expectInvalid(abi_.permute(ctx(), 1, a_, b_, 1, 0, pairs, 1, 0, nullptr), "outside");
  expectInvalid(abi_.wait(ctx(), 1, nullptr), "not in flight");
  expectInvalid(abi_.rank(ctx(), nullptr), "null");
  expectInvalid(abi_.group_position(ctx(), 3, nullptr, nullptr), "no group 3");
  EXPECT_EQ(abi_.rank(nullptr, nullptr), kCollInvalidCall);
}

TEST_F(AbiTest, EveryCollectiveWorksAlone) {
  for (int i = 0; i < 4; ++i)
    a_[i] = static_cast<float>(i + 1);
  int32_t pairs[2] = {0, 0};
  int32_t codes[] = {
      abi_.init(ctx(), 1, 0),
      abi_.all_reduce(ctx(), 0, a_, b_, 4, 0, kCollAvg, 0, 0, 0, nullptr),
      abi_.reduce(ctx(), 0, b_, b_ + 4, 4, 0, kCollMax, 0, 0, 0, 0, nullptr),
      abi_.broadcast(ctx(), 0, b_ + 4, b_ + 8, 4, 0, 0, 0, nullptr),
      abi_.all_gather(ctx(), 0, b_ + 8, b_ + 12, 2, 2, 0, 0, nullptr),
      abi_.gather(ctx(), 0, b_ + 12, b_ + 16, 1, 4, 0, 0, 0, nullptr),
      abi_.scatter(ctx(), 0, b_ + 16, b_ + 20, 1, 4, 0, 0, 0, nullptr),
      abi_.reduce_scatter(ctx(), 0, b_ + 20, b_ + 24, 1, 4, 0, kCollSum, 0, 1, 0, nullptr),
      abi_.all_to_all(ctx(), 0, b_ + 24, b_ + 28, 1, 4, 2, 2, 0, 0, nullptr),
      abi_.permute(ctx(), 0, b_ + 28, b_ + 32, 4, 0, pairs, 1, 0, nullptr),
      abi_.barrier(ctx(), 0, 0, nullptr)};
  for (int32_t code : codes)
    EXPECT_EQ(code, kCollOk) << context_->error.toString();
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(b_[32 + i], a_[i]);
}

TEST_F(AbiTest, FlightRecorderKeepsTheLastOperations) {
  context_->recorder = FlightRecorder(2);
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(abi_.barrier(ctx(), i % 2, 0, nullptr), kCollOk);
  CollRequest *req = nullptr;
  ASSERT_EQ(abi_.barrier(ctx(), 0, 0, &req), kCollOk);
  std::vector<std::string> lines = context_->recorder.lines(10);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].rfind("#4 barrier (op 0", 0), 0u) << lines[0];
  EXPECT_NE(lines[1].find("not ended"), std::string::npos) << lines[1];
  ASSERT_EQ(abi_.wait(ctx(), 0, req), kCollOk);
  EXPECT_NE(context_->recorder.lines(1)[0].find("ok after"), std::string::npos);
  EXPECT_EQ(context_->recorder.count(), 6u);
}

// The room for requests must grow by a factor, or starting n of them would cost n * n copies.
TEST_F(AbiTest, ManyRequestsMoveSeldom) {
  constexpr size_t kMany = 2000;
  std::vector<CollRequest *> started(kMany);
  int moves = 0;
  for (CollRequest *&req : started) {
    const size_t room = context_->requests.capacity();
    ASSERT_EQ(abi_.barrier(ctx(), 0, 0, &req), kCollOk);
    moves += context_->requests.capacity() != room;
  }
  EXPECT_LE(moves, 16);
  for (CollRequest *req : started)
    ASSERT_EQ(abi_.wait(ctx(), 0, req), kCollOk);
  EXPECT_TRUE(context_->requests.empty());
}

class RefusingCommunicator final : public Communicator {
public:
  const std::vector<int> &ranks() const override { return ranks_; }
  int position() const override { return 0; }
  Status run(const Call &) override { return {kCollUnsupported, "not today"}; }
  Result<Request *> start(const Call &) override { return Status(kCollUnsupported, "not today"); }

private:
  std::vector<int> ranks_ = {0};
};

TEST_F(AbiTest, ARequestThatDoesNotStartIsNotInFlight) {
  context_->communicators[0] = std::make_unique<RefusingCommunicator>();
  CollRequest *req = nullptr;
  EXPECT_EQ(abi_.barrier(ctx(), 0, 0, &req), kCollUnsupported);
  EXPECT_EQ(req, nullptr);
  EXPECT_TRUE(context_->requests.empty());
}

// Compares with three plain loops, over shapes on both sides of every threshold.
template <typename T>
void checkGemm(const Gemm &shape) {
  Gemm g = shape;
  int64_t aRows = g.transA ? g.k : g.m, bRows = g.transB ? g.n : g.k;
  g.dtype = sizeof(T) == 4 ? kCollF32 : kCollF64;
  g.lda = (g.transA ? g.m : g.k) + 2;
  g.ldb = (g.transB ? g.k : g.n) + 1;
  g.ldc = g.n + 3;
  g.strideA = aRows * g.lda;
  g.strideB = bRows * g.ldb;
  g.strideC = g.m * g.ldc;
  auto fill = [](int64_t count, int64_t seed) {
    std::vector<T> values(static_cast<size_t>(count + 1));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<T>((static_cast<int64_t>(i) * 7 + seed) % 11 - 5);
    return values;
  };
  std::vector<T> a = fill(g.batch * g.strideA, 1), b = fill(g.batch * g.strideB, 2);
  std::vector<T> c = fill(g.batch * g.strideC, 3), expected = c;
  for (int64_t x = 0; x < g.batch; ++x)
    for (int64_t i = 0; i < g.m; ++i)
      for (int64_t j = 0; j < g.n; ++j) {
        T sum = 0;
        for (int64_t p = 0; p < g.k; ++p)
          sum +=
              a[static_cast<size_t>(x * g.strideA + (g.transA ? p * g.lda + i : i * g.lda + p))] *
              b[static_cast<size_t>(x * g.strideB + (g.transB ? j * g.ldb + p : p * g.ldb + j))];
        T &out = expected[static_cast<size_t>(x * g.strideC + i * g.ldc + j)];
        out = g.accumulate ? out + sum : sum;
      }
  g.a = a.data();
  g.b = b.data();
  g.c = c.data();
  if (!g.accumulate) // old content, even NaN, must not matter
    for (int64_t i = 0; i < g.batch * g.m; ++i)
      std::fill_n(&c[static_cast<size_t>(i * g.ldc)], g.n, static_cast<T>(NAN));
  Status status = runGemm(g);
  ASSERT_TRUE(status.ok()) << status.toString();
  ASSERT_EQ(c, expected) << g.m << "x" << g.n << "x" << g.k << " " << g.transA << g.transB;
}

TEST(GemmTest, MatchesThreeLoops) {
  for (auto [m, n, k] : {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
                         {0, 3, 2},
                         {3, 0, 2},
                         {3, 2, 0},
                         {5, 7, 3},
                         {1, 64, 64},
                         {64, 1, 64},
                         {33, 17, 65},
                         {128, 96, 40},
                         {16, 16, 16},
                         {9, 9, 16},
                         {40, 40, 33},
                         {8, 512, 8},
                         {10, 64, 360},
                         {300, 5, 7},
                         {31, 129, 2}})
    for (int variant = 0; variant < 8; ++variant)
      for (int64_t batch : {0, 1, 3}) {
        Gemm g;
        g.m = m, g.n = n, g.k = k, g.batch = batch;
        g.transA = variant & 1, g.transB = variant & 2, g.accumulate = variant & 4;
        checkGemm<float>(g);
        checkGemm<double>(g);
      }
}

TEST(GemmTest, ThreadsDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int round = 0; round < 50; ++round) {
        Gemm g;
        g.m = 40, g.n = 50, g.k = 60;
        checkGemm<float>(g);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(AbiTest, GemmRefusesBadArguments) {
  auto gemm = [&](int32_t dtype, int64_t m, int64_t n, int64_t k, int64_t lda, const void *a) {
    return abi_.gemm(ctx(), dtype, 0, 0, m, n, k, a, lda, 0, b_, n, 0, b_ + 32, n, 0, 1, 0);
  };
  EXPECT_EQ(gemm(kCollF32, 2, 2, 2, 2, a_), kCollOk);
  expectInvalid(gemm(kCollI32, 2, 2, 2, 2, a_), "neither f32 nor f64");
  expectInvalid(gemm(kCollF32, -2, 2, 2, 2, a_), "a size is -2");
  expectInvalid(gemm(kCollF32, 2, 2, 2, 1, a_), "shorter than its row");
  expectInvalid(gemm(kCollF32, 2, 2, 2, 2, nullptr), "null");
}

TEST_F(AbiTest, MemoryOfTheHostIsCopiedAndFilledAtOnce) {
  const float pattern[2] = {3, 4};
  EXPECT_EQ(abi_.fill(ctx(), -1, a_, pattern, 8, 4), kCollOk);
  EXPECT_EQ(abi_.copy(ctx(), -1, b_, a_ + 1, 8), kCollOk);
  EXPECT_EQ(b_[0], 4);
  EXPECT_EQ(b_[1], 3);
  float host = 0;
  EXPECT_EQ(abi_.fetch(ctx(), -1, &host, b_, 4), kCollOk);
  EXPECT_EQ(host, 4);
  EXPECT_EQ(abi_.store(ctx(), -1, b_ + 1, &host, 4), kCollOk);
  EXPECT_EQ(b_[1], 4);
  EXPECT_EQ(abi_.copy(ctx(), -1, nullptr, nullptr, 0), kCollOk);
  void *constants = nullptr;
  EXPECT_EQ(abi_.constants(ctx(), &constants), kCollOk);
  EXPECT_EQ(constants, kConstants);
}

TEST_F(AbiTest, MemoryCallsRefuseBadArguments) {
  expectInvalid(abi_.copy(ctx(), 0, b_, a_, -1), "copy (op 0 \"grad\" at train.py:12:3) on rank 0");
  expectInvalid(abi_.copy(ctx(), 0, nullptr, a_, 4), "a buffer is null");
  for (int32_t bytes : {-1, 0, 3, 32})
    expectInvalid(abi_.fill(ctx(), 0, b_, a_, bytes, 1),
                  "1, 2, 4, 8 or 16 bytes, not " + std::to_string(bytes));
  expectInvalid(abi_.fill(ctx(), 0, b_, a_, 16, INT64_MAX / 8), "too many");
  expectInvalid(abi_.fetch(ctx(), 0, b_, nullptr, 4), "a buffer is null");
  expectInvalid(abi_.store(ctx(), 0, b_, nullptr, 4), "a buffer is null");
  expectInvalid(abi_.constants(ctx(), nullptr), "null");
}

TEST_F(AbiTest, KernelsNeedAProgramOnAGpu) {
  EXPECT_EQ(abi_.launch(ctx(), 0, 7, nullptr, 0), kCollUnsupported);
  EXPECT_TRUE(contains(context_->error, "GPU kernel 7")) << context_->error.message();
  EXPECT_TRUE(contains(context_->error, "train.py:12:3")) << context_->error.message();
}

CollContraction contractionOf(int32_t dtype, int32_t out, int64_t m, int64_t n, int64_t k) {
  CollContraction c{};
  c.dtype_a = c.dtype_b = dtype;
  c.dtype_out = out;
  c.compute = dtype == kCollF64 ? kCollComputeF64 : kCollComputeF32;
  c.batch = 1;
  c.m = m, c.n = n, c.k = k;
  c.ld_a = k, c.ld_b = c.ld_out = n;
  return c;
}

TEST_F(AbiTest, ContractionsOfNarrowFloatsRoundOnce) {
  // [1 2; 3 4] * [1 1; 1 1]^T, each sum plus a bias, then relu.
  const uint16_t a[] = {f32ToBf16(1), f32ToBf16(2), f32ToBf16(-3), f32ToBf16(-4)};
  const uint16_t ones[] = {f32ToBf16(1), f32ToBf16(1), f32ToBf16(1), f32ToBf16(1)};
  const float bias[] = {0.5f, 10};
  CollContraction c = contractionOf(kCollBf16, kCollF32, 2, 2, 2);
  c.trans_b = 1;
  c.epilogue = kCollEpilogueBiasRelu;
  c.bias = bias;
  EXPECT_EQ(abi_.contract(ctx(), -1, &c, a, ones, b_), kCollOk);
  EXPECT_EQ(std::vector<float>(b_, b_ + 4), (std::vector<float>{3.5f, 13, 0, 3}));
}

TEST_F(AbiTest, ContractionsOfF32AreMatrixProducts) {
  a_[0] = 2;
  a_[1] = 3;
  b_[0] = 1;
  CollContraction c = contractionOf(kCollF32, kCollF32, 1, 1, 2);
  c.accumulate = 1;
  EXPECT_EQ(abi_.contract(ctx(), -1, &c, a_, a_, b_), kCollOk);
  EXPECT_EQ(b_[0], 14);
}

TEST_F(AbiTest, ContractionsOfF64AreMatrixProducts) {
  const double a[] = {2, 3}, b[] = {10, 0.1};
  double out = 0;
  const CollContraction c = contractionOf(kCollF64, kCollF64, 1, 1, 2);
  EXPECT_EQ(abi_.contract(ctx(), -1, &c, a, b, &out), kCollOk) << context_->error.message();
  EXPECT_DOUBLE_EQ(out, 20.3);
}

TEST_F(AbiTest, AContractionOfNoProductsReadsNothing) {
  float out[2] = {7, 7};
  const CollContraction c = contractionOf(kCollF32, kCollF32, 2, 1, 0);
  EXPECT_EQ(abi_.contract(ctx(), -1, &c, nullptr, nullptr, out), kCollOk)
      << context_->error.message();
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 0);
}

// gelu(2) = 2 / 2 * (1 + tanh(sqrt(2 / pi) * (2 + 0.044715 * 8)))
TEST_F(AbiTest, ContractionsEndInGelu) {
  a_[0] = 2;
  b_[0] = 1;
  float out = 0;
  CollContraction c = contractionOf(kCollF32, kCollF32, 1, 1, 1);
  c.epilogue = kCollEpilogueGelu;
  EXPECT_EQ(abi_.contract(ctx(), -1, &c, a_, b_, &out), kCollOk);
  EXPECT_NEAR(out, 1.954597694, 1e-6);
}

TEST_F(AbiTest, GeluKeepsItsArgument) {
  a_[0] = 2;
  b_[0] = 1;
  const float bias = -1;
  float out = 0, kept = 0;
  CollContraction c = contractionOf(kCollF32, kCollF32, 1, 1, 1);
  c.epilogue = kCollEpilogueBiasGelu;
  c.bias = &bias;
  c.kept = &kept;
  EXPECT_EQ(abi_.contract(ctx(), -1, &c, a_, b_, &out), kCollOk);
  EXPECT_EQ(kept, 1);
  EXPECT_NEAR(out, 0.841191990, 1e-6);
}

// gelu'(1) = 1.0829640838, gelu'(-1) = -0.0829640838
TEST_F(AbiTest, ContractionsEndInTheGradientOfGelu) {
  const float a[] = {2, 3}, b[] = {1, 10}, x[] = {1, -1, 1, 1};
  float out[4] = {}, columns[2] = {};
  CollContraction c = contractionOf(kCollF32, kCollF32, 2, 2, 1);
  c.epilogue = kCollEpilogueGeluGradient;
  c.x = x;
  c.kept = columns;
  EXPECT_EQ(abi_.contract(ctx(), -1, &c, a, b, out), kCollOk);
  EXPECT_NEAR(out[0], 2 * 1.0829640838, 1e-5);
  EXPECT_NEAR(out[1], 20 * -0.0829640838, 1e-5);
  EXPECT_NEAR(columns[0], 5 * 1.0829640838, 1e-5);
  EXPECT_NEAR(columns[1], 30 * 1.0829640838 - 20 * 0.0829640838, 1e-4);
}

TEST_F(AbiTest, TheGradientOfGeluWithoutRowsHasSumsOfZero) {
  for (const auto &[dtype, bytes] : {std::pair(kCollF32, size_t{12}), {kCollBf16, size_t{6}}}) {
    char columns[16];
    std::fill_n(columns, sizeof(columns), 'x');
    CollContraction c = contractionOf(dtype, dtype, 0, 3, 1);
    c.epilogue = kCollEpilogueGeluGradient;
    c.kept = columns;
    EXPECT_EQ(abi_.contract(ctx(), -1, &c, nullptr, b_, nullptr), kCollOk);
    EXPECT_EQ(std::string(columns, bytes), std::string(bytes, 0));
    EXPECT_EQ(columns[bytes], 'x');
    // Without columns there are no sums, and what a gelu keeps has no elements.
    c.n = 0;
    c.kept = columns + bytes;
    EXPECT_EQ(abi_.contract(ctx(), -1, &c, nullptr, b_, nullptr), kCollOk);
    c.n = 3;
    c.epilogue = kCollEpilogueGelu;
    EXPECT_EQ(abi_.contract(ctx(), -1, &c, nullptr, b_, nullptr), kCollOk);
    EXPECT_EQ(columns[bytes], 'x');
  }
}

TEST_F(AbiTest, MatricesOfABatchMayStandSideBySide) {
  a_[0] = 2;
  a_[1] = 3;
  b_[0] = b_[1] = 10;
  float out[4] = {};
  CollContraction c = contractionOf(kCollF32, kCollF32, 2, 1, 1);
  c.batch = 2;
  c.stride_b = c.stride_out = 1;
  c.ld_out = 2;
  EXPECT_EQ(abi_.contract(ctx(), -1, &c, a_, b_, out), kCollOk) << context_->error.message();
  EXPECT_EQ(std::vector<float>(out, out + 4), (std::vector<float>{20, 20, 30, 30}));
}

TEST_F(AbiTest, ContractRefusesBadArguments) {
  auto contract = [&](CollContraction c) { return abi_.contract(ctx(), 1, &c, a_, a_, b_); };
  CollContraction c = contractionOf(kCollF32, kCollF32, 2, 2, 2);
  c.ld_a = 1;
  expectInvalid(contract(c), "shorter than its row");
  c = contractionOf(kCollF32, kCollBf16, 2, 2, 2);
  expectInvalid(contract(c), "a product of f32 gives f32, not bf16");
  c = contractionOf(kCollF64, kCollF64, 2, 2, 2);
  c.compute = kCollComputeF32;
  expectInvalid(contract(c), "vice versa");
  c = contractionOf(kCollF32, kCollF32, 2, 2, 2);
  c.epilogue = kCollEpilogueBias;
  expectInvalid(contract(c), "the bias is null");
  c.epilogue = kCollEpilogueGeluGradient;
  expectInvalid(contract(c), "x belongs to the gradient of gelu");
  c.epilogue = kCollEpilogueRelu;
  c.kept = b_;
  expectInvalid(contract(c), "only gelu and its gradient");
  c.epilogue = kCollEpilogueGelu;
  c.batch = 2;
  c.stride_out = 4;
  expectInvalid(contract(c), "has one of 2");
  c = contractionOf(kCollF32, kCollF32, 2, 2, 2);
  c.batch = 2;
  expectInvalid(contract(c), "overlap");
  expectInvalid(abi_.contract(ctx(), 1, nullptr, a_, a_, b_), "the contraction is null");
  EXPECT_EQ(contract(contractionOf(kCollI32, kCollI32, 2, 2, 2)), kCollUnsupported);
}

// One head with two queries and two keys; both scores of the second query are equal.
CollAttention twoByTwo() {
  CollAttention a{};
  a.causal = 1;
  a.batch = a.heads = a.kv_heads = 1;
  a.queries = a.keys = 2;
  a.dim = 8;
  a.scale = 1;
  for (CollRows *rows : {&a.q, &a.k, &a.v, &a.o, &a.d_q, &a.d_k, &a.d_v, &a.d_o})
    rows->row = 8;
  return a;
}

// Windows of two over a line of four, with a padding of one.
CollConvolution line(CollConvolutionKind kind) {
  CollConvolution c{};
  c.kind = kind;
  c.batch = c.groups = c.channels = c.features = 1;
  for (int d = 0; d < 3; ++d)
    c.in[d] = c.window[d] = c.out[d] = c.stride[d] = c.dilation[d] = 1;
  c.in[2] = 4, c.window[2] = 2, c.out[2] = 3, c.stride[2] = 2, c.pad[2] = 1;
  return c;
}

TEST_F(AbiTest, AConvolutionAndItsGradientsSumOverWindows) {
  const float x[4] = {1, 2, 3, 4}, w[2] = {10, 100}, dy[3] = {1, 1, 2};
  float y[3], dx[4], dw[2];
  CollConvolution c = line(kCollConvolutionForward);
  ASSERT_EQ(abi_.convolve(ctx(), -1, &c, x, w, y), kCollOk) << context_->error.message();
  EXPECT_EQ(std::vector<float>(y, y + 3), (std::vector<float>{100, 320, 40}));
  c = line(kCollConvolutionData);
  ASSERT_EQ(abi_.convolve(ctx(), -1, &c, dy, w, dx), kCollOk);
  EXPECT_EQ(std::vector<float>(dx, dx + 4), (std::vector<float>{100, 10, 100, 20}));
  c = line(kCollConvolutionFilter);
  ASSERT_EQ(abi_.convolve(ctx(), -1, &c, x, dy, dw), kCollOk);
  EXPECT_EQ(std::vector<float>(dw, dw + 2), (std::vector<float>{2 + 8, 1 + 3}));
}

TEST_F(AbiTest, ConvolutionsRefuseBadArguments) {
  float x[4] = {};
  const auto convolve = [&](const CollConvolution &c) {
    return abi_.convolve(ctx(), 0, &c, x, x, x);
  };
  CollConvolution c = line(kCollConvolutionForward);
  c.kind = 3;
  expectInvalid(convolve(c), "no kind 3 of convolution");
  c = line(kCollConvolutionForward);
  c.compute = kCollComputeF64;
  expectInvalid(convolve(c), "no form 3 of computing a convolution of f32");
  c = line(kCollConvolutionForward);
  c.dtype = 99;
  expectInvalid(convolve(c), "no element type 99");
  c = line(kCollConvolutionForward);
  c.stride[2] = 0;
  expectInvalid(convolve(c), "strides and dilations must be at least 1");
  c = line(kCollConvolutionForward);
  c.pad[2] = -1;
  expectInvalid(convolve(c), "a padding is -1");
  c = line(kCollConvolutionForward);
  c.batch = -1;
  expectInvalid(convolve(c), "convolve (op 0 \"grad\" at train.py:12:3) on rank 0");
  expectInvalid(abi_.convolve(ctx(), 0, nullptr, x, x, x), "the convolution is null");
  c = line(kCollConvolutionForward);
  expectInvalid(abi_.convolve(ctx(), 0, &c, x, nullptr, x), "a tensor is null");
}

TEST_F(AbiTest, AttentionAveragesTheValuesThatAQuerySees) {
  alignas(16) float q[16] = {}, v[16] = {2, 0, 0, 0, 0, 0, 0, 0, 4}, o[16], lse[4], scratch[4];
  alignas(16) float dQ[16], dK[16], dV[16], dO[16] = {};
  CollAttention a = twoByTwo();
  ASSERT_EQ(abi_.attention(ctx(), -1, &a, q, q, v, o, lse), kCollOk) << context_->error.message();
  EXPECT_EQ(o[0], 2);
  EXPECT_EQ(o[8], 3);
  EXPECT_FLOAT_EQ(lse[1], std::log(2.0f));
  dO[8] = 1;
  ASSERT_EQ(abi_.attention_backward(ctx(), -1, &a, q, q, v, o, lse, dO, dQ, dK, dV, scratch),
            kCollOk);
  EXPECT_EQ(dV[0], 0.5f);
  EXPECT_EQ(dV[8], 0.5f);
  EXPECT_EQ(collAttentionScratchBytes(&a), 8);
}

TEST_F(AbiTest, AttentionRefusesBadArguments) {
  alignas(16) float x[16] = {}, lse[4] = {};
  const auto attend = [&](const CollAttention &a) {
    return abi_.attention(ctx(), 0, &a, x, x, x, x, lse);
  };
  CollAttention a = twoByTwo();
  a.o.row = 4;
  expectInvalid(attend(a), "\"o\" make its rows overlap");
  a = twoByTwo();
  a.compute = kCollComputeF64;
  expectInvalid(attend(a), "no form 3 of computing attention");
  a = twoByTwo();
  a.dtype = 99;
  expectInvalid(attend(a), "no element type 99");
  a = twoByTwo();
  a.keys = 1;
  expectInvalid(attend(a), "attention (op 0 \"grad\" at train.py:12:3) on rank 0");
  expectInvalid(abi_.attention(ctx(), 0, nullptr, x, x, x, x, lse), "the attention is null");
  a = twoByTwo();
  a.dim = 12;
  EXPECT_EQ(attend(a), kCollUnsupported);
}

} // namespace
} // namespace coll::rt::test
