// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compiled models compute, where vector code could get it wrong.
#include "test/unit/driver/RunText.h"

#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAreArray;
using testing::IsEmpty;

TEST(CompiledModel, BoolsAreOneByteAnElement) {
  std::vector<int32_t> x, y;
  std::vector<char> less;
  for (int i = 0; i < 37; ++i) {
    x.push_back(i);
    y.push_back(i * 5 % 37);
    less.push_back(x[i] < y[i]);
  }
  auto outputs = runText(R"(
    func.func @main(%x: tensor<37xi32>, %y: tensor<37xi32>) -> tensor<37xi1> {
      %e = tensor.empty() : tensor<37xi1>
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%x, %y : tensor<37xi32>, tensor<37xi32>) outs(%e : tensor<37xi1>) {
      ^bb0(%a: i32, %b: i32, %c: i1):
        %v = arith.cmpi slt, %a, %b : i32
        linalg.yield %v : i1
      } -> tensor<37xi1>
      return %r : tensor<37xi1>
    })",
                         {hostTensor("i32", {37}, x), hostTensor("i32", {37}, y)});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(outputs[0].bytes, ElementsAreArray(less));
}

TEST(CompiledModel, BoolsAreReadAsBytes) {
  std::vector<char> x;
  std::vector<float> chosen;
  for (int i = 0; i < 70; ++i) {
    x.push_back(i % 3 == 0);
    chosen.push_back(x[i] ? 2.0f : -1.0f);
  }
  auto outputs = runText(R"(
    func.func @main(%x: tensor<70xi1>) -> tensor<70xf32> {
      %e = tensor.empty() : tensor<70xf32>
      %two = arith.constant 2.0 : f32
      %minus = arith.constant -1.0 : f32
      %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
          iterator_types = ["parallel"]} ins(%x : tensor<70xi1>) outs(%e : tensor<70xf32>) {
      ^bb0(%a: i1, %b: f32):
        %v = arith.select %a, %two, %minus : f32
        linalg.yield %v : f32
      } -> tensor<70xf32>
      return %r : tensor<70xf32>
    })",
                         {hostTensor("i1", {70}, x)});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAreArray(chosen));
}

TEST(CompiledModel, GatherFromAStridedPartTakesItsElements) {
  // Rows of a part of %x, in reverse: the linear index of the gather is not the distance in memory.
  std::vector<float> x(6 * 10 * 5), expected;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i);
  for (int i = 4; i >= 0; --i)
    for (int j = 2; j >= 0; --j)
      for (int k = 0; k < 2; ++k)
        expected.push_back(x[(1 + i) * 50 + (1 + 3 * j) * 5 + 2 + 2 * k]);
  auto outputs = runText(R"(
    func.func @main(%x: tensor<6x10x5xf32>) -> tensor<5x3x2xf32> {
      %part = tensor.extract_slice %x[1, 1, 2] [5, 3, 2] [1, 3, 2] : tensor<6x10x5xf32> to tensor<5x3x2xf32>
      %e = tensor.empty() : tensor<5x3x2xf32>
      %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>],
          iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<5x3x2xf32>) {
      ^bb0(%b: f32):
        %c4 = arith.constant 4 : index
        %c2 = arith.constant 2 : index
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %k = linalg.index 2 : index
        %ri = arith.subi %c4, %i : index
        %rj = arith.subi %c2, %j : index
        %v = tensor.extract %part[%ri, %rj, %k] : tensor<5x3x2xf32>
        linalg.yield %v : f32
      } -> tensor<5x3x2xf32>
      return %r : tensor<5x3x2xf32>
    })",
                         {hostTensor("f32", {6, 10, 5}, x)});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAreArray(expected));
}

TEST(CompiledModel, TensorsWithoutElementsPassThrough) {
  std::vector<float> x = {1, 2, 3};
  auto outputs = runText(R"(
    func.func @main(%x: tensor<3xf32>, %none: tensor<0xf32>) -> (tensor<3xf32>, tensor<0xf32>, tensor<2xf32>) {
      %all = tensor.concat dim(0) %none, %x, %none : (tensor<0xf32>, tensor<3xf32>, tensor<0xf32>) -> tensor<3xf32>
      %e = tensor.empty() : tensor<0xf32>
      %n = linalg.negf ins(%none : tensor<0xf32>) outs(%e : tensor<0xf32>) -> tensor<0xf32>
      %seven = arith.constant 7.0 : f32
      %pad = tensor.pad %n low[0] high[2] {
      ^bb0(%i: index):
        tensor.yield %seven : f32
      } : tensor<0xf32> to tensor<2xf32>
      return %all, %n, %pad : tensor<3xf32>, tensor<0xf32>, tensor<2xf32>
    })",
                         {hostTensor("f32", {3}, x), hostTensor("f32", {0}, std::vector<float>())});
  ASSERT_EQ(outputs.size(), 3u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAreArray(x));
  EXPECT_THAT(outputs[1].bytes, IsEmpty());
  EXPECT_THAT(valuesOf<float>(outputs[2]), ElementsAreArray({7.0f, 7.0f}));
}

/// Rows of 4 KB between two products are moved apart; the product, a sum and a result in heads all read them.
TEST(CompiledModel, RowsThatAreMovedApartHoldTheSameNumbers) {
  constexpr int kRows = 20, kInner = 3, kWidth = 1024, kColumns = 5;
  std::vector<float> x(kRows * kInner), first(kInner * kWidth), second(kWidth * kColumns);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(int(i * 7 % 11) - 5);
  for (size_t i = 0; i < first.size(); ++i)
    first[i] = float(int(i * 5 % 13) - 6);
  for (size_t i = 0; i < second.size(); ++i)
    second[i] = float(int(i * 3 % 7) - 3);
  // Small whole numbers: every sum is exact.
  std::vector<float> hidden(kRows * kWidth), product(kRows * kColumns), negated;
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kWidth; ++j)
      for (int k = 0; k < kInner; ++k)
        hidden[i * kWidth + j] += x[i * kInner + k] * first[k * kWidth + j];
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j)
      for (int k = 0; k < kWidth; ++k)
        product[i * kColumns + j] += hidden[i * kWidth + k] * second[k * kColumns + j];
  for (float value : hidden)
    negated.push_back(-value);
  auto outputs = runText(R"(
    func.func @main(%x: tensor<20x3xf32>, %first: tensor<3x1024xf32>, %second: tensor<1024x5xf32>)
        -> (tensor<20x5xf32>, tensor<20x16x64xf32>) {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<20x1024xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x1024xf32>) -> tensor<20x1024xf32>
      %hidden = linalg.matmul ins(%x, %first : tensor<20x3xf32>, tensor<3x1024xf32>)
                              outs(%f : tensor<20x1024xf32>) -> tensor<20x1024xf32>
      %g = tensor.empty() : tensor<20x5xf32>
      %h = linalg.fill ins(%zero : f32) outs(%g : tensor<20x5xf32>) -> tensor<20x5xf32>
      %product = linalg.matmul ins(%hidden, %second : tensor<20x1024xf32>, tensor<1024x5xf32>)
                               outs(%h : tensor<20x5xf32>) -> tensor<20x5xf32>
      %heads = tensor.expand_shape %hidden [[0], [1, 2]] output_shape [20, 16, 64]
          : tensor<20x1024xf32> into tensor<20x16x64xf32>
      %i = tensor.empty() : tensor<20x16x64xf32>
      %negated = linalg.negf ins(%heads : tensor<20x16x64xf32>) outs(%i : tensor<20x16x64xf32>)
          -> tensor<20x16x64xf32>
      return %product, %negated : tensor<20x5xf32>, tensor<20x16x64xf32>
    })",
                         {hostTensor("f32", {kRows, kInner}, x), hostTensor("f32", {kInner, kWidth}, first),
                          hostTensor("f32", {kWidth, kColumns}, second)});
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAreArray(product));
  EXPECT_THAT(valuesOf<float>(outputs[1]), ElementsAreArray(negated));
}

/// A tail that reads its root again after the sum that it was read for.
TEST(CompiledModel, ATailMayReadItsRootLate) {
  constexpr int kRows = 9, kInner = 8, kColumns = 16;
  std::vector<float> x(kRows * kInner), y(kInner * kColumns), bias(kColumns), expected(kRows * kColumns);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(int(i * 7 % 11) - 5);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] = float(int(i * 5 % 13) - 6);
  for (int j = 0; j < kColumns; ++j)
    bias[j] = float(j);
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) {
      float product = 0;
      for (int k = 0; k < kInner; ++k)
        product += x[i * kInner + k] * y[k * kColumns + j];
      expected[i * kColumns + j] = (product + bias[j]) * product;
    }
  auto outputs = runText(R"(
    #whole = affine_map<(i, j) -> (i, j)>
    func.func @main(%x: tensor<9x8xf32>, %y: tensor<8x16xf32>, %bias: tensor<16xf32>) -> tensor<9x16xf32> {
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : tensor<9x16xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9x16xf32>) -> tensor<9x16xf32>
      %product = linalg.matmul ins(%x, %y : tensor<9x8xf32>, tensor<8x16xf32>) outs(%f : tensor<9x16xf32>)
          -> tensor<9x16xf32>
      %sum = linalg.generic {indexing_maps = [#whole, affine_map<(i, j) -> (j)>, #whole],
          iterator_types = ["parallel", "parallel"]}
          ins(%product, %bias : tensor<9x16xf32>, tensor<16xf32>) outs(%e : tensor<9x16xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %v = arith.addf %a, %b : f32
        linalg.yield %v : f32
      } -> tensor<9x16xf32>
      %r = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]}
          ins(%sum, %product : tensor<9x16xf32>, tensor<9x16xf32>) outs(%e : tensor<9x16xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %v = arith.mulf %a, %b : f32
        linalg.yield %v : f32
      } -> tensor<9x16xf32>
      return %r : tensor<9x16xf32>
    })",
                         {hostTensor("f32", {kRows, kInner}, x), hostTensor("f32", {kInner, kColumns}, y),
                          hostTensor("f32", {kColumns}, bias)});
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_THAT(valuesOf<float>(outputs[0]), ElementsAreArray(expected));
}
