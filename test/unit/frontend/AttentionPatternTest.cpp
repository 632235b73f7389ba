// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Spellings of attention and its masks, and what only looks like it.
#include "test/unit/frontend/Recognition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune::test;
using testing::HasSubstr;

namespace {

constexpr int64_t kHeads = 2, kRows = 4, kColumns = 5, kDepth = 8, kWidth = 6;

/// query and value with heads in front; the key with its columns last, or with `rows` as they come.
TestModel operands(int64_t opset = 13, int64_t columns = kColumns) {
  TestModel model(opset);
  model.input("q", {1, kHeads, kRows, kDepth}).input("k", {1, kHeads, columns, kDepth});
  model.input("v", {1, kHeads, columns, kWidth})
      .output("y")
      .floats("scale", {}, {0.25f})
      .floats("four", {}, {4});
  model.node("Transpose", {"k"}, {"kt"}).integers("perm", {0, 1, 3, 2});
  return model;
}

/// `scores` (scaled and masked) to the end.
TestModel &finish(TestModel &model, const std::string &scores, int64_t axis = -1) {
  return model.node("Softmax", {scores}, {"p"}).attribute("axis", axis).node("MatMul", {"p", "v"}, {"y"});
}

TestModel scaled() {
  TestModel model = operands();
  model.node("MatMul", {"q", "kt"}, {"a"}).node("Mul", {"a", "scale"}, {"s"});
  return model;
}

/// 0 on and below the diagonal `offset`, `fill` above.
std::vector<float> causal(int64_t rows, int64_t columns, int64_t offset, float fill) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      values.push_back(j <= i + offset ? 0 : fill);
  return values;
}

} // namespace

TEST(Pattern, Attention) {
  TestModel model = scaled();
  Recognition found = recognition(finish(model, "s"));
  EXPECT_EQ(found.problem, "");
  EXPECT_EQ(found.ideas, "attention 1");
  EXPECT_LE(found.error, 2e-6);
  EXPECT_THAT(found.text, HasSubstr("autotune.attention %arg0, %arg1, %arg2 scale 2.500000e-01"));
  EXPECT_EQ(occurrences(found.text, "linalg."), 0u) << found.text;
}

TEST(Pattern, AttentionOfProjectionsReadsTheTransposedKey) {
  TestModel model;
  model.input("q", {1, kRows, kHeads, kDepth}).input("k", {1, kColumns, kHeads, kDepth}).output("y");
  model.input("v", {1, kColumns, kHeads, kWidth}).floats("root", {}, {2.5f});
  model.node("Transpose", {"q"}, {"qt"}).integers("perm", {0, 2, 1, 3}).node("Transpose", {"k"}, {"kt"});
  model.integers("perm", {0, 2, 3, 1}).node("Transpose", {"v"}, {"vt"}).integers("perm", {0, 2, 1, 3});
  model.node("MatMul", {"qt", "kt"}, {"a"}).node("Div", {"a", "root"}, {"s"}).node("Softmax", {"s"}, {"p"});
  model.attribute("axis", int64_t(3)).node("MatMul", {"p", "vt"}, {"o"}).node("Transpose", {"o"}, {"y"});
  model.integers("perm", {0, 2, 1, 3});
  expectIdea(model, "attention 1");
}

TEST(Pattern, AttentionScaledBeforeTheProduct) {
  TestModel query = operands();
  query.node("Div", {"q", "four"}, {"r"}).node("MatMul", {"r", "kt"}, {"s"});
  expectIdea(finish(query, "s"), "attention 1");
  TestModel both = operands();
  both.floats("half", {1}, {0.5f}).node("Mul", {"q", "half"}, {"r"}).node("Mul", {"kt", "half"}, {"l"});
  both.node("MatMul", {"r", "l"}, {"s"});
  Recognition found = recognition(finish(both, "s"));
  EXPECT_EQ(found.ideas, "attention 1");
  EXPECT_LE(found.error, 2e-6);
  EXPECT_THAT(found.text, HasSubstr("autotune.attention %arg0, %arg1, %arg2 scale 2.500000e-01"));
}

TEST(Pattern, AttentionWithBias) {
  TestModel model = scaled();
  model.input("bias", {1, 1, 1, kColumns}).node("Add", {"bias", "s"}, {"t"});
  Recognition found = recognition(finish(model, "t"));
  EXPECT_EQ(found.ideas, "attention 1");
  EXPECT_LE(found.error, 2e-6);
  EXPECT_THAT(found.text, HasSubstr("bias(%arg3 : tensor<1x1x1x5xf32>)"));
}

TEST(Pattern, AttentionWithSelectingMask) {
  for (bool scoreFirst : {true, false}) {
    TestModel model = scaled();
    model.input("mask", {1, 1, kRows, kColumns}, onnx::TensorProto::BOOL).floats("fill", {}, {-1e9f});
    model.node("Where",
               scoreFirst ? std::vector<std::string>{"mask", "s", "fill"}
                          : std::vector<std::string>{"mask", "fill", "s"},
               {"t"});
    expectIdea(finish(model, "t"), "attention 1");
  }
}

TEST(Pattern, AttentionWithBiasUnderASelectingMask) {
  TestModel model = scaled();
  model.input("bias", {kHeads, kRows, kColumns}).input("mask", {1, 1, 1, kColumns}, onnx::TensorProto::BOOL);
  model.floats("fill", {}, {-3.4028235e38f}).node("Add", {"s", "bias"}, {"t"});
  model.node("Where", {"mask", "fill", "t"}, {"u"});
  expectIdea(finish(model, "u"), "attention 1");
}

TEST(Pattern, AttentionThatIsCausal) {
  TestModel added = operands(13, kRows);
  added.floats("mask", {1, 1, kRows, kRows}, causal(kRows, kRows, 0, -1e9f))
      .node("MatMul", {"q", "kt"}, {"a"});
  added.node("Mul", {"a", "scale"}, {"s"}).node("Add", {"s", "mask"}, {"t"});
  Recognition found = recognition(finish(added, "t"));
  EXPECT_EQ(found.ideas, "attention 1");
  EXPECT_LE(found.error, 2e-6);
  EXPECT_THAT(found.text, HasSubstr("causal 0 fill -1.000000e+09"));
}

TEST(Pattern, AttentionThatIsCausalByLowerTriangle) {
  TestModel model = scaled();
  model.floats("triangle32", {1, 1, kRows, kColumns}, causal(kRows, kColumns, 1, 1))
      .floats("fill", {}, {-1e4f});
  model.node("Cast", {"triangle32"}, {"beyond"}).attribute("to", int64_t(onnx::TensorProto::BOOL));
  model.node("Not", {"beyond"}, {"triangle"}).node("Where", {"triangle", "s", "fill"}, {"t"});
  TestModel padded = model;
  EXPECT_THAT(recognition(finish(model, "t")).text, HasSubstr("causal 1 fill -1.000000e+04"));
  expectIdea(model, "attention 1");
  padded.input("padding", {1, 1, 1, kColumns}).node("Add", {"t", "padding"}, {"u"});
  Recognition found = recognition(finish(padded, "u"));
  EXPECT_EQ(found.ideas, "attention 1");
  EXPECT_LE(found.error, 2e-6);
  EXPECT_THAT(found.text, HasSubstr("bias(%arg3"));
  EXPECT_THAT(found.text, HasSubstr("causal 1"));
}

TEST(Pattern, ConstantMaskThatIsNotCausalIsABias) {
  TestModel model = scaled();
  std::vector<float> values = causal(kRows, kColumns, 1, -1e9f);
  values[2] = 0;
  model.floats("mask", {kRows, kColumns}, values).node("Add", {"s", "mask"}, {"t"});
  Recognition found = recognition(finish(model, "t"));
  EXPECT_EQ(found.ideas, "attention 1");
  EXPECT_LE(found.error, 2e-6);
  EXPECT_THAT(found.text, testing::Not(HasSubstr("causal")));
}

TEST(Pattern, AttentionByEinsum) {
  TestModel model = operands();
  model.node("Einsum", {"q", "k"}, {"a"}).attribute("equation", std::string("b h i d, b h j d -> b h i j"));
  model.node("Mul", {"a", "scale"}, {"s"}).node("Softmax", {"s"}, {"p"}).attribute("axis", int64_t(-1));
  model.node("Einsum", {"p", "v"}, {"y"}).attribute("equation", std::string("bhij,bhjd->bhid"));
  expectIdea(model, "attention 1");
}

TEST(Pattern, AttentionWithSoftmaxInPieces) {
  TestModel model = scaled();
  model.ints("axis", {1}, {-1})
      .node("ReduceMax", {"s"}, {"m"})
      .integers("axes", {-1})
      .node("Sub", {"s", "m"}, {"d"});
  model.node("Exp", {"d"}, {"e"}).node("ReduceSum", {"e", "axis"}, {"t"}).node("Div", {"e", "t"}, {"p"});
  model.node("MatMul", {"p", "v"}, {"y"});
  expectIdea(model, "attention 1");
}

TEST(Pattern, AttentionOfOneHeadAndOldSoftmax) {
  TestModel model(11);
  model.input("q", {kRows, kDepth}).input("k", {kDepth, kColumns}).input("v", {kColumns, kWidth}).output("y");
  model.node("MatMul", {"q", "k"}, {"s"}).node("Softmax", {"s"}, {"p"}).node("MatMul", {"p", "v"}, {"y"});
  expectIdea(model, "attention 1");
}

TEST(Pattern, SoftmaxOverRowsIsNoAttention) {
  TestModel model = scaled();
  expectNone(finish(model, "s", 2));
}

TEST(Pattern, ScoresTimesOneNumberPerHeadAreNoScale) {
  TestModel model = operands();
  model.floats("heads", {kHeads, 1, 1}, {0.5f, 0.25f}).node("MatMul", {"q", "kt"}, {"a"});
  model.node("Mul", {"a", "heads"}, {"s"});
  expectNone(finish(model, "s"));
}

TEST(Pattern, BiasOnSelectedScoresIsNone) {
  TestModel model = scaled();
  model.input("bias", {kRows, kColumns}).input("mask", {kRows, kColumns}, onnx::TensorProto::BOOL);
  model.floats("fill", {}, {-5})
      .node("Where", {"mask", "s", "fill"}, {"t"})
      .node("Add", {"t", "bias"}, {"u"});
  expectNone(finish(model, "u"));
}

TEST(Pattern, AttentionWhoseWeightsAreReadElsewhereIsNotComputedTwice) {
  TestModel model = scaled();
  finish(model, "s").output("p");
  expectNone(model);
}
