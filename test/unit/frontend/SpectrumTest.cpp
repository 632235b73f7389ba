// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// DFT and STFT against sums of complex numbers; windows and mel filters against their formulas.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <complex>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

using Complex = std::complex<double>;

std::vector<Complex> transformed(const std::vector<Complex> &signal, int64_t length, bool inverse) {
  std::vector<Complex> bins;
  for (int64_t k = 0; k < length; ++k) {
    Complex sum = 0;
    for (int64_t n = 0; n < std::min<int64_t>(length, signal.size()); ++n)
      sum += signal[n] * std::polar(1.0, (inverse ? 2 : -2) * M_PI * k * n / length);
    bins.push_back(inverse ? sum / double(length) : sum);
  }
  return bins;
}

void checkDft(int64_t opset, int64_t axis, int64_t parts, int64_t length, bool inverse, bool onesided) {
  SCOPED_TRACE(std::to_string(opset) + " " + std::to_string(axis) + " " + std::to_string(length));
  const std::vector<int64_t> shape = {2, 5, 3, parts};
  std::vector<double> x = someNumbers(30 * parts);
  TestModel model(opset);
  addTensor(model, "x", ElementType::F64, shape, x);
  model.ints("length", {}, {length}).ints("axis", {}, {axis});
  std::vector<std::string> inputs = {"x", length ? "length" : ""};
  if (opset >= 20)
    inputs.push_back("axis");
  model.node("DFT", inputs, {"y"})
      .attribute("inverse", int64_t(inverse))
      .attribute("onesided", int64_t(onesided));
  if (opset < 20)
    model.attribute("axis", axis);
  model.output("y");
  Tensor y = evaluatedOne(model);
  int64_t along = axis < 0 ? axis + 4 : axis, n = length ? length : shape[along];
  int64_t bins = onesided ? n / 2 + 1 : n;
  std::vector<int64_t> expectedShape = shape;
  expectedShape[along] = bins;
  expectedShape[3] = 2;
  ASSERT_EQ(y.shape, expectedShape);
  int64_t stride = along == 1 ? 3 : 1, outer = along == 1 ? 2 : 10;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < stride; ++i) {
      std::vector<Complex> signal;
      for (int64_t s = 0; s < shape[along]; ++s) {
        int64_t at = ((o * shape[along] + s) * stride + i) * parts;
        signal.emplace_back(x[at], parts == 2 ? x[at + 1] : 0);
      }
      std::vector<Complex> expected = transformed(signal, n, inverse);
      for (int64_t k = 0; k < bins; ++k) {
        int64_t at = ((o * bins + k) * stride + i) * 2;
        EXPECT_NEAR(y.values[at], expected[k].real(), 1e-9);
        EXPECT_NEAR(y.values[at + 1], expected[k].imag(), 1e-9);
      }
    }
}

TEST(Dft, AxesLengthsAndDirections) {
  for (int64_t opset : {17, 20})
    for (int64_t axis : {1, 2})
      for (int64_t parts : {1, 2}) {
        checkDft(opset, axis, parts, 0, /*inverse=*/false, /*onesided=*/false);
        checkDft(opset, axis, parts, 0, /*inverse=*/true, /*onesided=*/false);
        checkDft(opset, axis, parts, 7, /*inverse=*/false, /*onesided=*/true);
        checkDft(opset, axis, parts, 2, /*inverse=*/false, /*onesided=*/false);
      }
  checkDft(20, -2, 1, 0, false, true);
}

TEST(Dft, WhatIsWrongIsSaid) {
  TestModel model(17);
  model.input("x", {1, 4, 3}).node("DFT", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("whose last dimension is 1 (real) or 2 (complex)"));
}

TEST(Stft, FramesAreWindowedAndTransformed) {
  for (bool onesided : {false, true}) {
    std::vector<double> x = someNumbers(11), window = {0.5, 1, 1, 0.25};
    TestModel model(17);
    addTensor(model, "x", ElementType::F32, {1, 11, 1}, x);
    addTensor(model, "window", ElementType::F32, {4}, window);
    model.ints("step", {}, {3}).node("STFT", {"x", "step", "window"}, {"y"});
    model.attribute("onesided", int64_t(onesided)).output("y");
    Tensor y = evaluatedOne(model);
    int64_t bins = onesided ? 3 : 4;
    ASSERT_EQ(y.shape, (std::vector<int64_t>{1, 3, bins, 2}));
    for (int64_t frame = 0; frame < 3; ++frame) {
      std::vector<Complex> part;
      for (int64_t i = 0; i < 4; ++i)
        part.emplace_back(x[frame * 3 + i] * window[i], 0);
      std::vector<Complex> expected = transformed(part, 4, false);
      for (int64_t k = 0; k < bins; ++k) {
        EXPECT_NEAR(y.values[(frame * bins + k) * 2], expected[k].real(), 1e-5);
        EXPECT_NEAR(y.values[(frame * bins + k) * 2 + 1], expected[k].imag(), 1e-5);
      }
    }
  }
}

TEST(Windows, PeriodicAndSymmetric) {
  struct Window {
    const char *op;
    double c0, c1, c2;
  };
  for (auto [op, c0, c1, c2] :
       {Window{"HannWindow", 0.5, 0.5, 0}, Window{"HammingWindow", 0.543478, 0.456522, 0},
        Window{"BlackmanWindow", 0.42, 0.5, 0.08}})
    for (int64_t periodic : {0, 1}) {
      TestModel model(17);
      model.ints("size", {}, {8}).node(op, {"size"}, {"y"}).attribute("periodic", periodic);
      model.attribute("output_datatype", int64_t(onnx::TensorProto::DOUBLE)).output("y");
      Tensor y = evaluatedOne(model);
      EXPECT_EQ(y.type, ElementType::F64);
      ASSERT_THAT(y.values, SizeIs(8));
      for (int i = 0; i < 8; ++i) {
        double x = 2 * M_PI * i / (periodic ? 8 : 7);
        EXPECT_NEAR(y.values[i], c0 - c1 * std::cos(x) + c2 * std::cos(2 * x), 1e-5) << op;
      }
    }
}

TEST(MelWeightMatrix, ColumnsAreTriangles) {
  TestModel model(17);
  model.ints("bins", {}, {2}).ints("length", {}, {16}).ints("rate", {}, {16});
  model.floats("low", {}, {0}).floats("high", {}, {8});
  model.node("MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"}).output("y");
  Tensor y = evaluatedOne(model);
  ASSERT_EQ(y.shape, (std::vector<int64_t>{9, 2}));
  // So low the scale is linear: edges at 0, 2, 4, 6 of 17 / 16 bins each.
  std::vector<double> expected(18, 0);
  expected[1 * 2] = 0.5, expected[2 * 2] = 1, expected[3 * 2] = 0.5;
  expected[3 * 2 + 1] = 0.5, expected[4 * 2 + 1] = 1, expected[5 * 2 + 1] = 0.5;
  EXPECT_EQ(y.values, expected);
}

} // namespace
