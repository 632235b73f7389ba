// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's fused convolutions, products, Gelu forms, and its small operators, against plain loops.
#include "test/unit/frontend/KnownModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

void expectClose(const Numbers &found, const std::vector<double> &expected, double tolerance = 2e-6) {
  ASSERT_EQ(found.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found.values[i], expected[i], tolerance * std::max(1.0, std::abs(expected[i])))
        << "element " << i;
}

double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }
double tanhGelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(FusedOperators, GeluForms) {
  std::vector<double> x = fractions(12), bias = {0.5, -1, 2}, exact, fast, biased, fastBiased, quick;
  for (size_t i = 0; i < 12; ++i) {
    exact.push_back(gelu(x[i]));
    fast.push_back(tanhGelu(x[i]));
    biased.push_back(gelu(x[i] + bias[i % 3]));
    fastBiased.push_back(tanhGelu(x[i] + bias[i % 3]));
    quick.push_back(x[i] / (1 + std::exp(-1.5 * x[i])));
  }
  KnownModel model(20);
  model.tensor("x", {ElementType::F32, {4, 3}, x}).tensor("b", {ElementType::F32, {3}, bias});
  model.microsoft("Gelu", {"x"}, {"a"})
      .microsoft("FastGelu", {"x"}, {"b1"})
      .microsoft("BiasGelu", {"x", "b"}, {"c"});
  model.microsoft("FastGelu", {"x", "b"}, {"d"})
      .microsoft("QuickGelu", {"x"}, {"e"})
      .attribute("alpha", 1.5f);
  model.node("Gelu", {"x"}, {"f"}).node("Gelu", {"x"}, {"g"}).attribute("approximate", std::string("tanh"));
  for (const char *name : {"a", "b1", "c", "d", "e", "f", "g"})
    model.output(name);
  std::vector<Numbers> found = model.evaluate();
  const std::vector<double> *expected[] = {&exact, &fast, &biased, &fastBiased, &quick, &exact, &fast};
  for (size_t i = 0; i < std::size(expected); ++i)
    expectClose(found[i], *expected[i]);
}

TEST(FusedOperators, BiasAddOfThree) {
  KnownModel model;
  model.tensor("x", {ElementType::F32, {1, 2, 2}, {1, 2, 3, 4}})
      .tensor("b", {ElementType::F32, {2}, {10, 20}});
  model.tensor("s", {ElementType::F32, {1, 2, 2}, {100, 200, 300, 400}})
      .microsoft("BiasAdd", {"x", "b", "s"}, {"y"});
  EXPECT_THAT((model.output("y"), model.result().values), ElementsAre(111, 222, 313, 424));
}

/// A convolution of two channels of 3x3 by three filters of 2x2, in either layout.
struct SmallConvolution {
  std::vector<double> x = fractions(18), w = fractions(24, 2), b = {0.5, -1, 0.25}, z = fractions(12, 3);

  std::vector<double> run(bool channelsLast) const {
    std::vector<double> y(12);
    for (int64_t f = 0; f < 3; ++f)
      for (int64_t i = 0; i < 4; ++i) {
        double sum = b[f];
        for (int64_t c = 0; c < 2; ++c)
          for (int64_t k = 0; k < 4; ++k) {
            int64_t row = i / 2 + k / 2, column = i % 2 + k % 2, pixel = row * 3 + column;
            sum += x[channelsLast ? pixel * 2 + c : c * 9 + pixel] * w[(f * 2 + c) * 4 + k];
          }
        y[channelsLast ? i * 3 + f : f * 4 + i] = sum;
      }
    return y;
  }
};

TEST(FusedOperators, ConvolutionsInBothLayoutsWithResidualAndActivation) {
  SmallConvolution conv;
  for (bool channelsLast : {false, true}) {
    std::vector<int64_t> in = {1, 2, 3, 3}, out = {1, 3, 2, 2};
    if (channelsLast) {
      in = {1, 3, 3, 2};
      out = {1, 2, 2, 3};
    }
    std::vector<double> plain = conv.run(channelsLast), leaky;
    for (size_t i = 0; i < 12; ++i) {
      double sum = plain[i] + conv.z[i];
      leaky.push_back(sum < 0 ? 0.125 * sum : sum);
    }
    KnownModel model;
    model.tensor("x", {ElementType::F32, in, conv.x}).tensor("w", {ElementType::F32, {3, 2, 2, 2}, conv.w});
    model.tensor("b", {ElementType::F32, {3}, conv.b}).tensor("z", {ElementType::F32, out, conv.z});
    model.microsoft(channelsLast ? "NhwcFusedConv" : "FusedConv", {"x", "w", "b", "z"}, {"y"}).output("y");
    model.attribute("activation", std::string("LeakyRelu"));
    auto *parameters = model.model.mutable_graph()->mutable_node(0)->add_attribute();
    parameters->set_name("activation_params");
    parameters->set_type(onnx::AttributeProto::FLOATS);
    parameters->add_floats(0.125f);
    model.microsoft(channelsLast ? "NhwcConv" : "FusedConv", {"x", "w", "b"}, {"p"}).output("p");
    std::vector<Numbers> found = model.evaluate();
    EXPECT_EQ(found[0].shape, out);
    expectClose(found[0], leaky);
    expectClose(found[1], plain);
  }
}

TEST(FusedOperators, ActivationsByName) {
  const std::pair<std::string, double (*)(double)> cases[] = {
      {"Relu", [](double x) { return std::max(x, 0.0); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"HardSigmoid", [](double x) { return std::min(std::max(0.25 * x + 0.5, 0.0), 1.0); }},
      {"Clip", [](double x) { return std::min(std::max(x, 0.25), 0.5); }},
  };
  std::vector<double> a = fractions(6), b = fractions(6, 2);
  for (const auto &[name, function] : cases) {
    std::vector<double> expected;
    for (size_t i = 0; i < 4; ++i)
      expected.push_back(function(a[i / 2 * 3] * b[i % 2] + a[i / 2 * 3 + 1] * b[2 + i % 2] +
                                  a[i / 2 * 3 + 2] * b[4 + i % 2]));
    KnownModel model;
    model.tensor("a", {ElementType::F32, {2, 3}, a}).tensor("b", {ElementType::F32, {3, 2}, b});
    model.microsoft("FusedGemm", {"a", "b"}, {"y"}).attribute("activation", name).output("y");
    // Alpha and beta of HardSigmoid; the bounds of Clip.
    model.attribute("activation_alpha", 0.25f).attribute("activation_beta", 0.5f);
    expectClose(model.result(), expected);
  }
  KnownModel unknown;
  unknown.tensor("a", {ElementType::F32, {1, 1}, {1}}).microsoft("FusedGemm", {"a", "a"}, {"y"}).output("y");
  unknown.attribute("activation", std::string("Cosine"));
  EXPECT_THAT(imported(unknown), HasSubstr("activation 'Cosine' is not known"));
}

TEST(FusedOperators, MatMulTransposesMatricesAndBatches) {
  // The product is [2,3,4] x [2,4,5]; each side is stored in one of four orders.
  std::vector<double> a = fractions(24), b = fractions(40, 2), expected;
  for (int64_t g = 0; g < 2; ++g)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 5; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 4; ++k)
          sum += a[(g * 3 + i) * 4 + k] * b[(g * 4 + k) * 5 + j];
        expected.push_back(0.5 * sum);
      }
  auto stored = [](const std::vector<double> &x, int64_t rows, int64_t columns, bool matrix, bool batch) {
    int64_t outer = matrix ? columns : rows, inner = matrix ? rows : columns;
    Numbers result{ElementType::F32, {2, outer, inner}, std::vector<double>(x.size())};
    if (batch)
      result.shape = {outer, 2, inner};
    for (int64_t g = 0; g < 2; ++g)
      for (int64_t i = 0; i < outer; ++i)
        for (int64_t j = 0; j < inner; ++j)
          result.values[batch ? (i * 2 + g) * inner + j : (g * outer + i) * inner + j] =
              x[g * rows * columns + (matrix ? j * columns + i : i * columns + j)];
    return result;
  };
  for (int form = 0; form < 16; ++form) {
    bool transA = form & 1, transB = form & 2, batchA = form & 4, batchB = form & 8;
    KnownModel model;
    model.tensor("a", stored(a, 3, 4, transA, batchA)).tensor("b", stored(b, 4, 5, transB, batchB));
    model.microsoft("FusedMatMul", {"a", "b"}, {"y"}).attribute("alpha", 0.5f).output("y");
    model.attribute("transA", int64_t(transA)).attribute("transB", int64_t(transB));
    model.attribute("transBatchA", int64_t(batchA)).attribute("transBatchB", int64_t(batchB));
    expectClose(model.result(), expected);
  }
}

TEST(FusedOperators, InverseExchangesRowsWhereThePivotIsZero) {
  // The first needs an exchange; the second is diagonal.
  std::vector<double> x = {0, 2, 1, 1, 0, 0, 0, 1, 1, 2, 0, 0, 0, 4, 0, 0, 0, -8};
  KnownModel model;
  model.tensor("x", {ElementType::F32, {2, 3, 3}, x}).microsoft("Inverse", {"x"}, {"y"}).output("y");
  expectClose(model.result(), {0, 1, 0, 1, 0, -1, -1, 0, 2, 0.5, 0, 0, 0, 0.25, 0, 0, 0, -0.125});
  std::vector<double> big = fractions(49, 11);
  for (size_t i = 0; i < 7; ++i)
    big[i * 8] += 5;
  KnownModel product;
  product.tensor("x", {ElementType::F32, {7, 7}, big}).microsoft("Inverse", {"x"}, {"i"});
  product.node("MatMul", {"x", "i"}, {"y"}).output("y");
  std::vector<double> unit(49);
  for (size_t i = 0; i < 7; ++i)
    unit[i * 8] = 1;
  expectClose(product.result(), unit, 1e-6);
}

TEST(FusedOperators, ExpandDimsAndTrilu) {
  KnownModel model;
  model.tensor("x", {ElementType::I64, {2, 3}, {1, 2, 3, 4, 5, 6}})
      .tensor("front", {ElementType::I32, {}, {0}});
  model.tensor("back", {ElementType::I32, {}, {-1}}).tensor("k", {ElementType::I64, {}, {1}});
  model.microsoft("ExpandDims", {"x", "front"}, {"a"}).microsoft("ExpandDims", {"x", "back"}, {"b"});
  model.microsoft("Trilu", {"x", "k"}, {"c"}).output("a").output("b").output("c");
  std::vector<Numbers> found = model.evaluate();
  EXPECT_THAT(found[0].shape, ElementsAre(1, 2, 3));
  EXPECT_THAT(found[1].shape, ElementsAre(2, 3, 1));
  EXPECT_THAT(found[2].values, ElementsAre(0, 2, 3, 0, 0, 6));
}

} // namespace
