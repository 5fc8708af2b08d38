// How coll-perf checks results: correct ones pass, and each wrong element counts once.

#include "tools/coll-perf/op/data.h"

#include "runtime/base/dtype.h"

#include <gtest/gtest.h>

namespace coll::perf {
namespace {

struct DataCase {
  const char *op;
  CollDtype dtype;
};

class PerfDataTest : public ::testing::TestWithParam<DataCase> {
protected:
  PerfDataTest() {
    plan_.op = GetParam().op;
    plan_.dtype = GetParam().dtype;
    plan_.ranks = 3;
    plan_.root = 1;
    size_ = rt::dtypeSize(plan_.dtype);
  }

  // Longer than a period, and not a multiple of anything.
  static constexpr int64_t kCount = 150'001;

  // The source of a rank.
  std::vector<char> sourceOf(int rank) {
    const int64_t count = Reference(plan_, kCount).extent(rank).src;
    std::vector<char> source(static_cast<size_t>(count * size_));
    Pattern(plan_, rank).fill(0, count, source.data());
    return source;
  }
  // Checks in two parts, as data from a GPU is checked.
  int64_t wrongIn(int rank, const std::vector<char> &result) {
    const Reference reference(plan_, kCount);
    const int64_t count = reference.extent(rank).dst, first = count / 3;
    Pattern pattern(plan_, rank);
    return pattern.wrong(reference, 0, first, result.data()) +
           pattern.wrong(reference, first, count - first, result.data() + first * size_);
  }
  // The result of rank 0 of an all_to_all, broadcast or all_gather.
  std::vector<char> copiesForRank0() {
    if (plan_.op == std::string("broadcast"))
      return sourceOf(plan_.root);
    std::vector<char> result;
    for (int rank = 0; rank < plan_.ranks; ++rank) {
      std::vector<char> source = sourceOf(rank);
      result.insert(result.end(), source.begin(), source.begin() + kCount * size_);
    }
    return result;
  }

  OpPlan plan_;
  int64_t size_ = 0;
};

TEST_P(PerfDataTest, CountsWrongCopies) {
  std::vector<char> result = copiesForRank0();
  EXPECT_EQ(wrongIn(0, result), 0);
  for (size_t at : {size_t{0}, result.size() / 3 - 1, result.size() / 2, result.size() - 1})
    result[at] = static_cast<char>(result[at] ^ 1);
  EXPECT_EQ(wrongIn(0, result), 4);
}

INSTANTIATE_TEST_SUITE_P(Ops, PerfDataTest,
                         ::testing::Values(DataCase{"broadcast", kCollF32},
                                           DataCase{"all_gather", kCollBf16},
                                           DataCase{"all_to_all", kCollI64}));

// The first step, computed element by element with the reference of the kernels.
TEST(PerfDataTest, CountsWrongParameters) {
  for (CollDtype dtype : {kCollF32, kCollBf16})
    for (const char *optimizer : {"sgd", "momentum", "adam", "adamw", "lion", "rmsprop"}) {
      OpPlan plan;
      plan.op = "root_update";
      plan.ranks = 3;
      plan.dtype = dtype;
      plan.optimizer = optimizer;
      const int64_t count = 150'001;
      const size_t bytes = static_cast<size_t>(count * rt::dtypeSize(dtype));
      const kernels::RootPlan shards = kernels::planShards(count, 3).take();
      std::vector<std::vector<char>> gradients, parameters;
      std::vector<std::vector<float>> state;
      for (int rank = 0; rank < 3; ++rank) {
        gradients.emplace_back(bytes);
        parameters.emplace_back(bytes);
        Pattern(plan, rank).fill(0, count, gradients.back().data());
        Pattern(plan, rank).fillParameters(0, count, parameters.back().data());
        for (int slot = 0; slot < 2; ++slot)
          state.emplace_back(shards.stateElems(rank));
        state.emplace_back(shards.stateElems(rank));
        Pattern::parameters(plan, static_cast<int64_t>(shards.table.shards[rank].parameter),
                            state.back());
      }
      std::vector<kernels::RootUpdate> calls(3);
      for (size_t rank = 0; rank < 3; ++rank) {
        calls[rank].gradientType = calls[rank].parameterType = dtype;
        calls[rank].gradients = gradients[rank].data();
        for (size_t peer = 0; peer < 3; ++peer)
          calls[rank].parameters[peer] = parameters[peer].data();
        for (size_t slot = 0; slot < 2; ++slot)
          calls[rank].slots[slot] = state[3 * rank + slot].data();
        calls[rank].master = dtype == kCollF32 ? nullptr : state[3 * rank + 2].data();
        calls[rank].step = &kFirstStep;
        calls[rank].table = shards.table;
        calls[rank].mean = true;
      }
      const kernels::AnyOptimizer one = *kernels::optimizerNamed(optimizer);
      const std::vector<char> before = parameters[1];
      kernels::rootUpdateReference(calls, {}, kernels::optimizerSlots(one),
                                   kernels::elementUpdate(one, kFirstStep));
      const Reference reference(plan, count);
      Pattern pattern(plan, 1);
      EXPECT_EQ(pattern.wrong(reference, 0, count, parameters[1].data()), 0) << optimizer;
      EXPECT_GT(pattern.wrong(reference, 0, count, before.data()), count / 2) << optimizer;
    }
}

TEST(PerfDataTest, CountsWrongSums) {
  OpPlan plan;
  plan.ranks = 3;
  const int64_t count = 150'001;
  const Reference reference(plan, count);
  std::vector<std::vector<float>> sources(3, std::vector<float>(count));
  for (int rank = 0; rank < 3; ++rank)
    Pattern(plan, rank).fill(0, count, sources[static_cast<size_t>(rank)].data());
  std::vector<float> sums(count);
  for (size_t i = 0; i < sums.size(); ++i)
    sums[i] = sources[0][i] + sources[1][i] + sources[2][i];
  Pattern pattern(plan, 0);
  EXPECT_EQ(pattern.wrong(reference, 0, count, sums.data()), 0);
  sums[0] += 1;
  sums[70'000] += 1;
  sums[count - 1] -= 1;
  EXPECT_EQ(pattern.wrong(reference, 0, count, sums.data()), 3);
}

} // namespace
} // namespace coll::perf
