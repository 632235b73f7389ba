// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that take an idea whole compute what its pieces compute, under any schedule.
#include "IdeaKernel.h"
#include "test/unit/Results.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>

using namespace autotune;
using namespace autotune::test;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Idea softmax(const std::string &shape, const std::string &dimension) {
  std::string type = "tensor<" + shape + ">";
  return {{shape},
          shape,
          "  %e = tensor.empty() : " + type + "\n  %y = linalg.softmax dimension(" + dimension +
              ") ins(%a0 : " + type + ") outs(%e : " + type + ") -> " + type};
}

/// `options` stand between the operands and the types.
Idea attention(const std::string &query, const std::string &key, const std::string &value,
               const std::string &result, const std::string &options, std::vector<std::string> more = {}) {
  Idea idea{{query, key, value}, result, ""};
  llvm::append_range(idea.arguments, more);
  size_t attributes = options.find('{');
  idea.op = "  %y = autotune.attention %a0, %a1, %a2 " + options.substr(0, attributes) +
            (attributes == std::string::npos ? "" : options.substr(attributes)) + " : tensor<" + query +
            ">, tensor<" + key + ">, tensor<" + value + "> -> tensor<" + result + ">";
  return idea;
}

} // namespace

TEST(WholeIdeas, SoftmaxOfAnyLengthIsRight) {
  for (const char *shape : {"3x16xf32", "2x5x77xf32", "130xf32", "4x1000xf32"})
    expectRightUnderAnySchedule(softmax(shape, std::to_string(llvm::StringRef(shape).count('x') - 1)), 3, 1);
}

TEST(WholeIdeas, LayerNormsAreRight) {
  Idea plain{{"2x5x77xf32"},
             "2x5x77xf32",
             "  %y = autotune.layer_norm %a0 axes [2] epsilon 1.0e-5 : tensor<2x5x77xf32>"};
  expectRightUnderAnySchedule(plain, 3, 2);
  Idea full{{"6x64xf32", "64xf32", "1x64xf32"},
            "6x64xf32",
            "  %y = autotune.layer_norm %a0 scale(%a1 : tensor<64xf32>) bias(%a2 : tensor<1x64xf32>) axes "
            "[1] epsilon "
            "1.0e-5 : tensor<6x64xf32>"};
  expectRightUnderAnySchedule(full, 3, 3);
  Idea rms{{"6x50xf32", "50xf32"},
           "6x50xf32",
           "  %y = autotune.layer_norm rms %a0 scale(%a1 : tensor<50xf32>) axes [1] epsilon 1.0e-5 : "
           "tensor<6x50xf32>"};
  expectRightUnderAnySchedule(rms, 3, 4);
}

TEST(WholeIdeas, AttentionOfAnyShapeIsRight) {
  expectRightUnderAnySchedule(
      attention("2x3x32x16xf32", "2x3x40x16xf32", "2x3x40x24xf32", "2x3x32x24xf32", "scale 0.25"), 3, 5);
  expectRightUnderAnySchedule(attention("9x5xf32", "131x5xf32", "131x7xf32", "9x7xf32", "scale 0.5"), 3, 6);
  expectRightUnderAnySchedule(
      attention("1x70x12xf32", "1x150x12xf32", "1x150x3xf32", "1x70x3xf32", "scale 1.0"), 3, 7);
}

TEST(WholeIdeas, AttentionWithMasksIsRight) {
  expectRightUnderAnySchedule(attention("2x3x20x16xf32", "2x3x83x16xf32", "2x3x83x16xf32", "2x3x20x16xf32",
                                        "bias(%a3 : tensor<2x1x1x83xf32>) scale 0.25", {"2x1x1x83xf32"}),
                              1, 8);
  expectRightUnderAnySchedule(attention("2x3x20x16xf32", "2x3x83x16xf32", "2x3x83x16xf32", "2x3x20x16xf32",
                                        "bias(%a3 : tensor<3x20x83xf32>) scale 0.25", {"3x20x83xf32"}),
                              1, 9);
  expectRightUnderAnySchedule(attention("2x3x20x16xf32", "2x3x83x16xf32", "2x3x83x16xf32", "2x3x20x16xf32",
                                        "mask(%a3 : tensor<20x83xi1>) scale 0.25", {"20x83xi1"}),
                              1, 10);
  expectRightUnderAnySchedule(
      attention("2x3x20x16xf32", "2x3x83x16xf32", "2x3x83x16xf32", "2x3x20x16xf32",
                "bias(%a3 : tensor<83xf32>) mask(%a4 : tensor<2x1x1x83xi1>) scale 0.25 causal 63 "
                "fill -1.0e9",
                {"83xf32", "2x1x1x83xi1"}),
      1, 11);
}

TEST(WholeIdeas, CausalAttentionOfSharedHeadsIsRight) {
  for (const char *causal : {"causal 0", "causal 30", "causal 5 fill -1.0e9", "causal 3 fill -2.0"})
    expectRightUnderAnySchedule(attention("2x4x70x8xf32", "2x2x90x8xf32", "2x2x90x8xf32", "2x4x70x8xf32",
                                          std::string("scale 0.25 ") + causal),
                                1, 12);
}

TEST(WholeIdeas, AttentionReadsAndWritesOtherOrders) {
  expectRightUnderAnySchedule(
      attention("2x20x3x16xf32", "2x3x16x37xf32", "2x37x3x16xf32", "2x20x3x16xf32",
                "scale 0.25 {query_order = array<i64: 0, 2, 1, 3>, key_order = array<i64: 0, 1, 3, 2>, "
                "value_order = array<i64: 0, 2, 1, 3>, result_order = array<i64: 0, 2, 1, 3>}"),
      3, 13);
}

TEST(WholeIdeas, WhatIsNotFiniteSpreadsAsInPieces) {
  Idea rows = softmax("6x40xf32", "1");
  Buffers inputs = inputsOf(rows);
  inputs[0][3] = kNaN;
  inputs[0][45] = kInfinity;
  inputs[0][90] = -kInfinity;
  std::fill_n(inputs[0].begin() + 120, 40, -kInfinity);
  expectSame(run(rows, inputs, firstNest(rows)), run(rows, inputs, std::nullopt));

  Idea scores = attention("9x8xf32", "100x8xf32", "100x8xf32", "9x8xf32",
                          "bias(%a3 : tensor<9x100xf32>) scale 0.25", {"9x100xf32"});
  inputs = inputsOf(scores);
  inputs[0][8] = kNaN;                                   // a query of row 1
  inputs[3][200] = kInfinity;                            // a score of row 2
  std::fill_n(inputs[3].begin() + 300, 100, -kInfinity); // row 3 may read nothing
  std::fill_n(inputs[3].begin() + 400, 70, -kInfinity);  // row 4 only columns of the second block
  std::fill_n(inputs[3].begin() + 530, 70, -kInfinity);  // row 5 only those of the first
  Workload workload = workloadOf(scores, 1);
  LoopNest nest = valueOf(buildLoopNest(workload, valueOf(Schedule::parse("cols=64 planes=4 rows=9"))));
  std::vector<float> found = run(scores, inputs, nest);
  expectSame(found, run(scores, inputs, std::nullopt));
  EXPECT_TRUE(std::isnan(found[3 * 8])) << "a row that may read nothing";
  EXPECT_FALSE(std::isnan(found[4 * 8])) << "a row that may read something";
}
