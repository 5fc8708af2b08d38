// all_reduce, reduce, reduce_scatter: every type, reduction, layout and size, compared with a
// scalar oracle; in place and not in place, blocking and started.

#include "runtime/base/dtype.h"
#include "test/conformance/harness.h"

#include <cmath>

namespace coll::rt::test {
namespace {

// Combines two numbers like the reduction, in int64 or double.
double combine(CollDtype dtype, CollReduction reduction, double a, double b) {
  auto asUnsigned = [&](double v) {
    int64_t bits = dtypeSize(dtype) * 8;
    uint64_t mask = bits == 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1;
    return static_cast<uint64_t>(static_cast<int64_t>(v)) & mask;
  };
  int64_t x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  switch (reduction) {
  case kCollSum:
  case kCollAvg:
    return a + b;
  case kCollProd:
    return a * b;
  case kCollMin:
    return std::min(a, b);
  case kCollMax:
    return std::max(a, b);
  case kCollUmin:
    return asUnsigned(a) <= asUnsigned(b) ? a : b;
  case kCollUmax:
    return asUnsigned(a) >= asUnsigned(b) ? a : b;
  case kCollAnd:
    return static_cast<double>(x & y);
  case kCollOr:
    return static_cast<double>(x | y);
  case kCollXor:
    return static_cast<double>(x ^ y);
  }
  return 0;
}

// Products stay small enough for every type.
double input(CollDtype dtype, CollReduction reduction, int rank, int64_t i) {
  double value = sample(dtype, rank, i);
  return reduction == kCollProd && dtype != kCollBool ? 1 + std::fmod(std::abs(value), 2) : value;
}

double expectedElement(const Member &m, CollDtype dtype, CollReduction reduction, int64_t i) {
  double result = input(dtype, reduction, m.rankAt(0), i);
  for (int p = 1; p < m.n; ++p)
    result = combine(dtype, reduction, result, input(dtype, reduction, m.rankAt(p), i));
  if (reduction == kCollAvg && !isFloat(dtype))
    result = std::trunc(rounded(dtype, result) / m.n);
  else if (reduction == kCollAvg)
    result =
        dtype == kCollF64 ? result / m.n : static_cast<float>(result) / static_cast<float>(m.n);
  return rounded(dtype, result);
}

Elements expected(const Member &m, CollDtype dtype, CollReduction reduction, int64_t from,
                  int64_t count) {
  return Elements::repeated(
      dtype, count, [&](int64_t i) { return expectedElement(m, dtype, reduction, from + i); });
}

Elements inputs(const Member &m, CollDtype dtype, CollReduction reduction, int64_t count) {
  return Elements::repeated(dtype, count,
                            [&](int64_t i) { return input(dtype, reduction, m.rank, i); });
}

struct Case {
  CollDtype dtype;
  CollReduction reduction;
  int64_t count;
  bool inPlace;
};

// Runs the test on all layouts, types, sizes and ways to call.
template <typename Body>
void forEachCase(const Reductions::ParamType &param, Body body) {
  const std::string &backend = std::get<0>(param);
  const int most = mostRanks(backend);
  for (const Layout &layout : layouts(most))
    runJob(backend, layout, [&](Member &m) {
      for (auto [dtype, reduction] : std::get<1>(param)) {
        SCOPED_TRACE(std::string(dtypeName(dtype)) + " " + reductionName(reduction));
        for (int64_t count : counts())
          for (int variant = 0; variant < 4 && isTested(layout, count, most); ++variant) {
            m.async = variant & 1;
            body(m, Case{dtype, reduction, count, /*inPlace=*/(variant & 2) != 0});
          }
        m.settle();
      }
    });
}

TEST_P(Reductions, AllReduce) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    Elements src = inputs(m, c.dtype, c.reduction, c.count);
    Elements dst(c.dtype, c.count);
    Elements &out = c.inPlace ? src : dst;
    Call call = makeCall(OpKind::AllReduce, c.dtype, c.count, src.data(), out.data());
    call.reduction = c.reduction;
    Status status = m.call(call);
    ASSERT_TRUE(status.ok()) << status.toString();
    ASSERT_TRUE(out.has(0, expected(m, c.dtype, c.reduction, 0, c.count)));
  });
}

TEST_P(Reductions, Reduce) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    int root = static_cast<int>(c.count % m.n);
    Elements src = inputs(m, c.dtype, c.reduction, c.count);
    Elements dst(c.dtype, c.count);
    Elements &out = c.inPlace ? src : dst;
    Call call = makeCall(OpKind::Reduce, c.dtype, c.count, src.data(), out.data());
    call.reduction = c.reduction;
    call.root = root;
    Status status = m.call(call);
    ASSERT_TRUE(status.ok()) << status.toString();
    ASSERT_TRUE(out.has(0, m.position == root ? expected(m, c.dtype, c.reduction, 0, c.count)
                                              : inputs(m, c.dtype, c.reduction, c.count)));
  });
}

TEST_P(Reductions, ReduceScatter) {
  forEachCase(GetParam(), [](Member &m, const Case &c) {
    for (int64_t outer : {int64_t(1), int64_t(3)}) {
      int64_t count = c.count > 1000 ? c.count / (m.n * outer) : c.count;
      Elements src = inputs(m, c.dtype, c.reduction, outer * m.n * count);
      Elements dst(c.dtype, outer * count);
      Elements &out = c.inPlace ? src : dst;
      Call call = makeCall(OpKind::ReduceScatter, c.dtype, count, src.data(), out.data());
      call.outer = outer;
      call.reduction = c.reduction;
      Status status = m.call(call);
      ASSERT_TRUE(status.ok()) << status.toString();
      for (int64_t o = 0; o < outer; ++o)
        ASSERT_TRUE(out.has(
            o * count, expected(m, c.dtype, c.reduction, (o * m.n + m.position) * count, count)));
    }
  });
}

// The sum of the inputs depends on the order, so that left to right can be distinguished from other
// orders.
constexpr int64_t kOrderedCount = 20'000;

float orderedValue(int rank, int64_t i) {
  return std::ldexp(1.0f + 0.37f * static_cast<float>((rank * 5 + i) % 7),
                    static_cast<int>((rank * 11 + i * 3) % 40) - 20);
}

Status sumOrdered(Member &m, CollOrder order, Elements &buffer) {
  for (int64_t i = 0; i < kOrderedCount; ++i)
    buffer.set(i, orderedValue(m.rank, i));
  Call call = makeCall(OpKind::AllReduce, kCollF32, kOrderedCount, buffer.data(), buffer.data());
  call.order = order;
  return m.call(call);
}

const Layout kShuffledFive = {5, {{4, 0, 3, 1, 2}}};

TEST_P(Arithmetic, OrderRankSumsLeftToRightInTheGroup) {
  COLL_NEEDS_RANKS(5);
  runJob(GetParam(), kShuffledFive, [&](Member &m) {
    Elements buffer(kCollF32, kOrderedCount);
    ASSERT_TRUE(sumOrdered(m, kCollOrderRank, buffer).ok());
    for (int64_t i = 0; i < kOrderedCount; ++i) {
      float sum = orderedValue(m.rankAt(0), i);
      for (int p = 1; p < m.n; ++p)
        sum += orderedValue(m.rankAt(p), i);
      ASSERT_EQ(buffer.get(i), sum) << "element " << i;
    }
  });
}

// Without an order a backend may group the terms as it likes, but always and on all ranks in the
// same way.
TEST_P(Arithmetic, OrderAnyGivesTheSameBitsOnAllRanksAndInAllRuns) {
  COLL_NEEDS_RANKS(5);
  std::vector<Elements> results(10, Elements(kCollF32, kOrderedCount));
  for (size_t run = 0; run < 2; ++run)
    runJob(GetParam(), kShuffledFive, [&](Member &m) {
      ASSERT_TRUE(
          sumOrdered(m, kCollOrderAny, results[5 * run + static_cast<size_t>(m.rank)]).ok());
    });
  for (int64_t i = 0; i < kOrderedCount; ++i) {
    double exact = 0;
    for (int rank = 0; rank < 5; ++rank)
      exact += static_cast<double>(orderedValue(rank, i));
    ASSERT_NEAR(results[0].get(i), exact, 1e-6 * exact) << "element " << i;
    for (const Elements &other : results)
      ASSERT_EQ(results[0].get(i), other.get(i)) << "element " << i;
  }
}

TEST_P(Arithmetic, NanSurvivesMinAndMax) {
  for (CollDtype dtype : {kCollF32, kCollF64, kCollF16, kCollBf16, kCollF8E4M3FN, kCollF8E5M2})
    for (CollReduction reduction : {kCollMin, kCollMax}) {
      if (dtypeSize(dtype) < 4 && !takesNarrowFloats(GetParam()))
        continue;
      runJob(GetParam(), oneGroup(4), [&](Member &m) {
        Elements buffer(dtype, 5);
        for (int64_t i = 0; i < 5; ++i)
          buffer.set(i, i == m.rank ? NAN : m.rank);
        Call call = makeCall(OpKind::AllReduce, dtype, 5, buffer.data(), buffer.data());
        call.reduction = reduction;
        ASSERT_TRUE(m.call(call).ok());
        for (int64_t i = 0; i < 4; ++i)
          EXPECT_TRUE(std::isnan(buffer.get(i)));
        EXPECT_EQ(buffer.get(4), reduction == kCollMin ? 0 : 3);
      });
    }
}

// Sums in f32 are rounded once: in f16, 2048 + 1 + 1 is 2050, not 2048. The data is large enough
// for the algorithms of large data.
TEST_P(Arithmetic, F32AccumulationIsRoundedOnce) {
  constexpr int64_t kCount = 12'000;
  if (!takesNarrowFloats(GetParam()))
    GTEST_SKIP() << "takes no narrow floats";
  runJob(GetParam(), oneGroup(3), [](Member &m) {
    const std::pair<CollDtype, double> cases[] = {
        {kCollF16, 2048}, {kCollBf16, 256}, {kCollF8E4M3FN, 16}, {kCollF8E5M2, 8}};
    for (auto [dtype, large] : cases) {
      for (int64_t count : {int64_t(1), kCount}) {
        Elements buffer(dtype, count);
        for (int64_t i = 0; i < count; ++i)
          buffer.set(i, m.rank == 0 ? large : 1);
        Call call = makeCall(OpKind::AllReduce, dtype, count, buffer.data(), buffer.data());
        call.accumulation = kCollAccumulateF32;
        ASSERT_TRUE(m.call(call).ok());
        for (int64_t i = 0; i < count; i += 997)
          ASSERT_EQ(buffer.get(i), large + 2);
      }
    }
  });
}

} // namespace
} // namespace coll::rt::test
