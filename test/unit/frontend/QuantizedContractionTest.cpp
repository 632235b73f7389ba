// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer convolutions and matrix products against plain loops, bit for bit.
#include "test/unit/frontend/KnownModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;

namespace {

double clamped(double value, bool isSigned) {
  return isSigned ? std::min(std::max(value, -128.0), 127.0) : std::min(std::max(value, 0.0), 255.0);
}

/// saturate(round(sum * (left * right / result)) + zero) in single precision
double requantized(int64_t sum, float left, float right, float result, double zero, bool isSigned) {
  float factor = left * right / result;
  return clamped(std::nearbyint(static_cast<float>(sum) * factor) + zero, isSigned);
}

/// Sums of (a - za[row]) * (b - zb[column]) for [m,k] x [k,n].
std::vector<int64_t> product(const Numbers &a, const Numbers &b, const std::vector<double> &za,
                             const std::vector<double> &zb, int64_t m, int64_t k, int64_t n,
                             int64_t batch = 1) {
  std::vector<int64_t> sums(batch * m * n);
  bool sharesB = b.values.size() == static_cast<size_t>(k * n);
  for (int64_t g = 0; g < batch; ++g)
    for (int64_t i = 0; i < m; ++i)
      for (int64_t j = 0; j < n; ++j)
        for (int64_t p = 0; p < k; ++p) {
          double x = a.values[(g * m + i) * k + p] - za[za.size() == 1 ? 0 : i];
          double y = b.values[((sharesB ? 0 : g) * k + p) * n + j] - zb[zb.size() == 1 ? 0 : j];
          sums[(g * m + i) * n + j] += static_cast<int64_t>(x * y);
        }
  return sums;
}

TEST(QuantizedContraction, MatMulIntegerWithZeroPointsForRowsAndColumns) {
  Numbers a{ElementType::U8, {3, 4}, scattered(12, 0, 255)},
      b{ElementType::I8, {4, 5}, scattered(20, -128, 127, 2)};
  std::vector<double> za = {7, 0, 255}, zb = {-128, 1, 0, 127, 5};
  KnownModel model;
  model.tensor("a", a)
      .tensor("b", b)
      .tensor("za", {ElementType::U8, {3}, za})
      .tensor("zb", {ElementType::I8, {5}, zb});
  model.node("MatMulInteger", {"a", "b", "za", "zb"}, {"y"}).output("y");
  Numbers y = model.result();
  EXPECT_EQ(y.type, ElementType::I32);
  std::vector<int64_t> expected = product(a, b, za, zb, 3, 4, 5);
  EXPECT_EQ(y.values, std::vector<double>(expected.begin(), expected.end()));
}

TEST(QuantizedContraction, MatMulIntegerOfBatchesAndVectors) {
  Numbers a{ElementType::U8, {2, 3, 4}, scattered(24, 0, 255)},
      b{ElementType::U8, {2, 4, 2}, scattered(16, 0, 255, 3)};
  KnownModel model;
  model.tensor("a", a).tensor("b", b).tensor("za", {ElementType::U8, {2, 3, 1}, {3, 3, 3, 3, 3, 3}});
  model.node("MatMulInteger", {"a", "b", "za"}, {"y"}).output("y");
  std::vector<int64_t> expected = product(a, b, {3}, {0}, 3, 4, 2, 2);
  EXPECT_EQ(model.result().values, std::vector<double>(expected.begin(), expected.end()));
  KnownModel vectors;
  vectors.tensor("a", {ElementType::I8, {2}, {-128, 127}}).tensor("b", {ElementType::I8, {2}, {-128, -1}});
  vectors.node("MatMulInteger", {"a", "b"}, {"y"}).output("y");
  EXPECT_EQ(vectors.result().values, std::vector<double>{16384 - 127});
}

TEST(QuantizedContraction, QLinearMatMulWithScalesForRowsAndColumns) {
  for (bool isSigned : {false, true}) {
    ElementType type = isSigned ? ElementType::I8 : ElementType::U8;
    double low = isSigned ? -128 : 0, high = isSigned ? 127 : 255;
    Numbers a{type, {2, 3}, scattered(6, low, high)}, b{type, {3, 4}, scattered(12, low, high, 5)};
    std::vector<double> sa = {0.02, 0.5}, sb = {0.01, 0.3, 0.07, 1}, za = {1, 2}, zb = {3, 4, 5, 6};
    KnownModel model(21);
    model.tensor("a", a).tensor("sa", {ElementType::F32, {2}, sa}).tensor("za", {type, {2}, za});
    model.tensor("b", b).tensor("sb", {ElementType::F32, {4}, sb}).tensor("zb", {type, {4}, zb});
    model.tensor("sy", {ElementType::F32, {}, {0.7}}).tensor("zy", {type, {}, {9}});
    model.node("QLinearMatMul", {"a", "sa", "za", "b", "sb", "zb", "sy", "zy"}, {"y"}).output("y");
    Numbers y = model.result();
    std::vector<int64_t> sums = product(a, b, za, zb, 2, 3, 4);
    for (size_t i = 0; i < sums.size(); ++i)
      EXPECT_EQ(y.values[i], requantized(sums[i], sa[i / 4], sb[i % 4], 0.7f, 9, isSigned));
  }
}

/// A convolution of [batch, channels, …] in up to three dimensions, as plain sums.
struct PlainConvolution {
  std::vector<int64_t> input, weight; // shapes
  int64_t groups = 1, stride = 1, dilation = 1, pad = 0;
  std::vector<int64_t> output;

  std::vector<int64_t> run(const std::vector<double> &x, const std::vector<double> &w, double zx,
                           const std::vector<double> &zw) {
    size_t rank = input.size() - 2;
    std::vector<int64_t> in(3, 1), kernel(3, 1), out(3, 1);
    output = {input[0], weight[0]};
    for (size_t i = 0; i < rank; ++i) {
      in[i] = input[2 + i];
      kernel[i] = weight[2 + i];
      out[i] = (in[i] + 2 * pad - (kernel[i] - 1) * dilation - 1) / stride + 1;
      output.push_back(out[i]);
    }
    std::vector<int64_t> sums(input[0] * weight[0] * out[0] * out[1] * out[2]);
    int64_t each = input[1] / groups, filters = weight[0] / groups;
    size_t at = 0;
    for (int64_t n = 0; n < input[0]; ++n)
      for (int64_t f = 0; f < weight[0]; ++f)
        for (int64_t o = 0; o < out[0] * out[1] * out[2]; ++o, ++at)
          for (int64_t c = 0; c < each; ++c)
            for (int64_t k = 0; k < kernel[0] * kernel[1] * kernel[2]; ++k) {
              int64_t position[3] = {o / (out[1] * out[2]), o / out[2] % out[1], o % out[2]};
              int64_t tap[3] = {k / (kernel[1] * kernel[2]), k / kernel[2] % kernel[1], k % kernel[2]};
              int64_t index = n * input[1] + f / filters * each + c;
              bool inside = true;
              for (size_t i = 0; i < 3; ++i) {
                int64_t p = i < rank ? position[i] * stride + tap[i] * dilation - pad : 0;
                inside &= p >= 0 && p < in[i];
                index = index * in[i] + p;
              }
              double weightZero = zw[zw.size() == 1 ? 0 : f];
              if (inside)
                sums[at] += static_cast<int64_t>(
                    (x[index] - zx) *
                    (w[(f * each + c) * kernel[0] * kernel[1] * kernel[2] + k] - weightZero));
            }
    return sums;
  }
};

size_t count(const std::vector<int64_t> &shape) {
  size_t result = 1;
  for (int64_t dim : shape)
    result *= dim;
  return result;
}

const PlainConvolution kConvolutions[] = {
    {{1, 2, 7}, {3, 2, 3}, 1, 1, 1, 1, {}},
    {{1, 4, 6}, {4, 2, 3}, 2, 2, 1, 0, {}},
    {{2, 3, 5, 6}, {4, 3, 3, 3}, 1, 2, 1, 1, {}},
    {{1, 4, 5, 5}, {8, 1, 3, 3}, 4, 1, 1, 1, {}},
    {{1, 4, 6, 6}, {4, 1, 3, 3}, 4, 1, 2, 2, {}},
    {{1, 4, 5, 5}, {6, 2, 1, 1}, 2, 1, 1, 0, {}},
    {{1, 2, 4, 3, 5}, {3, 2, 2, 3, 3}, 1, 1, 1, 1, {}},
    {{1, 4, 3, 3, 4}, {4, 2, 2, 2, 2}, 2, 1, 1, 0, {}},
};

void addConvolutionAttributes(KnownModel &model, const PlainConvolution &conv) {
  size_t rank = conv.input.size() - 2;
  model.attribute("group", conv.groups).integers("strides", std::vector<int64_t>(rank, conv.stride));
  model.integers("dilations", std::vector<int64_t>(rank, conv.dilation));
  model.integers("pads", std::vector<int64_t>(2 * rank, conv.pad));
}

TEST(QuantizedContraction, ConvIntegerInOneToThreeDimensionsWithGroups) {
  for (PlainConvolution conv : kConvolutions) {
    std::vector<double> x = scattered(count(conv.input), 0, 255),
                        w = scattered(count(conv.weight), -128, 127, 4);
    KnownModel model;
    model.tensor("x", {ElementType::U8, conv.input, x}).tensor("w", {ElementType::I8, conv.weight, w});
    model.tensor("zx", {ElementType::U8, {}, {131}}).tensor("zw", {ElementType::I8, {}, {-3}});
    model.node("ConvInteger", {"x", "w", "zx", "zw"}, {"y"}).output("y");
    addConvolutionAttributes(model, conv);
    Numbers y = model.result();
    std::vector<int64_t> sums = conv.run(x, w, 131, {-3});
    EXPECT_EQ(y.shape, conv.output);
    EXPECT_EQ(y.values, std::vector<double>(sums.begin(), sums.end()));
  }
}

TEST(QuantizedContraction, QLinearConvWithScalesForFiltersAndBias) {
  for (PlainConvolution conv : kConvolutions) {
    int64_t filters = conv.weight[0];
    std::vector<double> x = scattered(count(conv.input), 0, 255),
                        w = scattered(count(conv.weight), -128, 127, 4);
    std::vector<double> scales = scattered(filters, 1, 90, 6), zeros = scattered(filters, -3, 3, 7);
    std::vector<double> bias = scattered(filters, -20000, 20000, 8);
    for (double &scale : scales)
      scale /= 1000;
    KnownModel model;
    model.tensor("x", {ElementType::U8, conv.input, x}).tensor("sx", {ElementType::F32, {}, {0.05}});
    model.tensor("zx", {ElementType::U8, {}, {128}}).tensor("w", {ElementType::I8, conv.weight, w});
    model.tensor("sw", {ElementType::F32, {filters}, scales})
        .tensor("zw", {ElementType::I8, {filters}, zeros});
    model.tensor("sy", {ElementType::F32, {}, {0.9}}).tensor("zy", {ElementType::U8, {}, {120}});
    model.tensor("b", {ElementType::I32, {filters}, bias});
    model.node("QLinearConv", {"x", "sx", "zx", "w", "sw", "zw", "sy", "zy", "b"}, {"y"}).output("y");
    addConvolutionAttributes(model, conv);
    Numbers y = model.result();
    std::vector<int64_t> sums = conv.run(x, w, 128, zeros);
    size_t plane = sums.size() / conv.input[0] / filters;
    ASSERT_EQ(y.values.size(), sums.size());
    for (size_t i = 0; i < sums.size(); ++i) {
      size_t f = i / plane % filters;
      EXPECT_EQ(y.values[i],
                requantized(sums[i] + static_cast<int64_t>(bias[f]), 0.05f, scales[f], 0.9f, 120, false));
    }
  }
}

TEST(QuantizedContraction, KnownWeightsAreCentredAtImport) {
  KnownModel model;
  model.input("x", {3, 4}, onnx::TensorProto::UINT8);
  model.tensor("w", {ElementType::U8, {4, 2}, {0, 1, 2, 3, 4, 5, 6, 7}})
      .tensor("zx", {ElementType::U8, {}, {5}});
  model.tensor("zw", {ElementType::U8, {2}, {1, 10}})
      .node("MatMulInteger", {"x", "w", "zx", "zw"}, {"y"})
      .output("y");
  std::string text = imported(model);
  EXPECT_THAT(text, HasSubstr("dense<[[-1, -9], [1, -7], [3, -5], [5, -3]]> : tensor<4x2xi32>"));
  EXPECT_EQ(occurrences(text, "linalg.generic"), 1u);
}

TEST(QuantizedContraction, WrongOperandsAreNamed) {
  KnownModel model;
  model.tensor("a", {ElementType::I16, {1, 1}, {1}}).tensor("b", {ElementType::I8, {1, 1}, {1}});
  model.node("MatMulInteger", {"a", "b"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("input 0 is i16, expected i8 or ui8"));
  KnownModel zero;
  zero.tensor("a", {ElementType::U8, {2, 2}, {1, 1, 1, 1}})
      .tensor("b", {ElementType::I8, {2, 3}, {1, 1, 1, 1, 1, 1}});
  zero.tensor("z", {ElementType::U8, {3}, {1, 1, 1}})
      .node("MatMulInteger", {"a", "b", "z"}, {"y"})
      .output("y");
  EXPECT_THAT(imported(zero),
              HasSubstr("input 2 of shape 3, expected one value, or one for each row of 2x2"));
}

} // namespace
