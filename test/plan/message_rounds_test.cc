// Rounds of messages: their number, and that each has a rank at most once on a side.

#include "test/plan/simulator.h"

#include "plan/message_rounds.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <set>

namespace coll::plan::test {
namespace {

SizedPiece pieceOf(int64_t source, int64_t target, std::vector<int64_t> extent = {4}) {
  return {std::move(extent), {source, target, {0}, {0}}};
}

TEST(MessageRoundsTest, AreAsManyAsARankHasPieces) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const int64_t ranks = 2 + below(random, 8);
    std::vector<SizedPiece> pieces;
    std::vector<size_t> sends(static_cast<size_t>(ranks)), receives(static_cast<size_t>(ranks));
    for (int64_t i = below(random, 40); i >= 0; --i) {
      const int64_t source = below(random, ranks), hops = 1 + below(random, ranks - 1);
      const int64_t target = (source + hops) % ranks;
      pieces.push_back(pieceOf(source, target));
      ++sends[static_cast<size_t>(source)];
      ++receives[static_cast<size_t>(target)];
    }
    const std::vector<RouteRound> rounds = roundsOf(ranks, pieces);
    EXPECT_EQ(rounds.size(), std::max(*std::max_element(sends.begin(), sends.end()),
                                      *std::max_element(receives.begin(), receives.end())));
    size_t moved = 0;
    for (const RouteRound &round : rounds) {
      std::set<int64_t> sources, targets;
      for (const RoutePiece &piece : round.pieces) {
        EXPECT_TRUE(sources.insert(piece.source).second) << "seed " << seed;
        EXPECT_TRUE(targets.insert(piece.target).second) << "seed " << seed;
      }
      EXPECT_TRUE(round.sends);
      moved += round.pieces.size();
    }
    EXPECT_EQ(moved, pieces.size());
  }
}

TEST(MessageRoundsTest, PiecesThatStayUseIdleRanks) {
  const std::vector<RouteRound> rounds = roundsOf(3, {pieceOf(0, 0), pieceOf(1, 2), pieceOf(2, 1)});
  ASSERT_EQ(rounds.size(), 1u);
  EXPECT_EQ(rounds[0].pieces.size(), 3u);
}

TEST(MessageRoundsTest, ShapesDoNotMix) {
  const std::vector<RouteRound> rounds = roundsOf(2, {pieceOf(0, 1, {4}), pieceOf(1, 0, {3})});
  ASSERT_EQ(rounds.size(), 2u);
  EXPECT_EQ(rounds[0].extent, (std::vector<int64_t>{3}));
  EXPECT_EQ(rounds[1].extent, (std::vector<int64_t>{4}));
}

} // namespace
} // namespace coll::plan::test
