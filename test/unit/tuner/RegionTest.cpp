// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The text of a region is canonical: no names, no ids.
#include "tuner/Region.h"
#include "test/unit/tuner/GraphBuilder.h"

#include "gtest/gtest.h"

using namespace autotune;

static Graph twoConvolutions(int before) {
  GraphBuilder b({1, 8, 4, 4});
  int x = b.input();
  for (int i = 0; i < before; ++i)
    x = b.move({x});
  x = b.map({b.conv({x}), x});
  return b.finish({b.matmul({b.conv({x})})});
}

TEST(Region, TextIsTheDocumentedCanonicalForm) {
  Graph graph = twoConvolutions(0);
  Region region = chainRegion(graph, layoutChains(graph).front(), 2, Numerics::Default);
  EXPECT_EQ(region.name, "conv-chain");
  EXPECT_EQ(region.text, "v0 = conv2d(in0:plain f32[1x8x4x4]) -> f32[1x8x4x4] 1e+06\n"
                         "v1 = elementwise(v0, in0) -> f32[1x8x4x4] 1e+06\n"
                         "v2 = conv2d(v1) -> f32[1x8x4x4] 1e+06 plain\n"
                         "threads: 2\nnumerics: default\n");
}

TEST(Region, TheKeyDoesNotDependOnWhatIsAround) {
  Graph here = twoConvolutions(0), there = twoConvolutions(3);
  Region first = chainRegion(here, layoutChains(here).front(), 1, Numerics::Default);
  Region second = chainRegion(there, layoutChains(there).front(), 1, Numerics::Default);
  EXPECT_NE(first.operators, second.operators);
  EXPECT_EQ(first.key(), second.key());
  EXPECT_NE(first.key(), chainRegion(here, layoutChains(here).front(), 2, Numerics::Default).key());
}
