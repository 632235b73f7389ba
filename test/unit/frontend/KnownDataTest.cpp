// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators whose shapes depend on data, small algorithms on tensors, and what is refused.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

TEST(Unique, SortedOrInTheOrderOfOccurrence) {
  for (int64_t sorted : {0, 1}) {
    TestModel model(11);
    addTensor(model, "x", ElementType::I32, {5}, {2, 1, 1, -3, 2});
    model.node("Unique", {"x"}, {"y", "first", "inverse", "counts"}).attribute("sorted", sorted);
    for (const char *name : {"y", "first", "inverse", "counts"})
      model.output(name);
    std::vector<Tensor> results = evaluated(model);
    ASSERT_THAT(results, SizeIs(4));
    EXPECT_THAT(results[0].values, sorted ? ElementsAre(-3, 1, 2) : ElementsAre(2, 1, -3));
    EXPECT_THAT(results[1].values, sorted ? ElementsAre(3, 1, 0) : ElementsAre(0, 1, 3));
    EXPECT_THAT(results[2].values, sorted ? ElementsAre(2, 1, 1, 0, 2) : ElementsAre(0, 1, 1, 2, 0));
    EXPECT_THAT(results[3].values, sorted ? ElementsAre(1, 2, 2) : ElementsAre(2, 2, 1));
  }
}

TEST(Unique, SlicesAlongAnAxis) {
  TestModel model(11);
  addTensor(model, "x", ElementType::F32, {2, 3}, {1, 0, 1, 4, 4, 4});
  model.node("Unique", {"x"}, {"y"}).attribute("axis", int64_t(-1)).output("y");
  Tensor y = evaluatedOne(model);
  EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 2}));
  EXPECT_THAT(y.values, ElementsAre(0, 1, 4, 4));
}

TEST(NonMaxSuppression, BestBoxesThatDoNotOverlap) {
  TestModel model(11);
  // Boxes 0 and 1 overlap by 9 / 11, box 2 is elsewhere; corners of box 1 are turned round.
  model.floats("boxes", {1, 3, 4}, {0, 0, 10, 10, 10, 11, 0, 1, 20, 20, 30, 30})
      .floats("scores", {1, 1, 3}, {.5, .9, .3});
  model.ints("most", {}, {3}).floats("overlap", {}, {.5}).floats("least", {}, {.2});
  model.node("NonMaxSuppression", {"boxes", "scores", "most", "overlap", "least"}, {"y"}).output("y");
  Tensor y = evaluatedOne(model);
  EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_THAT(y.values, ElementsAre(0, 0, 1, 0, 0, 2));
}

TEST(NonMaxSuppression, WithoutALimitNothingIsSelected) {
  TestModel model(10);
  model.floats("boxes", {1, 1, 4}, {0, 0, 1, 1}).floats("scores", {1, 1, 1}, {1});
  model.node("NonMaxSuppression", {"boxes", "scores"}, {"y"}).output("y");
  EXPECT_EQ(evaluatedOne(model).shape, (std::vector<int64_t>{0, 3}));
}

TEST(DataDependent, RunTimeDataIsRefusedByName) {
  for (const char *op : {"Unique", "NonZero"}) {
    TestModel model(13);
    model.input("x", {4}).node(op, {"x"}, {"y"}).output("y");
    EXPECT_THAT(imported(model), HasSubstr(std::string("node '") + op + "_node' (" + op +
                                           "): the shape of the result depends on the data"));
  }
}

TEST(Refused, RandomNumbersAndStrings) {
  TestModel random(15);
  random.input("x", {4}).node("Bernoulli", {"x"}, {"y"}).output("y");
  EXPECT_THAT(imported(random), HasSubstr("1 Bernoulli ('Bernoulli_node'): its result is random"));
  TestModel normal(13);
  normal.node("RandomNormal", {}, {"y"}).integers("shape", {2}).output("y");
  EXPECT_THAT(imported(normal), HasSubstr("1 RandomNormal ('RandomNormal_node'): its result is random"));
  TestModel strings(13);
  strings.input("x", {1}, onnx::TensorProto::STRING).node("StringNormalizer", {"x"}, {"y"}).output("y");
  strings.model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->set_elem_type(8);
  EXPECT_THAT(imported(strings), HasSubstr("1 StringNormalizer ('StringNormalizer_node'): strings are not supported"));
}

double determinant(std::vector<double> m, int n) {
  double result = 1;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    for (int i = k; i < n; ++i)
      if (std::fabs(m[i * n + k]) > std::fabs(m[pivot * n + k]))
        pivot = i;
    if (m[pivot * n + k] == 0)
      return 0;
    if (pivot != k)
      result = -result;
    for (int j = 0; j < n; ++j)
      std::swap(m[k * n + j], m[pivot * n + j]);
    result *= m[k * n + k];
    for (int i = k + 1; i < n; ++i)
      for (int j = n - 1; j >= k; --j)
        m[i * n + j] -= m[i * n + k] / m[k * n + k] * m[k * n + j];
  }
  return result;
}

TEST(Det, BatchesOfEverySize) {
  for (int n : {1, 2, 3, 5}) {
    std::vector<double> x = someNumbers(3 * n * n, n);
    std::fill(x.begin() + n * n, x.begin() + n * n + n, 0); // the second matrix is singular
    if (n > 1)
      x[2 * n * n] = 0; // the third needs another pivot
    TestModel model(11);
    addTensor(model, "x", ElementType::F64, {3, n, n}, x);
    model.node("Det", {"x"}, {"y"}).output("y");
    Tensor y = evaluatedOne(model);
    ASSERT_THAT(y.values, SizeIs(3));
    for (int b = 0; b < 3; ++b)
      EXPECT_NEAR(y.values[b], determinant({x.begin() + b * n * n, x.begin() + (b + 1) * n * n}, n), 1e-9);
  }
}

TEST(TfIdfVectorizer, CountsWithSkipsAndWeights) {
  for (const char *mode : {"TF", "IDF", "TFIDF"}) {
    TestModel model(9);
    addTensor(model, "x", ElementType::I32, {2, 4}, {1, 2, 1, 2, 3, 3, 1, 3});
    model.node("TfIdfVectorizer", {"x"}, {"y"})
        .attribute("mode", mode)
        .attribute("min_gram_length", int64_t(1));
    model.attribute("max_gram_length", int64_t(2)).attribute("max_skip_count", int64_t(1));
    // Single items 1 and 3; the pairs (1, 2) and (3, 1).
    model.integers("ngram_counts", {0, 2}).integers("ngram_indexes", {0, 3, 1, 4});
    model.integers("pool_int64s", {1, 3, 1, 2, 3, 1});
    auto *weights = model.model.mutable_graph()->mutable_node(0)->add_attribute();
    weights->set_name("weights");
    weights->set_type(onnx::AttributeProto::FLOATS);
    for (float weight : {2.f, 3.f, 5.f, 7.f})
      weights->add_floats(weight);
    model.output("y");
    Tensor y = evaluatedOne(model);
    EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 5}));
    // Neighbours and items with one between them: (1,2) occurs twice in row 0; (3,1) twice in row 1.
    if (std::string(mode) == "TF")
      EXPECT_THAT(y.values, ElementsAre(2, 2, 0, 0, 0, 1, 0, 0, 3, 2));
    else if (std::string(mode) == "IDF")
      EXPECT_THAT(y.values, ElementsAre(2, 5, 0, 0, 0, 2, 0, 0, 3, 7));
    else
      EXPECT_THAT(y.values, ElementsAre(4, 10, 0, 0, 0, 2, 0, 0, 9, 14));
  }
}

TestModel training(const std::string &op, const std::vector<std::string> &inputs,
                   const std::vector<std::string> &outputs) {
  TestModel model(13);
  auto *opset = model.model.add_opset_import();
  opset->set_domain("ai.onnx.preview.training");
  opset->set_version(1);
  model.floats("r", {}, {0.5}).ints("t", {}, {2}).floats("x", {2}, {1, -2}).floats("g", {2}, {0.5, 1});
  model.floats("h", {2}, {2, 3}).floats("v", {2}, {1, 2});
  model.node(op, inputs, outputs);
  model.model.mutable_graph()->mutable_node(0)->set_domain("ai.onnx.preview.training");
  return model;
}

TEST(Training, Adagrad) {
  TestModel model = training("Adagrad", {"r", "t", "x", "g", "h"}, {"y", "k"});
  model.attribute("decay_factor", 0.5f).attribute("norm_coefficient", 0.25f).attribute("epsilon", 0.0f);
  model.output("y").output("k");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  const double x[] = {1, -2}, g[] = {0.75, 0.5}, h[] = {2, 3};
  for (int i = 0; i < 2; ++i) {
    double k = h[i] + g[i] * g[i];
    EXPECT_NEAR(results[1].values[i], k, 1e-6);
    EXPECT_NEAR(results[0].values[i], x[i] - 0.25 * g[i] / std::sqrt(k), 1e-6);
  }
}

TEST(Training, Adam) {
  TestModel model = training("Adam", {"r", "t", "x", "g", "v", "h"}, {"y", "m", "k"});
  model.attribute("alpha", 0.5f).attribute("beta", 0.75f).attribute("epsilon", 0.125f);
  model.attribute("norm_coefficient_post", 0.5f).output("y").output("m").output("k");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(3));
  const double x[] = {1, -2}, g[] = {0.5, 1}, v[] = {1, 2}, h[] = {2, 3};
  double rate = 0.5 * std::sqrt(1 - 0.75 * 0.75) / (1 - 0.5 * 0.5);
  for (int i = 0; i < 2; ++i) {
    double m = 0.5 * v[i] + 0.5 * g[i], k = 0.75 * h[i] + 0.25 * g[i] * g[i];
    EXPECT_NEAR(results[1].values[i], m, 1e-6);
    EXPECT_NEAR(results[2].values[i], k, 1e-6);
    EXPECT_NEAR(results[0].values[i], 0.5 * (x[i] - rate * m / (std::sqrt(k) + 0.125)), 1e-6);
  }
}

TEST(Training, MomentumOfBothModes) {
  for (const char *mode : {"standard", "nesterov"}) {
    TestModel model = training("Momentum", {"r", "t", "x", "g", "v"}, {"y", "m"});
    model.attribute("alpha", 0.5f)
        .attribute("beta", 0.25f)
        .attribute("norm_coefficient", 0.0f)
        .attribute("mode", mode);
    model.output("y").output("m");
    std::vector<Tensor> results = evaluated(model);
    ASSERT_THAT(results, SizeIs(2));
    // m = v / 2 + g / 4
    EXPECT_THAT(results[1].values, ElementsAre(0.625, 1.25));
    if (std::string(mode) == "standard")
      EXPECT_THAT(results[0].values, ElementsAre(1 - 0.3125, -2 - 0.625));
    else
      EXPECT_THAT(results[0].values, ElementsAre(1 - 0.5 * (0.5 + 0.3125), -2 - 0.5 * (1 + 0.625)));
  }
}

} // namespace
