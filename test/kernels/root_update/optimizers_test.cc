// The optimizers compared with their formulas, written out in double; the plans of roots.

#include "runtime/kernels/root_update/root_update.h"
#include "test/kernels/root_update/clipped_sgd.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <numeric>

namespace coll::kernels {
namespace {

struct State {
  double parameter, first = 0, second = 0;
};
using Formula = std::function<void(State &, double gradient, double rate, int t)>;

// Makes 60 steps from several parameters with gradients and rates that change.
void expectFormula(const AnyOptimizer &optimizer, const Formula &formula) {
  for (double start : {0.7, -3.0, 1e-3, 40.0}) {
    State exact{start};
    float parameter = static_cast<float>(start);
    float slots[kMaxOptimizerSlots] = {};
    for (int t = 1; t <= 60; ++t) {
      const double gradient = std::sin(0.37 * t + start) * (1 + t % 7);
      const double rate = 0.01 / (1 + 0.02 * t);
      const UpdateStep now{static_cast<float>(rate), 1, static_cast<uint64_t>(t)};
      parameter = elementUpdate(optimizer, now)(parameter, static_cast<float>(gradient), slots);
      formula(exact, gradient, rate, t);
      ASSERT_NEAR(parameter, exact.parameter, 2e-6 * (1 + std::abs(exact.parameter)))
          << "step " << t << " from " << start;
    }
  }
}

TEST(Optimizers, SgdFollowsItsFormula) {
  expectFormula(Sgd{}, [](State &s, double g, double rate, int) { s.parameter -= rate * g; });
  expectFormula(Sgd{0.1f}, [](State &s, double g, double rate, int) {
    s.parameter -= rate * (g + 0.1 * s.parameter);
  });
}

TEST(Optimizers, MomentumFollowsItsFormula) {
  for (bool nesterov : {false, true})
    expectFormula(Momentum{0.9f, 0.01f, nesterov}, [=](State &s, double g, double rate, int) {
      g += 0.01 * s.parameter;
      s.first = 0.9 * s.first + g;
      s.parameter -= rate * (nesterov ? g + 0.9 * s.first : s.first);
    });
}

void adamMove(State &s, double g, double rate, int t) {
  s.first = 0.9 * s.first + 0.1 * g;
  s.second = 0.999 * s.second + 0.001 * g * g;
  const double m = s.first / (1 - std::pow(0.9, t)), v = s.second / (1 - std::pow(0.999, t));
  s.parameter -= rate * m / (std::sqrt(v) + 1e-8);
}

TEST(Optimizers, AdamFollowsItsFormula) {
  expectFormula(Adam{}, adamMove);
  expectFormula(Adam{0.9, 0.999, 1e-8f, 0.02f}, [](State &s, double g, double rate, int t) {
    adamMove(s, g + 0.02 * s.parameter, rate, t);
  });
}

TEST(Optimizers, AdamWFollowsItsFormula) {
  expectFormula(AdamW{{0.9, 0.999, 1e-8f, 0.1f}}, [](State &s, double g, double rate, int t) {
    s.parameter *= 1 - rate * 0.1;
    adamMove(s, g, rate, t);
  });
}

TEST(Optimizers, LionFollowsItsFormula) {
  expectFormula(Lion{0.9, 0.99, 0.1f}, [](State &s, double g, double rate, int) {
    const double c = 0.9 * s.first + 0.1 * g;
    s.parameter = s.parameter * (1 - rate * 0.1) - rate * ((c > 0) - (c < 0));
    s.first = 0.99 * s.first + 0.01 * g;
  });
}

TEST(Optimizers, RmsPropFollowsItsFormula) {
  expectFormula(RmsProp{0.9, 1e-6f, 0.03f}, [](State &s, double g, double rate, int) {
    g += 0.03 * s.parameter;
    s.first = 0.9 * s.first + 0.1 * g * g;
    s.parameter -= rate * g / (std::sqrt(s.first) + 1e-6);
  });
}

TEST(Optimizers, NanGradientsStayVisible) {
  const UpdateStep now{0.1f, 1, 1};
  for (const AnyOptimizer &optimizer :
       std::vector<AnyOptimizer>{Sgd{}, Momentum{}, Adam{}, AdamW{}, Lion{}, RmsProp{}}) {
    float slots[kMaxOptimizerSlots] = {};
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(elementUpdate(optimizer, now)(1.0f, nan, slots)));
  }
}

TEST(Optimizers, PowersOfManySteps) {
  EXPECT_EQ(power(0.9, 0), 1);
  EXPECT_EQ(power(0.5, 10), 1.0 / 1024);
  for (uint64_t t : {1ull, 7ull, 1000ull, 123456ull})
    EXPECT_NEAR(power(0.999, t), std::pow(0.999, static_cast<double>(t)), 1e-12);
  EXPECT_EQ(power(0.9, uint64_t{1} << 40), 0);
}

TEST(RootPlan, ShardsCoverEveryElementOnce) {
  for (int ranks : {1, 2, 3, 4, 7, 8})
    for (uint64_t count : {0u, 1u, 15u, 16u, 17u, 100u, 1000u, 4096u}) {
      const auto plan = planShards(count, ranks);
      ASSERT_TRUE(plan.ok());
      EXPECT_TRUE(plan->spans.empty());
      uint64_t next = 0;
      for (int r = 0; r < ranks; ++r) {
        const UpdateSpan &span = plan->table.shards[r];
        if (span.count == 0)
          continue;
        EXPECT_EQ(span.gradient, next);
        EXPECT_EQ(span.parameter, next);
        EXPECT_EQ(span.gradient % kUpdateGrain, 0u);
        EXPECT_GE(plan->stateElems(r), span.count);
        next += span.count;
      }
      EXPECT_EQ(next, count) << ranks << " ranks";
    }
}

TEST(RootPlan, ParametersStandInTheListOfTheirRoot) {
  const auto plan =
      planRoots({{5, 1, 0, 100}, {0, 0, 5, 105}, {40, 0, 5, 105}, {7, 1, 45, 145}}, 3);
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan->spans.size(), 3u);
  EXPECT_EQ(plan->spans[0].count, 40u); // root 0 first
  EXPECT_EQ(plan->spans[1].position, 0u);
  EXPECT_EQ(plan->spans[2].position, kUpdateGrain);
  EXPECT_EQ(plan->spans[2].state, kUpdateGrain);
  EXPECT_EQ(plan->spans[2].gradient, 45u);
  EXPECT_EQ(plan->spans[2].parameter, 145u);
  EXPECT_EQ(plan->stateElems(0), 48u);
  EXPECT_EQ(plan->stateElems(1), 32u);
  EXPECT_EQ(plan->stateElems(2), 0u);
  EXPECT_EQ(plan->table.first[3], 3u);
}

TEST(RootPlan, RefusesWhatCannotBe) {
  EXPECT_EQ(planRoots({{5, 3, 0, 0}}, 3).status().code(), kCollInvalidCall);
  EXPECT_EQ(planRoots({{5, -1, 0, 0}}, 3).status().code(), kCollInvalidCall);
  EXPECT_EQ(planRoots({{~uint64_t{0}, 0, 0, 0}}, 3).status().code(), kCollInvalidCall);
  EXPECT_EQ(planRoots({{1, 0, ~uint64_t{0}, 0}}, 3).status().code(), kCollInvalidCall);
  EXPECT_EQ(planRoots({}, 0).status().code(), kCollInvalidCall);
  EXPECT_EQ(planRoots({}, 9).status().code(), kCollInvalidCall);
  EXPECT_EQ(planShards(~uint64_t{0}, 2).status().code(), kCollInvalidCall);
  EXPECT_EQ(planShards(1, 9).status().code(), kCollInvalidCall);
}

TEST(RootPlan, BalancedRootsDifferByOneParameterAtMost) {
  const std::vector<uint64_t> counts = {1, 50, 3, 20, 20, 7, 9, 30, 1, 1};
  const std::vector<int> roots = balanceRoots(counts, 3);
  std::vector<uint64_t> load(3);
  for (size_t i = 0; i < counts.size(); ++i)
    load[static_cast<size_t>(roots[i])] += counts[i];
  EXPECT_EQ(std::accumulate(load.begin(), load.end(), uint64_t{0}), 142u);
  EXPECT_LE(*std::max_element(load.begin(), load.end()), 50u);
  EXPECT_EQ(balanceRoots({}, 2), std::vector<int>{});
}

} // namespace
} // namespace coll::kernels
