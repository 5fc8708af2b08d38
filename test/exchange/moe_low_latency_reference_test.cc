// Properties of the low-latency reference itself: a case computed by hand, rows that return
// unchanged, the loss of the log format, and refusals.

#include "runtime/exchange/moe/low_latency_reference.h"

#include "runtime/base/narrow.h"
#include "test/exchange/moe_cases.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace coll::rt::test {
namespace {

// Two ranks with one expert each, rows of 128 equal values.
class ByHand : public testing::Test {
protected:
  ByHand() {
    shape_.maxTokens = 3;
    shape_.hidden = 128;
    shape_.numTopk = 2;
    shape_.numExperts = 2;
    for (size_t r = 0; r < 2; ++r) {
      MoeLowLatencyDispatch call;
      call.routing = {topk_[r].data(), 3, 2, 2};
      for (size_t i = 0; i < 3 * 128; ++i)
        x_[r][i] = f32ToBf16(static_cast<float>(10 * r + i / 128 + 1));
      call.x = x_[r];
      calls_.push_back(call);
    }
  }
  std::vector<std::vector<uint16_t>> combined(std::vector<MoeLowLatencyHostRows> &rows, bool log) {
    std::vector<std::vector<uint16_t>> out(2, std::vector<uint16_t>(3 * 128));
    std::vector<MoeLowLatencyCombine> calls(2);
    std::vector<MoeLowLatencyRows> views;
    for (size_t r = 0; r < 2; ++r) {
      calls[r].routing = calls_[r].routing;
      calls[r].x = rows[r].x.data();
      calls[r].topkWeights = weights_;
      calls[r].log = log;
      calls[r].out = out[r].data();
      views.push_back(rows[r].view());
    }
    const Status status = moeReferenceCombine(calls, views, shape_);
    EXPECT_TRUE(status.ok()) << status.toString();
    return out;
  }

  MoeLowLatencyShape shape_;
  std::vector<int64_t> topk_[2] = {{0, 1, -1, -1, 1, -1}, {-1, 0, 0, 1, -1, 1}};
  alignas(16) uint16_t x_[2][3 * 128];
  const float weights_[6] = {1, 2, 3, 4, 5, 6};
  std::vector<MoeLowLatencyDispatch> calls_;
};

TEST_F(ByHand, RowsArriveInOrderAndComeBackWeighted) {
  std::vector<int32_t> stats = {5};
  calls_[1].expertTokens = stats.data();
  auto rows = moeReferenceDispatch(calls_, shape_);
  ASSERT_TRUE(rows.ok()) << rows.status().toString();
  // Expert 0: token 0 of rank 0, tokens 0 and 1 of rank 1.
  EXPECT_EQ((*rows)[0].counts, (std::vector<int32_t>{3}));
  EXPECT_EQ((*rows)[0].ranges, (std::vector<uint64_t>{1, uint64_t{1} << 32 | 2}));
  EXPECT_EQ((*rows)[0].sources, (std::vector<uint32_t>{0, 1 << 16, 1, 0, 0, 0}));
  EXPECT_EQ((*rows)[1].counts, (std::vector<int32_t>{4}));
  EXPECT_EQ((*rows)[1].sources,
            (std::vector<uint32_t>{1 << 16, 2, 1 << 16 | 1, 1 << 16 | 2, 0, 0}));
  EXPECT_EQ(stats[0], 9);
  const auto *x = reinterpret_cast<const uint16_t *>((*rows)[1].x.data());
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(bf16ToF32(x[i * 128 + 7]), (std::vector<float>{1, 3, 12, 13}[i]));

  for (bool log : {false, true}) {
    const auto out = combined(*rows, log);
    for (size_t t = 0; t < 3; ++t) {
      EXPECT_EQ(bf16ToF32(out[0][t * 128]), (std::vector<float>{3, 0, 15}[t])) << log;
      EXPECT_EQ(bf16ToF32(out[1][t * 128 + 127]), (std::vector<float>{22, 84, 78}[t])) << log;
    }
  }
}

TEST_F(ByHand, Fp8HasAScaleForEach128Values) {
  for (MoeLowLatencyDispatch &call : calls_)
    call.dtype = kCollF8E4M3FN;
  auto rows = moeReferenceDispatch(calls_, shape_);
  ASSERT_TRUE(rows.ok()) << rows.status().toString();
  EXPECT_EQ((*rows)[0].scales, (std::vector<float>{1 / 448.0f, 11 / 448.0f, 12 / 448.0f, 0, 0, 0}));
  EXPECT_EQ(f8E4M3FNToF32(static_cast<uint8_t>((*rows)[0].x[130])), 448);
}

TEST_F(ByHand, BadInputIsRefusedByName) {
  const auto refusal = [&](auto change) {
    std::vector<MoeLowLatencyDispatch> calls = calls_;
    change(calls[1]);
    return moeReferenceDispatch(calls, shape_).status().message();
  };
  EXPECT_EQ(refusal([](auto &) {}), "");
  EXPECT_EQ(refusal([](auto &c) { c.routing.numTokens = 4; }),
            "rank 1: moe low latency: numTokens is 4; maxTokens is 3");
  EXPECT_EQ(refusal([](auto &c) { c.routing.numTopk = 3; }),
            "rank 1: moe low latency: numTopk is 3; the shape has 2");
  EXPECT_EQ(refusal([](auto &c) { c.routing.numExperts = 4; }),
            "rank 1: moe low latency: numExperts is 4; the shape has 2");
  EXPECT_EQ(refusal([](auto &c) { c.x = nullptr; }),
            "rank 1: moe low latency: `x` is null or not aligned to 16 bytes");
  EXPECT_EQ(refusal([](auto &c) { c.dtype = kCollF32; }),
            "rank 1: moe low latency: rows are sent as bf16 or f8e4m3fn, not f32");
  EXPECT_EQ(refusal([](auto &c) { c.dtype = kCollF8E4M3FN; }),
            "rank 1: moe low latency: rows of another type than those of rank 0");
  topk_[1][5] = 2;
  EXPECT_EQ(refusal([](auto &) {}), "rank 1: moe: `topkIdx` of token 2 has expert 2 of 2");
  topk_[1][3] = 0;
  EXPECT_EQ(refusal([](auto &) {}), "rank 1: moe: `topkIdx` of token 1 has expert 0 twice");
  shape_.hidden = 64;
  EXPECT_EQ(refusal([](auto &) {}), "moe low latency: hidden is 64; it must be a multiple of 128");
}

// A row that one expert returns, unweighted.
std::vector<float> throughLog(const std::vector<float> &values) {
  MoeLowLatencyShape shape = {1, 128, 1, 1};
  const int64_t topk = 0;
  alignas(16) uint16_t x[128], out[128];
  std::transform(values.begin(), values.end(), x, f32ToBf16);
  MoeLowLatencyDispatch dispatch;
  dispatch.routing = {&topk, 1, 1, 1};
  dispatch.x = x;
  auto rows = moeReferenceDispatch({dispatch}, shape).take();
  const float weight = 1;
  MoeLowLatencyCombine combine;
  combine.routing = dispatch.routing;
  combine.x = rows[0].x.data();
  combine.topkWeights = &weight;
  combine.log = true;
  combine.out = out;
  EXPECT_TRUE(moeReferenceCombine({combine}, {rows[0].view()}, shape).ok());
  std::vector<float> got(128);
  std::transform(out, out + 128, got.begin(), bf16ToF32);
  return got;
}

TEST(MoeLogFormatTest, ErrorsAreHalfAStep) {
  std::minstd_rand random(3);
  for (int round = 0; round < 300; ++round) {
    const float octaves = static_cast<float>(random() % 300) / 10;
    const float top = static_cast<float>(random() % 200) - 100;
    std::vector<float> values(128);
    for (float &value : values)
      value = bf16ToF32(
          f32ToBf16(std::exp2(top - octaves * std::uniform_real_distribution<float>(0, 1)(random)) *
                    (random() % 2 ? 1.0f : -1.0f)));
    values[random() % 128] = 0;
    const std::vector<float> got = throughLog(values);
    // Half a step of the format, and the rounding of bf16.
    const float bound = std::exp2(octaves / 510 / 2) - 1 + 1 / 200.0f;
    for (size_t i = 0; i < 128; ++i)
      ASSERT_NEAR(got[i], values[i], bound * std::fabs(values[i])) << round;
  }
}

TEST(MoeLogFormatTest, ExtremesAreWhatIsPromised) {
  std::vector<float> values(128, 1.0f);
  values[1] = std::exp2(-31.0f);
  values[2] = -std::exp2(-40.0f);
  std::vector<float> got = throughLog(values);
  EXPECT_EQ(got[0], 1);
  EXPECT_NEAR(got[1], values[1], 0.03f * values[1]);
  EXPECT_EQ(got[2], 0);
  values[5] = std::numeric_limits<float>::infinity();
  for (float value : throughLog(values))
    EXPECT_TRUE(std::isnan(value));
  for (float value : throughLog(std::vector<float>(128, 0.0f)))
    EXPECT_EQ(value, 0);
  for (float value : throughLog(std::vector<float>(128, -3.0f)))
    EXPECT_EQ(value, -3);
}

} // namespace
} // namespace coll::rt::test
