// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shape of the imported IR, and what is folded on the way.
#include "test/unit/frontend/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using autotune::test::imported;
using autotune::test::occurrences;
using autotune::test::TestModel;
using testing::HasSubstr;
using testing::Not;

namespace {

TEST(Import, ConvolutionIsPadFillConvAndBias) {
  TestModel model;
  model.input("x", {1, 3, 8, 8}).floats("w", {4, 3, 3, 3}, std::vector<float>(108, 0.5f)).floats("b", {4}, {1, 2, 3, 4});
  model.node("Conv", {"x", "w", "b"}, {"y"}).integers("pads", {1, 1, 1, 1}).integers("strides", {2, 2}).output("y");
  std::string text = imported(model);
  // The last row and column of padding are never read with stride 2.
  EXPECT_THAT(text, HasSubstr("tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 0, 0]"));
  EXPECT_THAT(text, HasSubstr("linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2>"));
  EXPECT_THAT(text, HasSubstr("affine_map<(d0, d1, d2, d3) -> (d1)>"));
  EXPECT_THAT(text, HasSubstr("arith.constant dense<5.000000e-01> : tensor<4x3x3x3xf32>"));
  EXPECT_THAT(text, HasSubstr("loc(\"Conv_node\")"));
  EXPECT_THAT(text, HasSubstr("autotune.name = \"x\""));
  EXPECT_THAT(text, HasSubstr("autotune.name = \"y\""));
}

TEST(Import, NoPadWithoutPadding) {
  TestModel model;
  model.input("x", {1, 1, 4, 4}).floats("w", {1, 1, 1, 1}, {2}).node("Conv", {"x", "w"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), Not(HasSubstr("tensor.pad")));
}

TestModel convWithNorm() {
  TestModel model;
  model.input("x", {1, 1, 4, 4}).floats("w", {2, 1, 1, 1}, {1, 3}).floats("scale", {2}, {4, 8});
  model.floats("bias", {2}, {1, 2}).floats("mean", {2}, {0.5, 0.25}).floats("variance", {2}, {4, 16});
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("BatchNormalization", {"c", "scale", "bias", "mean", "variance"}, {"y"}).attribute("epsilon", 0.0f);
  model.output("y");
  return model;
}

TEST(Import, BatchNormalizationAfterConvIsFolded) {
  std::string text = imported(convWithNorm());
  // Scale 4 / sqrt(4) = 2 on both filters; shifts 1 - 0.5 * 2 = 0 and 2 - 0.25 * 2 = 1.5.
  EXPECT_THAT(text, HasSubstr("dense<[[[[2.000000e+00]]], [[[6.000000e+00]]]]>"));
  EXPECT_THAT(text, HasSubstr("dense<[0.000000e+00, 1.500000e+00]>"));
  EXPECT_EQ(occurrences(text, "linalg.generic"), 1u);
}

TEST(Import, BatchNormalizationIsKeptWhenTheConvHasOtherReaders) {
  TestModel model = convWithNorm();
  model.output("c");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("arith.mulf"));
  EXPECT_THAT(text, HasSubstr("dense<[[[[1.000000e+00]]], [[[3.000000e+00]]]]>"));
}

TEST(Import, DepthwiseAndGroupedConvolutions) {
  TestModel depthwise;
  depthwise.input("x", {1, 4, 4, 4}).floats("w", {4, 1, 3, 3}, std::vector<float>(36, 1));
  depthwise.node("Conv", {"x", "w"}, {"y"}).attribute("group", int64_t(4)).output("y");
  EXPECT_THAT(imported(depthwise), HasSubstr("linalg.depthwise_conv_2d_nchw_chw"));
  TestModel grouped;
  grouped.input("x", {1, 4, 4, 4}).floats("w", {6, 2, 3, 3}, std::vector<float>(108, 1));
  grouped.node("Conv", {"x", "w"}, {"y"}).attribute("group", int64_t(2)).output("y");
  std::string text = imported(grouped);
  EXPECT_THAT(text, HasSubstr("linalg.conv_2d_ngchw_gfchw"));
  EXPECT_THAT(text, HasSubstr("tensor<1x2x3x2x2xf32> into tensor<1x6x2x2xf32>"));
}

TEST(Import, ShapeArithmeticIsFolded) {
  TestModel model(13);
  model.input("x", {2, "rest"}).ints("zero", {}, {0}).ints("axes", {1}, {0}).ints("minus", {1}, {-1});
  model.node("Shape", {"x"}, {"s"}).node("Gather", {"s", "zero"}, {"n"}).node("Unsqueeze", {"n", "axes"}, {"n1"});
  model.node("Mul", {"n1", "n1"}, {"n2"}).node("Concat", {"n2", "minus"}, {"t"}).attribute("axis", int64_t(0));
  model.node("Reshape", {"x", "t"}, {"y"}).output("y");
  std::string text = imported(model, {{"x", {2, 6}}});
  EXPECT_THAT(text, HasSubstr("-> (tensor<4x3xf32>"));
  EXPECT_THAT(text, Not(HasSubstr("linalg")));
  EXPECT_THAT(text, Not(HasSubstr("arith")));
}

TEST(Import, KnownFloatsAreEvaluatedAsAtRunTime) {
  TestModel model;
  model.input("x", {3}).floats("a", {3}, {1, 4, 9}).floats("b", {1}, {0.5});
  model.node("Sqrt", {"a"}, {"r"}).node("Div", {"r", "b"}, {"d"}).node("Add", {"x", "d"}, {"y"}).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("dense<[2.000000e+00, 4.000000e+00, 6.000000e+00]>"));
  EXPECT_EQ(occurrences(text, "linalg.generic"), 1u);
}

TEST(Import, BroadcastOperandsAreProjected) {
  TestModel model;
  model.input("x", {1, 2, 3, 4}).input("s", {1, 2, 1, 1}).floats("c", {2, 1, 1}, {5, 6}).floats("one", {1}, {7});
  model.node("Mul", {"x", "s"}, {"a"}).node("Add", {"a", "c"}, {"b"}).node("Sub", {"b", "one"}, {"y"}).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("tensor.collapse_shape %arg1"));
  EXPECT_EQ(occurrences(text, "affine_map<(d0, d1, d2, d3) -> (d1)>"), 2u);
  EXPECT_THAT(text, HasSubstr("dense<[5.000000e+00, 6.000000e+00]> : tensor<2xf32>"));
  EXPECT_THAT(text, HasSubstr("arith.constant 7.000000e+00 : f32"));
}

TEST(Import, MatMulWithAMatrixIsOneMatMul) {
  TestModel model;
  model.input("x", {2, 3, 4}).input("w", {4, 5}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("linalg.matmul ins(%collapsed, %arg1 : tensor<6x4xf32>, tensor<4x5xf32>)"));
  TestModel batched;
  batched.input("x", {2, 3, 4, 5}).input("w", {2, 3, 5, 6}).node("MatMul", {"x", "w"}, {"y"}).output("y");
  EXPECT_THAT(imported(batched), HasSubstr("tensor<6x4x5xf32>, tensor<6x5x6xf32>"));
}

TEST(Import, GemmTransposesAndScalesConstants) {
  TestModel model;
  model.input("x", {1, 2}).floats("w", {2, 2}, {1, 2, 3, 4}).floats("b", {2}, {1, 1});
  model.node("Gemm", {"x", "w", "b"}, {"y"}).attribute("transB", int64_t(1)).attribute("alpha", 2.0f).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("dense<[[2.000000e+00, 6.000000e+00], [4.000000e+00, 8.000000e+00]]>"));
  EXPECT_THAT(text, Not(HasSubstr("linalg.transpose")));
}

TEST(Import, SoftmaxIsOneOp) {
  TestModel model;
  model.input("x", {2, 3}).node("Softmax", {"x"}, {"y"}).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("linalg.softmax dimension(1)"));
  EXPECT_EQ(occurrences(text, "linalg.generic"), 0u);
}

TEST(Import, OldSoftmaxSeesAMatrix) {
  TestModel model(11);
  model.input("x", {2, 3, 4}).node("Softmax", {"x"}, {"y"}).attribute("axis", int64_t(1)).output("y");
  EXPECT_THAT(imported(model), HasSubstr("tensor<2x3x4xf32> into tensor<2x12xf32>"));
}

TEST(Import, AveragePoolWithPaddingDividesByWhatItRead) {
  TestModel model;
  model.input("x", {1, 1, 4, 4}).node("AveragePool", {"x"}, {"y"}).integers("kernel_shape", {2, 2});
  model.integers("pads", {1, 1, 0, 0}).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("linalg.pooling_nchw_sum"));
  EXPECT_THAT(text, HasSubstr("dense<[[1.000000e+00, 5.000000e-01, 5.000000e-01, 5.000000e-01], [5.000000e-01, 2.500000e-01"));
}

TEST(Import, UnsignedTensorsSaySo) {
  TestModel model;
  model.input("x", {2}, onnx::TensorProto::UINT8).node("Max", {"x", "x"}, {"y"}).output("y");
  std::string text = imported(model);
  EXPECT_EQ(occurrences(text, "autotune.dtype = \"ui8\""), 2u);
  EXPECT_THAT(text, HasSubstr("arith.maxui"));
}

TEST(Import, IdentityAndDropoutDisappear) {
  TestModel model;
  model.input("x", {2}).node("Identity", {"x"}, {"a"}).node("Dropout", {"a"}, {"b"}).node("Relu", {"b"}, {"y"});
  model.output("y");
  EXPECT_EQ(occurrences(imported(model), "linalg.generic"), 1u);
}

TEST(Import, NewerIrAndOpsetsThanTheCheckerKnows) {
  TestModel model(21);
  model.model.set_ir_version(10);
  model.input("x", {2, 4}).ints("axes", {1}, {1}).node("ReduceMean", {"x", "axes"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("tensor<2x1xf32>"));
}

TEST(Import, SliceClampsAndReverses) {
  TestModel model;
  model.input("x", {5}).ints("starts", {1}, {-1}).ints("ends", {1}, {INT64_MIN}).ints("axes", {1}, {0});
  model.ints("steps", {1}, {-2}).node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"y"}).output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("tensor.extract_slice %arg0[0] [3] [2]"));
  EXPECT_THAT(text, HasSubstr("tensor.extract "));
}

} // namespace
