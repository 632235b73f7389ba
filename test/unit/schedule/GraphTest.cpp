// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text form of graphs.
#include "TestGraphs.h"
#include "test/unit/Results.h"

#include "gtest/gtest.h"

using namespace autotune;

TEST(Graph, TextHasOneLineAnOperatorWhateverTheLabel) {
  EXPECT_EQ(residualGraph().text(),
            "0: conv2d \"conv1\" anchor root (t0 f32 [1x64x56x56], const t1 f32 [64x64x3x3]) -> "
            "t2 f32 [1x64x56x56] 2.31211e+08 flops\n"
            "1: elementwise \"relu\\0A1\" follows elementwise (t2 f32 [1x64x56x56]) -> "
            "t3 f32 [1x64x56x56] 200704 flops\n"
            "2: elementwise \"\" follows elementwise (t2 f32 [1x64x56x56], t3 f32 [1x64x56x56]) -> "
            "t4 f32 [1x64x56x56] 200704 flops\n"
            "outputs: t4\n");
}
