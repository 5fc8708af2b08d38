// Properties of the reference itself: nothing is lost or duplicated, and everything is in order.

#include "runtime/base/dtype.h"
#include "test/exchange/moe_cases.h"

#include <cstring>
#include <gtest/gtest.h>
#include <set>

namespace coll::rt::test {
namespace {

constexpr int kRounds = 1000;
constexpr int64_t kMaxTokens = 60;

std::set<int64_t> ranksOf(const MoeRankCase &from, int64_t token, int numRanks) {
  std::set<int64_t> ranks;
  for (int k = 0; k < from.routing.numTopk; ++k)
    if (int64_t e = from.topkIdx[static_cast<size_t>(token * from.routing.numTopk + k)]; e >= 0)
      ranks.insert(e / (from.routing.numExperts / numRanks));
  return ranks;
}

// What rank `rank` must receive, as (source, token) in order.
std::vector<std::pair<size_t, int64_t>> expectedAt(const std::vector<MoeRankCase> &world,
                                                   int64_t rank) {
  std::vector<std::pair<size_t, int64_t>> expected;
  for (size_t s = 0; s < world.size(); ++s)
    for (int64_t t = 0; t < world[s].routing.numTokens; ++t)
      if (ranksOf(world[s], t, static_cast<int>(world.size())).count(rank))
        expected.emplace_back(s, t);
  return expected;
}

void expectReceived(const std::vector<MoeRankCase> &world, const MoeHostReceived &received,
                    int64_t rank) {
  const auto expected = expectedAt(world, rank);
  ASSERT_EQ(received.handle.numRecv, static_cast<int64_t>(expected.size()));
  const int64_t localExperts = world[0].routing.numExperts / static_cast<int64_t>(world.size());
  std::vector<int32_t> counts(static_cast<size_t>(localExperts), 0);
  for (size_t i = 0; i < expected.size(); ++i) {
    const auto &[source, token] = expected[i];
    const MoeRankCase &from = world[source];
    const auto rowBytes = static_cast<size_t>(from.tokens.hidden * dtypeSize(from.tokens.dtype));
    EXPECT_EQ(received.handle.recvSourceIdx[i], token);
    EXPECT_EQ(std::memcmp(received.x.data() + i * rowBytes,
                          from.x.data() + static_cast<size_t>(token) * rowBytes, rowBytes),
              0);
    for (int64_t j = 0; j < from.tokens.numScales; ++j)
      EXPECT_EQ(
          received.scales[i * static_cast<size_t>(from.tokens.numScales) + static_cast<size_t>(j)],
          from.tokens.scales[token * from.tokens.scaleTokenStride + j * from.tokens.scaleStride]);
    for (int k = 0; k < from.routing.numTopk; ++k) {
      const auto to = i * static_cast<size_t>(from.routing.numTopk) + static_cast<size_t>(k);
      const auto here = static_cast<size_t>(token * from.routing.numTopk + k);
      const int64_t expert = from.topkIdx[here];
      const bool isHere = expert >= 0 && expert / localExperts == rank;
      EXPECT_EQ(received.topkIdx[to], isHere ? expert % localExperts : -1);
      EXPECT_EQ(received.topkWeights[to],
                isHere && from.tokens.topkWeights ? from.topkWeights[here] : 0);
      if (isHere)
        ++counts[static_cast<size_t>(expert % localExperts)];
    }
  }
  EXPECT_EQ(received.tokensPerExpert, counts);
}

TEST(MoeReferenceTest, DispatchBringsEachTokenOnceInOrder) {
  std::minstd_rand random(1);
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    const std::vector<MoeRankCase> world =
        randomMoeCase(randomMoeSizes(random, kMaxTokens), random);
    Result<std::vector<MoeHostReceived>> all = moeReferenceDispatch(callsOf(world), {});
    ASSERT_TRUE(all.ok()) << all.status().toString();
    for (size_t r = 0; r < world.size(); ++r)
      expectReceived(world, (*all)[r], static_cast<int64_t>(r));
  }
}

// Rows are returned unchanged, so every token comes back as often as ranks had it.
TEST(MoeReferenceTest, CombineOfWhatWasDispatchedCountsRanks) {
  std::minstd_rand random(2);
  for (int round = 0; round < kRounds / 4 && !HasFailure(); ++round) {
    SCOPED_TRACE(round);
    MoeSizes sizes = randomMoeSizes(random, kMaxTokens);
    sizes.dtype = kCollBf16;
    sizes.numScales = 0;
    std::vector<MoeRankCase> world = randomMoeCase(sizes, random);
    // Powers of two, so that sums are exact.
    for (MoeRankCase &rank : world)
      for (size_t i = 0; i < rank.x.size() / 2; ++i) {
        const uint16_t value = f32ToBf16(static_cast<float>(1 << (i % 7)));
        std::memcpy(rank.x.data() + 2 * i, &value, 2);
      }
    auto all = moeReferenceDispatch(callsOf(world), {});
    ASSERT_TRUE(all.ok());
    std::vector<MoeCombine> calls(world.size());
    std::vector<MoeHostHandle> handles;
    std::vector<std::vector<uint16_t>> out(world.size());
    std::vector<std::vector<float>> outWeights(world.size());
    for (size_t r = 0; r < world.size(); ++r) {
      const MoeHostReceived &received = (*all)[r];
      handles.push_back(received.handle);
      out[r].resize(world[r].x.size() / 2);
      outWeights[r].resize(world[r].topkIdx.size());
      calls[r].x = received.x.data();
      calls[r].numRows = received.handle.numRecv;
      calls[r].hidden = sizes.hidden;
      calls[r].topkWeights = received.topkWeights.data();
      calls[r].numTopk = sizes.numTopk;
      calls[r].bias[r % 2] = world[r].x.data();
      calls[r].out = out[r].data();
      calls[r].outWeights = outWeights[r].data();
    }
    const Status status = moeReferenceCombine(calls, handles);
    ASSERT_TRUE(status.ok()) << status.toString();
    for (size_t r = 0; r < world.size(); ++r)
      for (size_t i = 0; i < out[r].size(); ++i) {
        const auto token = static_cast<int64_t>(i) / sizes.hidden;
        const auto copies = ranksOf(world[r], token, sizes.numRanks).size() + 1; // and the bias
        ASSERT_EQ(bf16ToF32(out[r][i]), static_cast<float>(copies * (1 << (i % 7))));
      }
    for (size_t r = 0; r < world.size(); ++r)
      for (size_t i = 0; i < outWeights[r].size(); ++i)
        ASSERT_EQ(outWeights[r][i],
                  sizes.hasWeights && world[r].topkIdx[i] >= 0 ? world[r].topkWeights[i] : 0);
  }
}

TEST(MoeReferenceTest, CachedModeTakesTheSameRoutes) {
  std::minstd_rand random(3);
  for (int round = 0; round < 200; ++round) {
    const std::vector<MoeRankCase> world =
        randomMoeCase(randomMoeSizes(random, kMaxTokens), random);
    auto all = moeReferenceDispatch(callsOf(world), {});
    ASSERT_TRUE(all.ok());
    std::vector<MoeTokens> tokens;
    std::vector<MoeHostHandle> handles;
    for (size_t r = 0; r < world.size(); ++r) {
      tokens.push_back(world[r].tokens);
      handles.push_back((*all)[r].handle);
    }
    auto again = moeReferenceDispatchAgain(tokens, handles);
    ASSERT_TRUE(again.ok()) << again.status().toString();
    for (size_t r = 0; r < world.size(); ++r) {
      EXPECT_EQ((*again)[r].x, (*all)[r].x);
      EXPECT_EQ((*again)[r].scales, (*all)[r].scales);
      EXPECT_EQ((*again)[r].handle.recvSourceIdx, (*all)[r].handle.recvSourceIdx);
    }
  }
}

TEST(MoeReferenceTest, ChannelsAndAlignment) {
  // 5 tokens to the only rank, in 2 channels of 3 and 2.
  std::vector<int64_t> topk = {0, 1, -1, 0, 1};
  std::vector<char> x(5 * 16);
  MoeDispatchCall call;
  call.routing = {topk.data(), 5, 1, 2};
  call.tokens.x = x.data();
  call.tokens.hidden = 8;
  MoeDispatchOptions options;
  options.config.numSms = 4;
  options.expertAlignment = 16;
  auto all = moeReferenceDispatch({call}, options);
  ASSERT_TRUE(all.ok()) << all.status().toString();
  const MoeHostReceived &received = (*all)[0];
  EXPECT_EQ(received.handle.channelPrefix, (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(received.handle.sendHead, (std::vector<int32_t>{0, 1, -1, 2, 3}));
  EXPECT_EQ(received.handle.recvSourceIdx, (std::vector<int32_t>{0, 1, 3, 4}));
  EXPECT_EQ(received.tokensPerExpert, (std::vector<int32_t>{16, 16}));

  options.worstCaseTokens = 7;
  all = moeReferenceDispatch({call}, options);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)[0].x.size(), 7u * 16);
  EXPECT_EQ((*all)[0].handle.numRecv, -1);
  EXPECT_TRUE((*all)[0].tokensPerExpert.empty());

  options.worstCaseTokens = 3;
  all = moeReferenceDispatch({call}, options);
  EXPECT_EQ(all.status().toString(), "invalid call: rank 0: moe: 4 tokens for a worst case of 3");
}

TEST(MoeReferenceTest, NetRanksAreCountedOnce) {
  std::vector<int64_t> topk = {0, 1, 8, 9, 0, 15};
  const MoeRouting routing = {topk.data(), 3, 2, 16};
  auto layout = moeReferenceLayout(routing, 16);
  ASSERT_TRUE(layout.ok()) << layout.status().toString();
  EXPECT_EQ(layout->tokensPerNetRank, (std::vector<int32_t>{2, 2}));
  EXPECT_EQ(layout->tokensPerRank[0], 2);
}

std::string refusal(const MoeDispatchCall &call, const MoeDispatchOptions &options = {}) {
  return moeReferenceDispatch({call}, options).status().message();
}

TEST(MoeReferenceTest, BadInputIsRefusedByName) {
  std::vector<int64_t> topk = {0, 1, 2, 3};
  alignas(16) char x[64] = {};
  MoeDispatchCall good;
  good.routing = {topk.data(), 2, 2, 4};
  good.tokens.x = x;
  good.tokens.hidden = 8;
  EXPECT_EQ(refusal(good), "");

  topk[3] = 4;
  EXPECT_EQ(refusal(good), "rank 0: moe: `topkIdx` of token 1 has expert 4 of 4");
  topk[3] = -2;
  EXPECT_EQ(refusal(good), "rank 0: moe: `topkIdx` of token 1 has expert -2 of 4");
  topk[3] = 2;
  EXPECT_EQ(refusal(good), "rank 0: moe: `topkIdx` of token 1 has expert 2 twice");
  topk[3] = -1;
  EXPECT_EQ(refusal(good), "");

  MoeDispatchCall bad = good;
  bad.tokens.hidden = 7;
  EXPECT_EQ(refusal(bad), "rank 0: moe: a row of `x` has 14 bytes; it has to be a multiple of 16");
  bad = good;
  bad.tokens.x = x + 1;
  EXPECT_EQ(refusal(bad), "rank 0: moe: `x` is null or not aligned to 16 bytes");
  bad = good;
  bad.tokens.dtype = static_cast<CollDtype>(15);
  EXPECT_EQ(refusal(bad), "rank 0: moe: there is no type 15");
  bad = good;
  bad.tokens.numScales = 1;
  EXPECT_EQ(refusal(bad), "rank 0: moe: `scales` and numScales do not go together");
  bad.tokens.numScales = 0;
  bad.tokens.scaleStride = bad.tokens.scaleTokenStride = -1; // of nothing
  EXPECT_EQ(refusal(bad), "");
  bad = good;
  bad.routing.numTopk = 33;
  EXPECT_EQ(refusal(bad), "rank 0: moe: numTopk is 33; it must be from 1 to 32");
  bad.routing.numTopk = 32;
  bad.routing.numTokens = 0;
  EXPECT_EQ(refusal(bad), "");
  MoeDispatchOptions options;
  options.config.numSms = 3;
  EXPECT_EQ(refusal(good, options), "moe: numSms is 3; it must be even, from 2 to 128");
  options = {};
  options.expertAlignment = 0;
  EXPECT_EQ(refusal(good, options), "moe: expertAlignment is 0");
  options = {};
  options.worstCaseTokens = -1;
  EXPECT_EQ(refusal(good, options), "moe: worstCaseTokens is -1");

  MoeDispatchCall other = good;
  other.tokens.hidden = 16;
  auto two = moeReferenceDispatch({good, other}, {});
  EXPECT_EQ(two.status().message(),
            "rank 1: moe: `x` or `scales` have other rows than those of rank 0");
  good.routing.numExperts = 5;
  two = moeReferenceDispatch({good, good}, {});
  EXPECT_EQ(two.status().message(),
            "rank 0: moe: numExperts is 5, which is not a multiple of 2 ranks");
}

} // namespace
} // namespace coll::rt::test
