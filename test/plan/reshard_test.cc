// Plans of reshards: their effect on numbers, the bytes that they send, and how long planning
// takes.

#include "test/plan/simulator.h"

#include <ctime>
#include <gtest/gtest.h>

namespace coll::plan::test {
namespace {

Layout layoutOf(const Mesh &mesh, const std::vector<int64_t> &shape,
                const std::vector<std::vector<int>> &dims, std::vector<int> partial = {}) {
  Layout layout;
  for (size_t d = 0; d < shape.size(); ++d)
    layout.dims.push_back(splitOver(mesh, dims[d], shape[d]));
  layout.partial = std::move(partial);
  return layout;
}

std::string movesOf(const Mesh &mesh, const MovePlan &plan) {
  std::string text;
  for (const Move &move : plan.moves)
    text += (text.empty() ? "" : "; ") + describe(mesh, move);
  return text;
}

class ReshardTest : public testing::Test {
protected:
  std::string plan(const std::vector<std::vector<int>> &from,
                   const std::vector<std::vector<int>> &to, std::vector<int> partial = {},
                   std::vector<int> toPartial = {}) {
    const Result<MovePlan> result =
        planner.plan(shape, 4, layoutOf(mesh, shape, from, std::move(partial)),
                     layoutOf(mesh, shape, to, std::move(toPartial)));
    if (!result)
      return result.error();
    least = result->leastBytes;
    sent = result->wireBytes;
    return movesOf(mesh, *result);
  }

  Mesh mesh = meshOf({2, 4});
  ReshardPlanner planner{mesh};
  std::vector<int64_t> shape = {16, 8};
  int64_t least = 0, sent = 0;
};

TEST_F(ReshardTest, SlicesBeforeItGathers) {
  EXPECT_EQ(plan({{0}, {}}, {{}, {1}}),
            "slice dim 1 over [b]: 0 bytes; all_gather dim 0 over [a]: 512 bytes");
  EXPECT_EQ(sent, least);
}

TEST_F(ReshardTest, SplitsFurtherWithoutSending) {
  EXPECT_EQ(plan({{0}, {}}, {{0, 1}, {}}), "slice dim 0 over [b]: 0 bytes");
  EXPECT_EQ(plan({{}, {}}, {{0, 1}, {}}), "slice dim 0 over [a,b]: 0 bytes");
}

TEST_F(ReshardTest, GathersOnlyAxesThatLeave) {
  EXPECT_EQ(plan({{0, 1}, {}}, {{0}, {}}), "all_gather dim 0 over [b]: 1536 bytes");
  EXPECT_EQ(plan({{0, 1}, {}}, {{0}, {1}}), "all_to_all dim 0 to dim 1 over [b]: 384 bytes");
}

TEST_F(ReshardTest, ReordersAxesByPermute) {
  EXPECT_EQ(plan({{0, 1}, {}}, {{1, 0}, {}}), "permute over [a,b]: 384 bytes");
  EXPECT_EQ(sent, least);
}

TEST_F(ReshardTest, ScattersSumsBeforeItReducesThem) {
  EXPECT_EQ(plan({{}, {}}, {{0}, {}}, {0, 1}),
            "reduce_scatter dim 0 over [a]: 2048 bytes; all_reduce over [b]: 3072 bytes");
  EXPECT_EQ(sent, least);
  EXPECT_EQ(plan({{}, {}}, {{0, 1}, {}}, {0, 1}), "reduce_scatter dim 0 over [a,b]: 3584 bytes");
  EXPECT_EQ(plan({{}, {}}, {{}, {}}, {0, 1}), "all_reduce over [a,b]: 7168 bytes");
}

TEST_F(ReshardTest, BecomesPartialWithoutSending) {
  EXPECT_EQ(plan({{}, {}}, {{}, {}}, {}, {1}), "make_partial over [b]: 0 bytes");
  EXPECT_EQ(plan({{1}, {}}, {{}, {}}, {}, {1}), "make_partial dim 0 over [b]: 0 bytes");
}

TEST_F(ReshardTest, AxesOfSizeOneAreNoDifference) {
  mesh = meshOf({1, 4});
  planner = ReshardPlanner(mesh);
  EXPECT_EQ(plan({{0, 1}, {}}, {{1, 0}, {}}), "");
  EXPECT_EQ(plan({{1}, {0}}, {{0, 1}, {}}, {}, {}), "");
  EXPECT_EQ(plan({{}, {}}, {{}, {}}, {0}), "");
}

TEST_F(ReshardTest, UnevenSumsAreScattered) {
  shape = {7, 3};
  EXPECT_EQ(plan({{}, {}}, {{1}, {}}, {1}), "reduce_scatter dim 0 over [b]: 576 bytes");
}

TEST_F(ReshardTest, BadLayoutsAreNamed) {
  EXPECT_EQ(plan({{0}, {0}}, {{}, {}}), "source: dimension 1: axis \"a\" is used twice");
  EXPECT_EQ(plan({{}, {}}, {{1}, {}}, {}, {1}), "target: partial: axis \"b\" is used twice");
  Layout layout = replicated(shape);
  layout.dims[0] = {{7}, 16};
  EXPECT_EQ(planner.plan(shape, 4, layout, layout).error(),
            "source: dimension 0: the mesh has 2 axes, and none numbered 7");
  layout.dims[0] = {{1}, 3};
  EXPECT_EQ(planner.plan(shape, 4, layout, layout).error(),
            "source: dimension 0: 4 blocks of 3 do not cover its 16 elements");
  layout.dims.pop_back();
  EXPECT_EQ(planner.plan(shape, 4, layout, layout).error(),
            "source: the layout has 1 dimensions, the tensor 2");
}

TEST_F(ReshardTest, TargetsOfOneValueShareABase) {
  // A gradient that is summed for a norm, and scattered for the update.
  const Layout partial = layoutOf(mesh, shape, {{}, {}}, {0, 1});
  const Layout whole = layoutOf(mesh, shape, {{}, {}});
  const Layout split = layoutOf(mesh, shape, {{0, 1}, {}});
  const Result<TargetsPlan> shared = planner.planTargets(shape, 4, partial, {whole, split});
  ASSERT_TRUE(shared.ok()) << shared.error();
  EXPECT_EQ(movesOf(mesh, shared->toBase), "all_reduce over [a,b]: 7168 bytes");
  EXPECT_TRUE(shared->toTargets[0].moves.empty());
  EXPECT_EQ(movesOf(mesh, shared->toTargets[1]), "slice dim 0 over [a,b]: 0 bytes");
  // Targets that have nothing in common keep the source as their base.
  const Result<TargetsPlan> apart =
      planner.planTargets(shape, 4, whole, {split, layoutOf(mesh, shape, {{}, {1}})});
  ASSERT_TRUE(apart.ok()) << apart.error();
  EXPECT_EQ(apart->base, whole);
}

TEST_F(ReshardTest, RoutesWhatCollectivesMoveTwice) {
  planner = ReshardPlanner(mesh, CostModel::byBytes(0));
  EXPECT_EQ(plan({{0}, {1}}, {{1}, {}}), "route over [a,b] in 4 rounds: 896 bytes");
  EXPECT_EQ(sent, least);
  EXPECT_EQ(plan({{1}, {}}, {{0}, {}}, {0}), "route over [a,b] in 4 rounds: 2048 bytes");
  EXPECT_EQ(sent, least);
  EXPECT_EQ(plan({{}, {}}, {{0}, {}}, {0}), "reduce_scatter dim 0 over [a]: 2048 bytes");
  // A route's calls count: of small tensors, collectives move some elements twice.
  planner = ReshardPlanner(mesh);
  plan({{0}, {1}}, {{1}, {}});
  EXPECT_GT(sent, least);
}

TEST_F(ReshardTest, BytesBeyondAllCountsAreNotRouted) {
  planner = ReshardPlanner(mesh, CostModel::byBytes(0));
  shape = {int64_t{1} << 31, int64_t{1} << 31};
  for (const std::string &moves : {plan({{0}, {1}}, {{1}, {}}), plan({{1}, {}}, {{0}, {}}, {0})})
    EXPECT_EQ(moves.find("route"), std::string::npos) << moves;
}

// What sends more than the bound, by the reasons that a certificate gives.
TEST(ReshardRandomTest, PlansDoWhatTheTargetSays) {
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Random random(seed);
    const ReshardCase reshard = randomCase(random);
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(reshard));
    const bool areCallsFree = seed % 2 == 0;
    ReshardPlanner planner(reshard.mesh,
                           areCallsFree ? CostModel::byBytes(0) : CostModel::byBytes());
    const Result<MovePlan> plan =
        planner.plan(reshard.reshard.shape, 4, reshard.reshard.from, reshard.reshard.to);
    ASSERT_TRUE(plan.ok()) << plan.error();
    int64_t sent = 0;
    EXPECT_EQ(simulate(reshard, plan->moves, random, sent), "") << movesOf(reshard.mesh, *plan);
    EXPECT_EQ(sent, plan->wireBytes) << movesOf(reshard.mesh, *plan);
    EXPECT_GE(plan->wireBytes, plan->leastBytes) << movesOf(reshard.mesh, *plan);
    EXPECT_EQ(plan->wireBytes > plan->leastBytes, plan->routing != Routing::Unneeded);
    if (areCallsFree) {
      EXPECT_NE(plan->routing, Routing::Slower) << movesOf(reshard.mesh, *plan);
    }
    if (HasFailure())
      return;
  }
}

TEST(ReshardRandomTest, TargetsAreReachedFromTheBase) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    ReshardCase reshard = randomCase(random, /*axes=*/3);
    const std::vector<int64_t> &shape = reshard.reshard.shape;
    const Layout source = reshard.reshard.from;
    std::vector<Layout> targets = {reshard.reshard.to};
    for (int64_t i = below(random, 3); i >= 0; --i)
      targets.push_back(canonical(reshard.mesh, shape, randomLayout(random, reshard.mesh, shape)));
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + describe(reshard));
    ReshardPlanner planner(reshard.mesh);
    const Result<TargetsPlan> plan = planner.planTargets(shape, 4, source, targets);
    ASSERT_TRUE(plan.ok()) << plan.error();
    int64_t sent = 0;
    reshard.reshard.to = plan->base;
    EXPECT_EQ(simulate(reshard, plan->toBase.moves, random, sent), "");
    double apart = 0, together = plan->toBase.cost;
    for (size_t i = 0; i < targets.size(); ++i) {
      apart += planner.plan(shape, 4, source, targets[i])->cost;
      together += plan->toTargets[i].cost;
      reshard.reshard = {shape, 4, plan->base, targets[i]};
      EXPECT_EQ(simulate(reshard, plan->toTargets[i].moves, random, sent), "");
    }
    EXPECT_LE(together, apart * (1 + 1e-9));
    if (HasFailure())
      return;
  }
}

// Even blocks on three axes: the sum over random changes of layout must be near the bound. Plans in
// which an element moves twice are above the bound (see reshard_certificate.h).
TEST(ReshardRandomTest, BytesAreNearTheBound) {
  Random random(3);
  const Mesh mesh = meshOf({2, 2, 2});
  const std::vector<int64_t> shape = {32, 32, 32};
  double sent = 0, least = 0;
  for (int i = 0; i < 500; ++i) {
    Layout from = randomLayout(random, mesh, shape), to = randomLayout(random, mesh, shape);
    to.partial.clear();
    for (Layout *layout : {&from, &to})
      for (size_t d = 0; d < shape.size(); ++d)
        layout->dims[d] = splitOver(mesh, layout->dims[d].axes, shape[d]);
    const Result<MovePlan> plan = ReshardPlanner(mesh).plan(shape, 4, from, to);
    ASSERT_TRUE(plan.ok()) << plan.error();
    sent += static_cast<double>(plan->wireBytes);
    least += static_cast<double>(plan->leastBytes);
  }
  EXPECT_LE(sent, 1.25 * least);
}

// Times are recorded, without a limit: microseconds of processor time per plan, without the cache
// of plans.
TEST(ReshardRandomTest, FourAxesArePlannedQuickly) {
  Random random(7);
  const Mesh mesh = meshOf({2, 2, 2, 2});
  const std::vector<int64_t> shape = {32, 32, 32};
  double total = 0, most = 0;
  constexpr int kPlans = 300;
  for (int i = 0; i < kPlans; ++i) {
    const Layout from = randomLayout(random, mesh, shape), to = randomLayout(random, mesh, shape);
    ReshardPlanner planner(mesh);
    const std::clock_t start = std::clock();
    ASSERT_TRUE(planner.plan(shape, 4, from, to).ok());
    const double us = 1e6 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    total += us;
    most = std::max(most, us);
  }
  RecordProperty("mean_us", static_cast<int>(total / kPlans));
  RecordProperty("most_us", static_cast<int>(most));
}

// With more axes than the search can handle, everything is gathered, with a correct result.
TEST(ReshardTooLargeTest, GathersWhatCannotBeSearched) {
  ReshardCase reshard;
  reshard.mesh = meshOf(std::vector<int64_t>(9, 2));
  Reshard &change = reshard.reshard;
  change.shape = {512, 3};
  change.elemBytes = 4;
  change.from = replicated(change.shape);
  change.from.dims[0] = splitOver(reshard.mesh, {0, 1, 2, 3, 4}, 512);
  change.from.partial = {5};
  change.to = replicated(change.shape);
  change.to.dims[0] = splitOver(reshard.mesh, {8, 7, 6, 5}, 512);
  const Result<MovePlan> plan =
      ReshardPlanner(reshard.mesh).plan(change.shape, 4, change.from, change.to);
  ASSERT_TRUE(plan.ok()) << plan.error();
  EXPECT_EQ(plan->moves.size(), 3u);
  Random random(1);
  int64_t sent = 0;
  EXPECT_EQ(simulate(reshard, plan->moves, random, sent), "");
  EXPECT_EQ(sent, plan->wireBytes);
}

} // namespace
} // namespace coll::plan::test
