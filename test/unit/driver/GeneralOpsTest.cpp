// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that no loop nest is made for: they compile and are right.
#include "test/unit/driver/RunText.h"

#include <gmock/gmock.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::Each;
using testing::FloatNear;

namespace {

TEST(GeneralOps, AReductionWithTwoResultsGivesBoth) {
  std::vector<float> x = {3, 9, -1, 4, 9, 2, -5, -7, -6};
  auto outputs = runText(R"(
    func.func @main(%x: tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xi64>) {
      %low = arith.constant 0xFF800000 : f32
      %none = arith.constant -1 : i64
      %ev = tensor.empty() : tensor<3xf32>
      %ei = tensor.empty() : tensor<3xi64>
      %fv = linalg.fill ins(%low : f32) outs(%ev : tensor<3xf32>) -> tensor<3xf32>
      %fi = linalg.fill ins(%none : i64) outs(%ei : tensor<3xi64>) -> tensor<3xi64>
      %r:2 = linalg.generic {
          indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
          iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<3x3xf32>) outs(%fv, %fi : tensor<3xf32>, tensor<3xi64>) {
      ^bb0(%v: f32, %best: f32, %at: i64):
        %j = linalg.index 1 : index
        %here = arith.index_cast %j : index to i64
        %better = arith.cmpf ogt, %v, %best : f32
        %value = arith.select %better, %v, %best : f32
        %index = arith.select %better, %here, %at : i64
        linalg.yield %value, %index : f32, i64
      } -> (tensor<3xf32>, tensor<3xi64>)
      return %r#0, %r#1 : tensor<3xf32>, tensor<3xi64>
    })",
                         {hostTensor("f32", {3, 3}, x)});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAre(9, 9, -5));
  EXPECT_THAT(valuesOf<int64_t>(outputs[1]), ElementsAre(1, 1, 0));
}

TEST(GeneralOps, ALoopRunsAsOftenAsTheDataSay) {
  auto outputs = runText(R"(
    func.func @main(%x: tensor<4xf32>, %count: tensor<i32>) -> tensor<4xf32> {
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %n = tensor.extract %count[] : tensor<i32>
      %steps = arith.index_cast %n : i32 to index
      %y = scf.for %i = %zero to %steps step %one iter_args(%v = %x) -> tensor<4xf32> {
        %w = arith.addf %v, %x : tensor<4xf32>
        scf.yield %w : tensor<4xf32>
      }
      return %y : tensor<4xf32>
    })",
                         {hostTensor<float>("f32", {4}, {1, 2, 3, 4}), hostTensor<int32_t>("i32", {}, {3})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAre(4, 8, 12, 16));
}

TEST(GeneralOps, PaddingMayCutOffAndComeFromTheData) {
  auto outputs = runText(R"(
    func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<4xf32> {
      %v = tensor.extract %y[] : tensor<f32>
      %p = tensor.pad %x low[-2] high[2] {
      ^bb0(%i: index):
        tensor.yield %v : f32
      } : tensor<4xf32> to tensor<4xf32>
      return %p : tensor<4xf32>
    })",
                         {hostTensor<float>("f32", {4}, {1, 2, 3, 4}), hostTensor<float>("f32", {}, {7})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAre(3, 4, 7, 7));
}

TEST(GeneralOps, AReductionMayStartFromAValueAndHaveATail) {
  auto outputs = runText(R"(
    func.func @main(%x: tensor<2x3xf32>, %start: tensor<2xf32>) -> tensor<2xf32> {
      %s = linalg.reduce ins(%x : tensor<2x3xf32>) outs(%start : tensor<2xf32>) dimensions = [1]
        (%v: f32, %acc: f32) {
          %sum = arith.addf %v, %acc : f32
          linalg.yield %sum : f32
        }
      %e = tensor.empty() : tensor<2xf32>
      %y = linalg.negf ins(%s : tensor<2xf32>) outs(%e : tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    })",
                         {hostTensor<float>("f32", {2, 3}, {1, 2, 3, 4, 5, 6}), hostTensor<float>("f32", {2}, {10, 20})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAre(-16, -35));
}

TEST(GeneralOps, ASoftmaxIsItsParts) {
  auto outputs = runText(R"(
    func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
      %e = tensor.empty() : tensor<1x4xf32>
      %y = linalg.softmax dimension(1) ins(%x : tensor<1x4xf32>) outs(%e : tensor<1x4xf32>) -> tensor<1x4xf32>
      return %y : tensor<1x4xf32>
    })",
                         {hostTensor<float>("f32", {1, 4}, {5, 5, 5, 5})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), Each(FloatNear(0.25f, 1e-6f)));
}

/// 2049 is no half-precision number: additions of 1 to 2048 that are rounded one by one change nothing.
TEST(GeneralOps, HalfPrecisionIsRoundedOnceAtTheEnd) {
  const std::vector<uint16_t> x = {0x6800}, y = {0x6802}; // 2048, 2052
  auto outputs = runText(R"(
    func.func @main(%x: tensor<1xf16>) -> tensor<1xf16> {
      %one = arith.constant dense<1.0> : tensor<1xf16>
      %a = arith.addf %x, %one : tensor<1xf16>
      %b = arith.addf %a, %one : tensor<1xf16>
      %c = arith.addf %b, %one : tensor<1xf16>
      return %c : tensor<1xf16>
    })",
                         {hostTensor("f16", {1}, x)});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(valuesOf<uint16_t>(outputs[0]), y); // 2051 rounds to even; rounded at each step it would stay 2048
}

/// What the model itself rounds stays rounded.
TEST(GeneralOps, ACastToHalfPrecisionRounds) {
  auto outputs = runText(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %e = tensor.empty() : tensor<2xf16>
      %h = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%e : tensor<2xf16>) {
      ^bb0(%a: f32, %b: f16):
        %v = arith.truncf %a : f32 to f16
        linalg.yield %v : f16
      } -> tensor<2xf16>
      %f = tensor.empty() : tensor<2xf32>
      %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%h : tensor<2xf16>) outs(%f : tensor<2xf32>) {
      ^bb0(%a: f16, %b: f32):
        %v = arith.extf %a : f16 to f32
        linalg.yield %v : f32
      } -> tensor<2xf32>
      return %s : tensor<2xf32>
    })",
                         {hostTensor<float>("f32", {2}, {2049, 1.0001f})});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAre(2048, 1));
}

} // namespace
