// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Coordinate tables of Resize, against values worked out by hand.
#include "frontend/Resample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using autotune::ResampleAxis;
using autotune::ResampleOptions;
using autotune::ResampleTable;
using autotune::resampleTable;
using testing::ElementsAre;
using testing::FloatEq;

namespace {

TEST(Resample, NearestModes) {
  ResampleAxis axis{2, 4, 2.0};
  ResampleOptions options;
  // Half-pixel coordinates -0.25, 0.25, 0.75, 1.25.
  EXPECT_THAT(resampleTable(axis, options).positions, ElementsAre(0, 0, 1, 1));
  options.nearest = "ceil";
  EXPECT_THAT(resampleTable(axis, options).positions, ElementsAre(0, 1, 1, 1));
  options.coordinates = "asymmetric";
  options.nearest = "floor";
  EXPECT_THAT(resampleTable(axis, options).positions, ElementsAre(0, 0, 1, 1));
}

TEST(Resample, LinearClampsAtTheBorder) {
  ResampleOptions options;
  options.mode = "linear";
  ResampleTable table = resampleTable({2, 4, 2.0}, options);
  ASSERT_EQ(table.taps, 2);
  EXPECT_THAT(table.positions, ElementsAre(0, 1, 0, 1, 0, 1, 1, 1));
  EXPECT_THAT(table.weights, ElementsAre(FloatEq(1), FloatEq(0), FloatEq(0.75), FloatEq(0.25), FloatEq(0.25), FloatEq(0.75),
                                         FloatEq(1), FloatEq(0)));
}

TEST(Resample, AlignCornersKeepsTheEnds) {
  ResampleOptions options;
  options.mode = "linear";
  options.coordinates = "align_corners";
  ResampleTable table = resampleTable({3, 5, 5.0 / 3}, options);
  EXPECT_EQ(table.positions.front(), 0);
  EXPECT_FLOAT_EQ(table.weights.front(), 1);
  EXPECT_EQ(table.positions[8], 2);
  EXPECT_FLOAT_EQ(table.weights[8], 1);
}

TEST(Resample, CubicWeightsSumToOne) {
  ResampleOptions options;
  options.mode = "cubic";
  ResampleTable table = resampleTable({5, 8, 1.6}, options);
  ASSERT_EQ(table.taps, 4);
  for (int64_t o = 0; o < 8; ++o) {
    float sum = 0;
    for (int64_t t = 0; t < 4; ++t)
      sum += table.weights[o * 4 + t];
    EXPECT_NEAR(sum, 1, 1e-6);
  }
}

TEST(Resample, CropMarksWhatIsOutside) {
  ResampleOptions options;
  options.mode = "linear";
  options.coordinates = "tf_crop_and_resize";
  ResampleAxis axis{4, 3, 0.75, 0.5, 1.5};
  EXPECT_THAT(resampleTable(axis, options).outside, ElementsAre(false, false, true));
}

} // namespace
