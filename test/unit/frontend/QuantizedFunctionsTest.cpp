// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's quantised functions: each result is that of the function in real numbers, rounded once.
#include "test/unit/frontend/KnownModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// A quantised tensor with its parameters.
struct Quantized {
  Numbers tensor;
  double scale, zero;
  double real(size_t i) const { return (tensor.values[i] - zero) * scale; }
};

Quantized bytes(std::vector<int64_t> shape, double scale, double zero, uint64_t seed) {
  size_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return {{ElementType::U8, shape, scattered(count, 0, 255, seed)}, scale, zero};
}

/// Adds the tensor (if it has elements) and its parameters; their names go to `inputs`.
void add(KnownModel &model, std::vector<std::string> &inputs, const std::string &name, const Quantized &x) {
  if (!x.tensor.values.empty()) {
    model.tensor(name, x.tensor);
    inputs.push_back(name);
  }
  model.tensor(name + "_s", {ElementType::F32, {}, {x.scale}})
      .tensor(name + "_z", {ElementType::U8, {}, {x.zero}});
  inputs.push_back(name + "_s");
  inputs.push_back(name + "_z");
}

/// At most one quantum from the exact result, and equal unless that is close to a half.
void expectQuantized(const Numbers &found, const std::vector<double> &real, const Quantized &result) {
  ASSERT_EQ(found.values.size(), real.size());
  EXPECT_EQ(found.type, ElementType::U8);
  for (size_t i = 0; i < real.size(); ++i) {
    double exact = std::min(std::max(real[i] / result.scale + result.zero, 0.0), 255.0);
    EXPECT_NEAR(found.values[i], exact, 0.5 + 1e-4) << "element " << i;
  }
}

const Quantized kResult = {{}, 0.05, 100};

TEST(QuantizedFunctions, AddAndMulBroadcast) {
  Quantized a = bytes({2, 3}, 0.03, 120, 1), b = bytes({3}, 0.02, 90, 2);
  for (bool multiplies : {false, true}) {
    KnownModel model;
    std::vector<std::string> inputs;
    add(model, inputs, "a", a);
    add(model, inputs, "b", b);
    add(model, inputs, "y", kResult);
    model.microsoft(multiplies ? "QLinearMul" : "QLinearAdd", inputs, {"r"}).output("r");
    std::vector<double> real;
    for (size_t i = 0; i < 6; ++i)
      real.push_back(multiplies ? a.real(i) * b.real(i % 3) : a.real(i) + b.real(i % 3));
    expectQuantized(model.result(), real, kResult);
  }
}

TEST(QuantizedFunctions, UnaryFunctions) {
  Quantized x = bytes({20}, 0.04, 128, 3), unit = {{}, 1 / 256.0, 0};
  std::vector<double> leaky, sigmoid;
  for (size_t i = 0; i < 20; ++i) {
    leaky.push_back(x.real(i) < 0 ? 0.25 * x.real(i) : x.real(i));
    sigmoid.push_back(1 / (1 + std::exp(-x.real(i))));
  }
  KnownModel model;
  std::vector<std::string> inputs;
  add(model, inputs, "x", x);
  add(model, inputs, "y", kResult);
  model.microsoft("QLinearLeakyRelu", inputs, {"r"}).attribute("alpha", 0.25f).output("r");
  inputs.resize(3);
  add(model, inputs, "u", unit);
  model.microsoft("QLinearSigmoid", inputs, {"s"}).output("s");
  std::vector<Numbers> found = model.evaluate();
  expectQuantized(found[0], leaky, kResult);
  expectQuantized(found[1], sigmoid, unit);
}

TEST(QuantizedFunctions, SoftmaxAlongAnAxis) {
  Quantized x = bytes({3, 4}, 0.02, 10, 4), unit = {{}, 1 / 256.0, 0};
  std::vector<double> real(12);
  for (size_t column = 0; column < 4; ++column) {
    double sum = 0;
    for (size_t row = 0; row < 3; ++row)
      sum += std::exp(x.real(row * 4 + column));
    for (size_t row = 0; row < 3; ++row)
      real[row * 4 + column] = std::exp(x.real(row * 4 + column)) / sum;
  }
  KnownModel model;
  std::vector<std::string> inputs;
  add(model, inputs, "x", x);
  add(model, inputs, "u", unit);
  model.microsoft("QLinearSoftmax", inputs, {"y"})
      .attribute("axis", int64_t(0))
      .attribute("opset", int64_t(13))
      .output("y");
  expectQuantized(model.result(), real, unit);
}

TEST(QuantizedFunctions, PoolsInBothLayouts) {
  Quantized x = bytes({1, 2, 3, 3}, 0.03, 100, 5);
  for (bool channelsLast : {false, true}) {
    if (channelsLast)
      x.tensor.shape = {1, 3, 3, 2};
    auto at = [&](size_t c, size_t row, size_t column) {
      return x.real(channelsLast ? (row * 3 + column) * 2 + c : (c * 3 + row) * 3 + column);
    };
    std::vector<double> windows(8), whole(2);
    for (size_t c = 0; c < 2; ++c)
      for (size_t i = 0; i < 9; ++i) {
        whole[c] += at(c, i / 3, i % 3) / 9;
        if (i >= 4)
          continue;
        for (size_t k = 0; k < 4; ++k)
          windows[channelsLast ? i * 2 + c : c * 4 + i] += at(c, i / 2 + k / 2, i % 2 + k % 2) / 4;
      }
    KnownModel model;
    std::vector<std::string> inputs;
    add(model, inputs, "x", x);
    add(model, inputs, "y", kResult);
    model.microsoft("QLinearAveragePool", inputs, {"a"}).integers("kernel_shape", {2, 2}).output("a");
    model.attribute("channels_last", int64_t(channelsLast));
    model.microsoft("QLinearGlobalAveragePool", inputs, {"g"})
        .attribute("channels_last", int64_t(channelsLast))
        .output("g");
    std::vector<Numbers> found = model.evaluate();
    expectQuantized(found[0], windows, kResult);
    expectQuantized(found[1], whole, kResult);
  }
}

TEST(QuantizedFunctions, ReduceMean) {
  Quantized x = bytes({2, 3, 4}, 0.03, 100, 6);
  std::vector<double> real(3);
  for (size_t i = 0; i < 24; ++i)
    real[i / 4 % 3] += x.real(i) / 8;
  KnownModel model;
  std::vector<std::string> inputs;
  add(model, inputs, "x", x);
  add(model, inputs, "y", kResult);
  model.microsoft("QLinearReduceMean", inputs, {"r"})
      .integers("axes", {0, -1})
      .attribute("keepdims", int64_t(0));
  Numbers y = (model.output("r"), model.result());
  EXPECT_THAT(y.shape, ElementsAre(3));
  expectQuantized(y, real, kResult);
}

TEST(QuantizedFunctions, ConcatAndWhereRequantize) {
  Quantized a = bytes({2, 2}, 0.03, 120, 7), b = bytes({2, 1}, 0.07, 30, 8);
  KnownModel model;
  std::vector<std::string> inputs;
  add(model, inputs, "y", kResult);
  add(model, inputs, "a", a);
  add(model, inputs, "b", b);
  model.microsoft("QLinearConcat", inputs, {"c"}).attribute("axis", int64_t(1)).output("c");
  model.tensor("condition", {ElementType::Bool, {2, 2}, {1, 0, 0, 1}});
  model.microsoft("QLinearWhere", {"condition", "a", "a_s", "a_z", "b", "b_s", "b_z", "y_s", "y_z"}, {"w"})
      .output("w");
  std::vector<Numbers> found = model.evaluate();
  expectQuantized(found[0], {a.real(0), a.real(1), b.real(0), a.real(2), a.real(3), b.real(1)}, kResult);
  expectQuantized(found[1], {a.real(0), b.real(0), b.real(1), a.real(3)}, kResult);
}

/// Real products of centred integers.
std::vector<double> product(const std::vector<double> &a, const std::vector<double> &b, int64_t m, int64_t k,
                            int64_t n) {
  std::vector<double> y(m * n);
  for (int64_t i = 0; i < m * n; ++i)
    for (int64_t p = 0; p < k; ++p)
      y[i] += a[i / n * k + p] * b[p * n + i % n];
  return y;
}

TEST(QuantizedFunctions, MatMulIntegerToFloatWithScalesForColumns) {
  Numbers a{ElementType::U8, {2, 3}, scattered(6, 0, 255)},
      b{ElementType::I8, {3, 2}, scattered(6, -128, 127, 2)};
  std::vector<double> left, right, expected, bias = {10, -20}, scales = {0.5, 0.125};
  for (double value : a.values)
    left.push_back(value - 100);
  for (size_t i = 0; i < 6; ++i)
    right.push_back(b.values[i] - (i % 2 ? 3 : -2));
  expected = product(left, right, 2, 3, 2);
  for (size_t i = 0; i < 4; ++i)
    expected[i] = expected[i] * 0.25 * scales[i % 2] + bias[i % 2];
  KnownModel model;
  model.tensor("a", a)
      .tensor("b", b)
      .tensor("sa", {ElementType::F32, {}, {0.25}})
      .tensor("sb", {ElementType::F32, {2}, scales});
  model.tensor("za", {ElementType::U8, {}, {100}}).tensor("zb", {ElementType::I8, {2}, {-2, 3}});
  model.tensor("bias", {ElementType::F32, {2}, bias});
  model.microsoft("MatMulIntegerToFloat", {"a", "b", "sa", "sb", "za", "zb", "bias"}, {"y"}).output("y");
  // Powers of two: every step is exact.
  EXPECT_EQ(model.result().values, expected);
}

TEST(QuantizedFunctions, GemmOfEitherOrientationWithBytesOrFloats) {
  // [2,3] x [3,4]
  std::vector<double> a = scattered(6, 0, 255), b = scattered(12, -128, 127, 2),
                      c = scattered(4, -900, 900, 3);
  std::vector<double> scales = {0.5, 0.25, 0.125, 1}, zeros = {1, -2, 3, 0}, left, right, floats;
  for (double value : a)
    left.push_back(value - 90);
  for (size_t i = 0; i < 12; ++i)
    right.push_back(b[i] - zeros[i % 4]);
  floats = product(left, right, 2, 3, 4);
  for (size_t i = 0; i < 8; ++i)
    floats[i] = (floats[i] + c[i % 4]) * 2 * 0.0625 * scales[i % 4];
  auto turned = [](const std::vector<double> &x, int64_t rows, int64_t columns) {
    std::vector<double> y;
    for (int64_t i = 0; i < rows * columns; ++i)
      y.push_back(x[i % rows * columns + i / rows]);
    return y;
  };
  for (int form = 0; form < 8; ++form) {
    bool transA = form & 1, transB = form & 2, isQuantized = form & 4;
    KnownModel model;
    if (transA)
      model.tensor("a", {ElementType::U8, {3, 2}, turned(a, 2, 3)});
    else
      model.tensor("a", {ElementType::U8, {2, 3}, a});
    if (transB)
      model.tensor("b", {ElementType::I8, {4, 3}, turned(b, 3, 4)});
    else
      model.tensor("b", {ElementType::I8, {3, 4}, b});
    model.tensor("sa", {ElementType::F32, {}, {0.0625}}).tensor("za", {ElementType::U8, {}, {90}});
    model.tensor("sb", {ElementType::F32, {4}, scales}).tensor("zb", {ElementType::I8, {4}, zeros});
    model.tensor("c", {ElementType::I32, {4}, c}).tensor("sy", {ElementType::F32, {}, {8}});
    model.tensor("zy", {ElementType::U8, {}, {128}});
    std::vector<std::string> inputs = {"a", "sa", "za", "b", "sb", "zb", "c"};
    if (isQuantized)
      inputs.insert(inputs.end(), {"sy", "zy"});
    model.microsoft("QGemm", inputs, {"y"})
        .attribute("transA", int64_t(transA))
        .attribute("transB", int64_t(transB));
    model.attribute("alpha", 2.0f).output("y");
    // Powers of two: every step is exact.
    std::vector<double> expected = floats;
    for (double &value : expected)
      if (isQuantized)
        value = std::min(std::max(std::nearbyint(value / 8) + 128, 0.0), 255.0);
    EXPECT_EQ(model.result().values, expected);
  }
}

TEST(QuantizedFunctions, DynamicQuantizeMatMul) {
  std::vector<double> a = {-1, 0.5, 1.55, 0.25, -0.75, 1}, zero = {4};
  Numbers b{ElementType::U8, {3, 2}, scattered(6, 0, 255, 2)};
  float scale = 2.55f / 255;
  double zeroA = std::nearbyint(1 / scale);
  std::vector<double> left, right, expected;
  for (double value : a)
    left.push_back(std::nearbyint(static_cast<float>(value) / scale) + zeroA - zeroA);
  for (double value : b.values)
    right.push_back(value - 4);
  expected = product(left, right, 2, 3, 2);
  for (size_t i = 0; i < 4; ++i)
    expected[i] = expected[i] * scale * 0.5 + (i % 2 ? 2 : 1);
  KnownModel model;
  model.tensor("a", {ElementType::F32, {2, 3}, a}).tensor("b", b).tensor("s", {ElementType::F32, {}, {0.5}});
  model.tensor("z", {ElementType::U8, {}, zero}).tensor("bias", {ElementType::F32, {2}, {1, 2}});
  model.microsoft("DynamicQuantizeMatMul", {"a", "b", "s", "z", "bias"}, {"y"}).output("y");
  Numbers y = model.result();
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(y.values[i], expected[i], 1e-4);
}

TEST(QuantizedFunctions, WrongParametersAreNamed) {
  KnownModel model;
  model.tensor("x", {ElementType::I32, {1}, {1}}).tensor("s", {ElementType::F32, {}, {1}});
  model.microsoft("QLinearSigmoid", {"x", "s", "", "s"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("input 0 is i32, expected 8-bit integers"));
}

} // namespace
