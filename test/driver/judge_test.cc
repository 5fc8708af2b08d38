//===- judge_test.cc - which differences are rounding -----------------------------===//

#include "driver/judge.h"

#include "gtest/gtest.h"

using namespace coll;
using namespace coll::run;

namespace {

/// A step's tensors, as they are compared and judged.
class JudgeTest : public testing::Test {
protected:
  /// A tensor of values up to `largest`, which the steps changed by `change`.
  void add(const std::string &name, double delta, double noise, double largest, double change,
           std::vector<int64_t> shape = {4}) {
    Comparison comparison;
    comparison.name = name;
    comparison.delta = comparison.largest = comparison.bulk = delta;
    comparison.rms = comparison.bulkRms = delta / 2;
    comparison.maxReference = largest;
    comparison.isOk = delta <= 1e-4 * largest + 1e-9;
    comparisons_.push_back(comparison);
    Evidence evidence;
    evidence.noise = {noise, noise / 2};
    evidence.shape = std::move(shape);
    evidence.change = change;
    evidence_.push_back(evidence);
  }

  /// All but a few elements are off by no more than `bulk`.
  void setBulk(size_t i, double bulk) {
    comparisons_[i].bulk = bulk;
    comparisons_[i].bulkRms = bulk / 2;
  }

  const Comparison &judged(size_t i, bool rms = false) {
    if (rms) // of which `delta` is then one
      for (Comparison &comparison : comparisons_)
        comparison.rms = comparison.delta;
    judgeByNoise(comparisons_, evidence_, {rms, isNarrow_, isOneStep_});
    return comparisons_[i];
  }

  std::vector<Comparison> comparisons_;
  std::vector<Evidence> evidence_;
  bool isNarrow_ = false; // the step's floats
  bool isOneStep_ = false;
};

TEST_F(JudgeTest, WhatIsWithinToleranceStays) {
  add("w", 1e-5, 0, 1, 0.1);
  EXPECT_TRUE(judged(0).isOk);
  EXPECT_EQ(judged(0).basis, Basis::Tolerance);
  EXPECT_EQ(judged(0).noise, 0);
}

TEST_F(JudgeTest, EightTimesTheNoiseIsAccepted) {
  add("w", 7.9e-3, 1e-3, 1, 0.1);
  EXPECT_TRUE(judged(0).isOk);
  EXPECT_EQ(judged(0).basis, Basis::Noise);
}

TEST_F(JudgeTest, MoreThanEightTimesTheNoiseFails) {
  add("w", 8.1e-3, 1e-3, 1, 0.1);
  EXPECT_FALSE(judged(0).isOk);
}

// As a running mean that is stale, beside one whose noise is that of few elements.
TEST_F(JudgeTest, AnErrorOfAllElementsIsNotTheNoiseOfAFew) {
  add("mean", 5e-3, 1e-3, 1, 0.1);
  comparisons_[0].rms = 4.5e-3;
  EXPECT_FALSE(judged(0).isOk);
}

TEST_F(JudgeTest, MoreDrawsMayExplainWhatIsNear) {
  add("w", 0.02, 1e-3, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
  EXPECT_TRUE(mayBeExplainedYet(comparisons_));
  add("v", 0.07, 1e-3, 1, 1);
  EXPECT_FALSE(judged(1).isOk);
  EXPECT_FALSE(mayBeExplainedYet(comparisons_));
}

TEST_F(JudgeTest, RootMeanSquaresAreJudgedByTheirOwnNoise) {
  add("w", 7e-3, 1e-3, 1, 0.1); // of which the root mean square is half
  EXPECT_FALSE(judged(0, /*rms=*/true).isOk);
}

TEST_F(JudgeTest, NoiseAboveTheCeilingIsNotJudged) {
  add("w", 0.02, 0.02, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
  EXPECT_NE(judged(0).note.find("cannot be judged"), std::string::npos);
}

// Single elements of a sum that cancels move by some percent where its terms are rounded to bf16.
TEST_F(JudgeTest, NoiseOfNarrowFloatsIsMeasuredByItsRootMeanSquare) {
  isNarrow_ = true;
  add("w", 0.02, 0.059, 1, 1); // of which the root mean square is half
  EXPECT_TRUE(judged(0).isOk);
  EXPECT_EQ(judged(0).basis, Basis::Noise);
}

TEST_F(JudgeTest, ADifferenceThatNoCeilingAllowsFailsInNarrowFloatsToo) {
  isNarrow_ = true;
  add("w", 0.081, 0.059, 1, 1); // a gradient of which a twelfth is missing, say
  EXPECT_FALSE(judged(0).isOk);
}

TEST_F(JudgeTest, LargerNoiseOfNarrowFloatsIsNotJudged) {
  isNarrow_ = true;
  add("w", 0.02, 0.061, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
}

// Adam moves an element by the sign of its first gradient, which no draw need flip.
TEST_F(JudgeTest, AFlippedSignIsAcceptedWhereTheMomentWasJudged) {
  add("s[0]['w']", 6e-3, 1e-4, 1, 4e-3);
  setBulk(0, 2e-4);
  add("s[1].mu['w']", 0, 0, 1, 1);
  EXPECT_TRUE(judged(0).isOk);
  EXPECT_EQ(judged(0).basis, Basis::Gradient);
  EXPECT_NE(judged(0).note.find("signs of noise may have flipped; s[1].mu['w'] was"),
            std::string::npos);
}

TEST_F(JudgeTest, AFlippedSignOfASingleStepMayBeRounded) {
  isOneStep_ = true;
  add("s[0]['w']", 6e-3 + 2e-7, 1e-4, 1, 3e-3);
  setBulk(0, 2e-4);
  add("s[1].mu['w']", 0, 0, 1, 1);
  EXPECT_TRUE(judged(0).isOk);
}

TEST_F(JudgeTest, AFlippedSignOfSeveralStepsMayNotBeRounded) {
  add("s[0]['w']", 6e-3 + 2e-7, 1e-4, 1, 3e-3);
  setBulk(0, 2e-4);
  add("s[1].mu['w']", 0, 0, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
}

TEST_F(JudgeTest, MoreThanTwiceTheChangeIsNoFlippedSign) {
  add("s[0]['w']", 6.1e-3, 1e-4, 1, 3e-3);
  setBulk(0, 2e-4);
  add("s[1].mu['w']", 0, 0, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
}

TEST_F(JudgeTest, AFlippedSignFailsWhereNoGradientWasJudged) {
  add("s[0]['w']", 6e-3, 1e-4, 1, 4e-3);
  setBulk(0, 2e-4);
  add("s[1].mu['w']", 1e-2, 1e-4, 1, 1);
  setBulk(1, 1e-2);
  EXPECT_FALSE(judged(0).isOk);
}

TEST_F(JudgeTest, ManyElementsBeyondTheNoiseAreNoFlippedSigns) {
  add("s[0]['w']", 6e-3, 1e-4, 1, 4e-3);
  setBulk(0, 9e-4);
  add("s[1].mu['w']", 0, 0, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
}

// As a running mean that is stale: no element is far beyond its noise, but all of them are.
TEST_F(JudgeTest, AnErrorOfAllElementsIsNoFlippedSign) {
  add("s[0]['w']", 6e-3, 1e-4, 1, 4e-3);
  setBulk(0, 7e-4);
  comparisons_[0].bulkRms = 5e-4;
  add("s[1].mu['w']", 0, 0, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
}

// As above: without the largest one they would be within their noise, but it is no further off.
TEST_F(JudgeTest, AFlippedSignIsBeyondTheNoise) {
  add("s[0]['w']", 7e-3, 1e-3, 1, 4e-3);
  comparisons_[0].rms = 4.1e-3;
  setBulk(0, 6e-3);
  add("s[1].mu['w']", 0, 0, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
}

TEST_F(JudgeTest, AFlippedSignMovesNoFurtherThanTwiceTheChange) {
  add("s[0]['w']", 6e-3, 1e-4, 1, 2.9e-3);
  setBulk(0, 2e-4);
  add("s[1].mu['w']", 0, 0, 1, 1);
  EXPECT_FALSE(judged(0).isOk);
}

// Adam moves a key's bias by the sign of a rounding error; its first moment is zero beside others.
TEST_F(JudgeTest, AMomentThatIsZeroBesideOthersIsJudged) {
  add("s[0]['b']", 2e-3, 1e-3, 2e-3, 2e-3);
  add("s[0]['w']", 0, 0, 1, 2e-3);
  add("s[1].mu['b']", 3e-9, 1e-9, 4e-9, 4e-9);
  add("s[1].mu['w']", 0, 0, 1e-2, 1e-2);
  EXPECT_EQ(judged(2).basis, Basis::Noise);
  EXPECT_TRUE(judged(0).isOk);
  EXPECT_EQ(judged(0).basis, Basis::Gradient);
  EXPECT_NE(judged(0).note.find("s[1].mu['b'] was"), std::string::npos);
}

TEST_F(JudgeTest, AWrongMomentFailsTheParameterToo) {
  add("s[0]['b']", 2e-3, 1e-3, 2e-3, 2e-3);
  add("s[1].mu['b']", 3e-8, 1e-9, 3e-8, 3e-8);
  add("s[1].mu['w']", 0, 0, 1e-2, 1e-2);
  EXPECT_FALSE(judged(1).isOk);
  EXPECT_FALSE(judged(0).isOk);
}

TEST_F(JudgeTest, WhatTheStepsLeaveAloneKeepsNoGradient) {
  add("s[0]['b']", 2e-3, 1e-3, 2e-3, 2e-3);
  add("s[1]['b']", 0, 0, 1, 0);
  EXPECT_FALSE(judged(0).isOk);
}

TEST_F(JudgeTest, ATensorOfAnotherShapeKeepsNoGradient) {
  add("s[0]['b']", 2e-3, 1e-3, 2e-3, 2e-3);
  add("s[1].mu['b']", 0, 0, 1, 1, {5});
  EXPECT_FALSE(judged(0).isOk);
}

// A bias before a batch norm moves its running mean, which is small beside the deviation.
TEST_F(JudgeTest, ARunningMeanIsMeasuredByTheVariance) {
  add("s[1]['norm']['mean']", 2e-3, 1e-3, 0.03, 0.03);
  add("s[1]['norm']['var']", 0, 0, 0.9, 0.1);
  EXPECT_TRUE(judged(0).isOk);
  EXPECT_EQ(judged(0).basis, Basis::Noise);
}

TEST_F(JudgeTest, AReturnedGradientIsOne) {
  add("s['b']", 2e-3, 1e-3, 2e-3, 2e-3);
  add("b", 0, 0, 1, 1);
  EXPECT_EQ(judged(0).basis, Basis::Gradient);
}

TEST(JudgePathTest, NamesAreSplitAtTheirParts) {
  EXPECT_EQ(splitPath("s[1][0].mu['w1']"),
            (std::vector<llvm::StringRef>{"s", "1", "0", "mu", "w1"}));
  EXPECT_EQ(splitPath("loss"), (std::vector<llvm::StringRef>{"loss"}));
  EXPECT_TRUE(splitPath("").empty());
}

TEST(SummaryTest, SaysWhatTensorsWereJudgedBy) {
  std::vector<Comparison> comparisons(4);
  comparisons[1].basis = Basis::Noise;
  comparisons[2].basis = Basis::Gradient;
  comparisons[3].isOk = false;
  EXPECT_EQ(summarize(comparisons), "1 of 4 within tolerance, 1 within 8 times the noise, 1 by the "
                                    "gradient alone");
}

} // namespace
