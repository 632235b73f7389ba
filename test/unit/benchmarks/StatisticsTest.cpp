// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/Statistics.h"

#include <gtest/gtest.h>

using namespace autotune::benchmarks;

namespace {

TEST(Statistics, medianIsTheMiddleOrTheMeanOfTwo) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 9, 2}), 3);
}

TEST(Statistics, ratioOfEqualRoundsHasNoWidth) {
  RatioInterval interval = medianRatio({4, 4, 4}, {2, 2, 2});
  EXPECT_EQ(interval.ratio, 2);
  EXPECT_EQ(interval.low, 2);
  EXPECT_EQ(interval.high, 2);
}

TEST(Statistics, intervalHoldsTheRatioAndIsTheSameAgain) {
  std::vector<double> slow = {10, 12, 11, 30, 10, 13, 9}, fast = {5, 6, 5, 7, 6, 5, 5};
  RatioInterval interval = medianRatio(slow, fast), again = medianRatio(slow, fast);
  EXPECT_LT(interval.low, interval.ratio);
  EXPECT_GT(interval.high, interval.ratio);
  EXPECT_EQ(interval.low, again.low);
  EXPECT_EQ(interval.high, again.high);
}

TEST(Statistics, geometricMeanOfInverseRatiosIsOne) { EXPECT_DOUBLE_EQ(geometricMean({0.5, 2, 1}), 1); }

} // namespace
