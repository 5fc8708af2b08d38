// Executes plans of halos: each rank's buffer must hold what its iterations read.

#include "plan/halo.h"

#include <gtest/gtest.h>

#include <random>

namespace coll::plan {
namespace {

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

constexpr int64_t kPadding = -1, kNothing = 0;

// Element q of a source is 1000 * base + q + 1; padding after the end is -1.
std::vector<int64_t> blocksOf(const std::vector<HaloSource> &sources, int64_t rank) {
  std::vector<int64_t> blocks;
  for (const HaloSource &source : sources) {
    if (source.base < static_cast<int64_t>(blocks.size()))
      continue;
    for (int64_t i = 0; i < source.block; ++i) {
      const int64_t q = rank * source.block + i;
      blocks.push_back(q < source.extent ? 1000 * source.base + q + 1 : kPadding);
    }
  }
  return blocks;
}

// Returns the buffers of all ranks, with the space around them, moving elements as the compiler
// does.
std::vector<std::vector<int64_t>> execute(const HaloLoop &loop, const HaloPlan &plan,
                                          const std::vector<HaloSource> &sources) {
  std::vector<std::vector<int64_t>> buffers(
      loop.ranks, std::vector<int64_t>(plan.before + plan.length + plan.after, kNothing));
  for (const HaloRound &round : plan.rounds) {
    std::vector<bool> sends(loop.ranks), receives(loop.ranks);
    auto write = [&](int64_t rank, int64_t start, const std::vector<int64_t> &elements) {
      for (int64_t i = 0; i < round.length; ++i)
        buffers[rank].at(plan.before + start + i) = elements.at(i);
    };
    auto slice = [&](int64_t rank, int64_t start) {
      const std::vector<int64_t> blocks = blocksOf(sources, rank);
      return std::vector<int64_t>(blocks.begin() + start, blocks.begin() + start + round.length);
    };
    for (const HaloPiece &piece : round.pieces) {
      EXPECT_FALSE(sends[piece.source]) << "a rank sends twice in a round";
      EXPECT_FALSE(receives[piece.target]) << "a rank receives twice in a round";
      EXPECT_EQ(round.sends, piece.source != piece.target);
      sends[piece.source] = receives[piece.target] = true;
      write(piece.target, piece.targetStart, slice(piece.source, piece.sourceStart));
    }
    for (int64_t rank = 0; rank < loop.ranks; ++rank)
      if (!receives[rank])
        write(rank, round.idleStart,
              round.sends ? std::vector<int64_t>(round.length, kNothing)
                          : slice(rank, round.pieces.front().sourceStart));
  }
  return buffers;
}

void expectReads(const HaloLoop &loop, const std::vector<HaloSource> &sources) {
  const HaloPlan plan = planHalo(loop, sources);
  if (plan.gathers)
    return;
  const auto buffers = execute(loop, plan, sources);
  for (int64_t i = 0; i < loop.iterations; ++i) {
    const int64_t rank = i / loop.block;
    for (size_t s = 0; s < sources.size(); ++s) {
      const Reach &reach = sources[s].reach;
      const int64_t start = haloStart(loop, sources[s], rank);
      for (int64_t at = reach.step * i + reach.first; at <= reach.step * i + reach.last; ++at) {
        if (at % reach.spread != 0)
          continue;
        const int64_t q = at / reach.spread;
        const int64_t read = buffers[rank].at(plan.before + q - start);
        if (q >= sources[s].begin && q < sources[s].extent) {
          EXPECT_EQ(read, 1000 * sources[s].base + q + 1) << "iteration " << i << " of " << s;
        } else if (sources.size() == 1 && !plan.readsPadding) {
          EXPECT_EQ(read, kNothing) << "iteration " << i << " reads outside";
        }
      }
    }
  }
}

HaloSource sourceOver(int64_t ranks, int64_t extent, Reach reach) {
  return {reach, extent, ceilDiv(extent, ranks)};
}

TEST(HaloTest, AWindowOfThreeSendsOneElementEachWay) {
  const HaloLoop loop{4, 16, 4};
  const HaloPlan plan = planHalo(loop, {{{1, -1, 1, 1}, 16, 4}});
  EXPECT_EQ(plan.sent(), 2);
  EXPECT_EQ(plan.rounds.size(), 3u);
  EXPECT_EQ(plan.length, 6);
  EXPECT_TRUE(plan.readsOutside);
  EXPECT_FALSE(plan.readsPadding);
  EXPECT_EQ(haloReceived(loop, {{1, -1, 1, 1}, 16, 4}), 2);
}

TEST(HaloTest, AStrideOfTwoSendsOneElement) {
  EXPECT_EQ(planHalo({4, 8, 2}, {{{2, 0, 2, 1}, 16, 4}}).sent(), 1);
}

TEST(HaloTest, AWindowLargerThanABlockReachesSeveralNeighbours) {
  const HaloPlan plan = planHalo({8, 16, 2}, {{{1, -3, 3, 1}, 16, 2}});
  EXPECT_FALSE(plan.gathers);
  EXPECT_EQ(plan.sent(), 6);
}

TEST(HaloTest, AGlobalWindowGathers) {
  EXPECT_TRUE(planHalo({4, 16, 4}, {{{1, -15, 15, 1}, 16, 4}}).gathers);
}

TEST(HaloTest, AConcatenationIsAsManyRoundsAsARankHasBlocks) {
  const std::vector<HaloSource> sources = {{{1, 0, 0, 1}, 64, 8}, {{1, -64, -64, 1}, 64, 8, 0, 8}};
  const HaloPlan plan = planHalo({8, 128, 16}, sources);
  EXPECT_EQ(plan.sent(), 16);
}

TEST(HaloTest, ARollSendsWhatItMoves) {
  // The last element, and those before it.
  const std::vector<HaloSource> sources = {{{1, 15, 15, 1}, 16, 4, 15}, {{1, -1, -1, 1}, 15, 4}};
  const HaloPlan plan = planHalo({4, 16, 4}, sources);
  EXPECT_EQ(plan.sent(), 1);
  expectReads({4, 16, 4}, sources);
}

TEST(HaloTest, AnIrregularPlanOverManyRanksGathersAConcatenation) {
  EXPECT_TRUE(
      planHalo({1024, 4096, 4}, {{{1, 0, 0, 1}, 1024, 1}, {{1, -1024, -1024, 1}, 3072, 3, 0, 1}})
          .gathers);
}

TEST(HaloTest, RandomWindowsReadTheirElements) {
  std::mt19937 random(3);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 3000; ++trial) {
    const int64_t ranks = pick(1, 7), extent = pick(1, 40), iterations = pick(1, 40);
    const int64_t first = pick(-6, 6);
    const Reach reach{pick(1, 3), first, first + pick(0, 6), pick(1, 3)};
    SCOPED_TRACE("ranks " + std::to_string(ranks) + ", extent " + std::to_string(extent) +
                 ", iterations " + std::to_string(iterations) + ", step " +
                 std::to_string(reach.step) + ", first " + std::to_string(reach.first) + ", last " +
                 std::to_string(reach.last) + ", spread " + std::to_string(reach.spread));
    expectReads({ranks, iterations, ceilDiv(iterations, ranks)},
                {sourceOver(ranks, extent, reach)});
    if (HasFailure())
      return;
  }
}

TEST(HaloTest, RandomConcatenationsReadTheirElements) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    const int64_t ranks = 1 + random() % 7;
    std::vector<HaloSource> sources;
    int64_t total = 0;
    for (size_t part = 0, parts = 2 + random() % 3; part < parts; ++part) {
      const int64_t extent = 1 + random() % 20;
      const int64_t base = sources.empty() ? 0 : sources.back().base + sources.back().block;
      sources.push_back(sourceOver(ranks, extent, {1, -total, -total, 1}));
      sources.back().base = base;
      total += extent;
    }
    SCOPED_TRACE("ranks " + std::to_string(ranks) + ", total " + std::to_string(total));
    expectReads({ranks, total, ceilDiv(total, ranks)}, sources);
    if (HasFailure())
      return;
  }
}

} // namespace
} // namespace coll::plan
