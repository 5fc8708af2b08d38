// Routes of tokens between nodes: data from other ranks is checked.

#include "runtime/exchange/moe/routes.h"

#include <gtest/gtest.h>

namespace coll::rt::test {
namespace {

// Two nodes of two ranks; this is rank 0, and rank 2 is its counterpart.
class MoeRoutesTest : public testing::Test {
protected:
  MoeRoutesTest() {
    for (MoeCounts &counts : counts_) {
      counts.numTokens = 3;
      counts.perRank = {0, 0, 0, 0};
      counts.perNode = {0, 0};
      counts.perExpert = {0};
    }
    // Rank 2's token 0 goes to rank 1, and its token 2 to ranks 0 and 1.
    counts_[2].perRank = {1, 2, 0, 0};
    counts_[2].perNode = {2, 0};
    there_[1] = {{0, 2}, {2, 3}};
    // Rank 1's token 1 goes to rank 1.
    counts_[1].perRank = {0, 1, 0, 0};
  }
  std::string refusal() const {
    return makeMoeRoutes(world_, counts_, here_, there_).status().toString();
  }

  const MoeWorld world_ = {0, 4, 2};
  std::vector<MoeCounts> counts_ = std::vector<MoeCounts>(4);
  std::vector<std::vector<MoeRoute>> here_ = {{}, {}}, there_ = {{}, {}};
};

TEST_F(MoeRoutesTest, RowsFollowRanksAndTokens) {
  const uint8_t isTokenInRank[3][4] = {{0, 1, 1, 0}, {0, 0, 0, 0}, {1, 0, 1, 1}};
  here_ = moeRoutesOf(world_, &isTokenInRank[0][0], 3);
  counts_[0].perRank = {1, 1, 2, 1};
  counts_[0].perNode = {2, 2};
  auto made = makeMoeRoutes(world_, counts_, here_, there_);
  ASSERT_TRUE(made.ok()) << made.status().toString();
  const MoeRoutes &routes = **made;
  EXPECT_EQ(routes.ownRows, (std::vector<int32_t>{-1, 0, -1, -1, 0, -1}));
  EXPECT_EQ(routes.relayRows, (std::vector<int32_t>{-1, 2, 1, 3}));
  EXPECT_EQ(routes.relaySource, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(routes.sendTokens, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(routes.places, (std::vector<int32_t>{-1, 0, -1, -1, -1, 1}));
  EXPECT_EQ(routes.memberTokens, (std::vector<int32_t>{2, 4}));
  EXPECT_EQ(routes.numReceived(), 2);
  EXPECT_EQ(routes.maxReceived, 4);
  EXPECT_EQ(routes.maxReceiver, 1);
}

TEST_F(MoeRoutesTest, RoutesThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal(), "ok");
  const auto good = there_[1];
  const auto with = [&](auto change) {
    there_[1] = good;
    change(there_[1]);
    return refusal();
  };
  const std::string none = "mismatch: rank 2 sends an invalid route";
  EXPECT_EQ(with([](auto &routes) { routes[1].token = 3; }), none);
  EXPECT_EQ(with([](auto &routes) { routes[1].token = 0; }), none);
  EXPECT_EQ(with([](auto &routes) { routes[0].token = -1; }), none);
  EXPECT_EQ(with([](auto &routes) { routes[0].members = 0; }), none);
  EXPECT_EQ(with([](auto &routes) { routes[0].members = 4; }), none);
  EXPECT_EQ(with([](auto &routes) { routes[0].members = 3; }),
            "mismatch: rank 2 routes more tokens than it has counted");
  EXPECT_EQ(with([](auto &routes) { routes.pop_back(); }),
            "mismatch: rank 2 routes fewer tokens than it has counted");
}

TEST_F(MoeRoutesTest, CountsThatCannotBeAreRefused) {
  const auto with = [&](auto change) {
    MoeCounts counts = counts_[2];
    change(counts);
    return checkMoeCounts(world_, 2, counts).toString();
  };
  EXPECT_EQ(with([](auto &) {}), "ok");
  EXPECT_EQ(with([](auto &counts) { counts.numTokens = -1; }),
            "mismatch: rank 2 says that it has -1 tokens");
  const std::string more = "mismatch: rank 2 has counted more tokens than it has";
  EXPECT_EQ(with([](auto &counts) { counts.perRank[0] = 4; }), more);
  EXPECT_EQ(with([](auto &counts) { counts.perNode[1] = -1; }), more);
  EXPECT_EQ(with([](auto &counts) { counts.perRank.pop_back(); }),
            "mismatch: rank 2 sent counts for other ranks");
  EXPECT_EQ(with([](auto &counts) { counts.perExpert[0] = INT32_MAX; }),
            "mismatch: rank 2 has counted too many tokens for an expert");
}

} // namespace
} // namespace coll::rt::test
