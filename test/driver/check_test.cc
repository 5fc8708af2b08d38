//===- check_test.cc - what counts as equal -------------------------------------===//

#include "driver/check.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace coll;
using namespace coll::run;

namespace {

rt::HostTensor floats(std::vector<float> values) {
  rt::HostTensor tensor;
  tensor.shape = {static_cast<int64_t>(values.size())};
  tensor.data.assign(reinterpret_cast<char *>(values.data()),
                     reinterpret_cast<char *>(values.data() + values.size()));
  return tensor;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

bool isOk(std::vector<float> got, std::vector<float> reference, Tolerance tolerance = {}) {
  return compareTensors("t", floats(got), floats(reference), tolerance).isOk;
}

TEST(CheckTest, IsRelativeToTheLargestElement) {
  EXPECT_TRUE(isOk({1000.0f, 0.05f}, {1000.0f, 0.0f}));
  EXPECT_FALSE(isOk({1000.0f, 0.2f}, {1000.0f, 0.0f}));
}

TEST(CheckTest, TolerancesAreObeyed) {
  EXPECT_TRUE(isOk({1.005f}, {1.0f}, {0.01, std::nullopt}));
  EXPECT_FALSE(isOk({1.005f}, {1.0f}, {0.001, std::nullopt}));
  EXPECT_TRUE(isOk({0.5f}, {0.0f}, {std::nullopt, 0.6}));
}

TEST(CheckTest, NanEqualsNanAtTheSamePlaceOnly) {
  EXPECT_TRUE(isOk({kNan, 1}, {kNan, 1}));
  EXPECT_FALSE(isOk({kNan, 1}, {1, 1}));
  EXPECT_FALSE(isOk({1, 1}, {kNan, 1}));
  EXPECT_FALSE(isOk({kNan, 1}, {1, kNan}));
}

TEST(CheckTest, InfinityEqualsItselfOnly) {
  EXPECT_TRUE(isOk({kInf}, {kInf}));
  EXPECT_FALSE(isOk({kInf}, {-kInf}));
  EXPECT_FALSE(isOk({1e30f}, {kInf}));
  EXPECT_FALSE(isOk({kNan}, {kInf}));
}

/// The largest of `count` differences that are 1, 2, … but for the outliers.
double bulkOf(int count) {
  std::vector<float> got(count);
  std::iota(got.begin(), got.end(), 1);
  return compareTensors("t", floats(got), floats(std::vector<float>(count, 0)), {}).bulk;
}

TEST(CheckTest, OneElementOf64MayBeAnOutlier) {
  EXPECT_EQ(bulkOf(0), 0);
  EXPECT_EQ(bulkOf(7), 7);
  EXPECT_EQ(bulkOf(8), 7);
  EXPECT_EQ(bulkOf(71), 70);
  EXPECT_EQ(bulkOf(72), 70);
  EXPECT_EQ(bulkOf(6400), 6300);
}

TEST(CheckTest, RootMeanSquaresLeaveOutliersOut) {
  const Comparison result =
      compareTensors("t", floats({3, 4, 50, 0, 0, 0, 0, 0}), floats(std::vector<float>(8, 0)), {});
  EXPECT_DOUBLE_EQ(result.bulkRms, std::sqrt(25.0 / 7));
  EXPECT_DOUBLE_EQ(result.rms, std::sqrt(2525.0 / 8));
}

TEST(CheckTest, ShapesMustAgree) {
  Comparison result = compareTensors("t", floats({1, 2}), floats({1}), {});
  EXPECT_FALSE(result.isOk);
  EXPECT_EQ(result.note, "is f32[2] and should be f32[1]");
}

TEST(CheckTest, IntegersAreExact) {
  rt::HostTensor a, b;
  a.dtype = b.dtype = kCollI64;
  a.shape = b.shape = {1};
  a.data.assign(8, 0);
  b.data.assign(8, 0);
  EXPECT_TRUE(compareTensors("t", a, b, {}).isOk);
  // These two agree as doubles.
  *a.as<int64_t>() = (int64_t(1) << 60) + 1;
  *b.as<int64_t>() = int64_t(1) << 60;
  EXPECT_FALSE(compareTensors("t", a, b, {}).isOk);
}

TEST(CheckTest, LossesAreTighter) {
  EXPECT_TRUE(compareLosses({100.0005, 1.0}, {100.0, 1.0}, {}).isOk);
  EXPECT_FALSE(compareLosses({100.0, 1.005}, {100.0, 1.0}, {}).isOk);
  EXPECT_FALSE(compareLosses({1.0}, {1.0, 1.0}, {}).isOk);
  EXPECT_TRUE(compareLosses({std::nan("")}, {std::nan("")}, {}).isOk);
  EXPECT_FALSE(compareLosses({std::nan("")}, {1.0}, {}).isOk);
}

TEST(CheckTest, ReportShowsFailuresEvenWhenQuiet) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Comparison good = compareTensors("good", floats({1}), floats({1}), {});
  Comparison bad = compareTensors("bad", floats({2}), floats({1}), {});
  EXPECT_TRUE(report(os, "title", {good}, /*rms=*/false, /*onlyFailures=*/true));
  EXPECT_EQ(text, "");
  EXPECT_FALSE(report(os, "title", {good, bad}, /*rms=*/false, /*onlyFailures=*/true));
  EXPECT_NE(text.find("bad"), std::string::npos);
  EXPECT_EQ(text.find("good"), std::string::npos);
}

} // namespace
