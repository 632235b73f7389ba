// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention and RotaryEmbedding of opset 23 against plain loops.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct AttentionCase {
  int64_t queryHeads = 2, keyHeads = 2, queries = 3, keys = 4, past = 0, size = 4, valueSize = 2;
  bool flat = false, causal = false;
  double softcap = 0, scale = 0; // scale 0: the default
  int64_t mode = 0;
  std::string mask; // "", "bool", "float", "short"
};

struct Expected {
  std::vector<double> y, shown;
};

constexpr int64_t kBatch = 2;

/// Element (batch, head, position, i) of a new or past tensor; flat ones are [batch, position, head, i].
double element(const std::vector<double> &data, bool flat, int64_t heads, int64_t length, int64_t size,
               int64_t b, int64_t h, int64_t s, int64_t i) {
  return flat ? data[((b * length + s) * heads + h) * size + i]
              : data[((b * heads + h) * length + s) * size + i];
}

Expected attention(const AttentionCase &c, const std::vector<double> &q, const std::vector<double> &k,
                   const std::vector<double> &v, const std::vector<double> &pastK,
                   const std::vector<double> &pastV, const std::function<double(int64_t, int64_t)> &mask) {
  Expected expected;
  int64_t total = c.past + c.keys, group = c.queryHeads / c.keyHeads;
  expected.y.resize(kBatch * c.queryHeads * c.queries * c.valueSize);
  double scale = c.scale ? c.scale : 1 / std::sqrt(double(c.size));
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t h = 0; h < c.queryHeads; ++h)
      for (int64_t s = 0; s < c.queries; ++s) {
        std::vector<double> raw, capped, masked, weights;
        double sum = 0;
        for (int64_t t = 0; t < total; ++t) {
          double dot = 0;
          for (int64_t i = 0; i < c.size; ++i)
            dot += element(q, c.flat, c.queryHeads, c.queries, c.size, b, h, s, i) *
                   (t < c.past ? element(pastK, false, c.keyHeads, c.past, c.size, b, h / group, t, i)
                               : element(k, c.flat, c.keyHeads, c.keys, c.size, b, h / group, t - c.past, i));
          raw.push_back(dot * scale);
          capped.push_back(c.softcap ? c.softcap * std::tanh(raw.back() / c.softcap) : raw.back());
          masked.push_back(c.causal && t > s + c.past ? -kInfinity : capped.back() + mask(s, t));
          sum += std::exp(masked.back());
        }
        for (double m : masked)
          weights.push_back(std::exp(m) / sum);
        const std::vector<double> &stage = c.mode == 0   ? raw
                                           : c.mode == 1 ? capped
                                           : c.mode == 2 ? masked
                                                         : weights;
        expected.shown.insert(expected.shown.end(), stage.begin(), stage.end());
        for (int64_t i = 0; i < c.valueSize; ++i) {
          double y = 0;
          for (int64_t t = 0; t < total; ++t)
            y += weights[t] *
                 (t < c.past
                      ? element(pastV, false, c.keyHeads, c.past, c.valueSize, b, h / group, t, i)
                      : element(v, c.flat, c.keyHeads, c.keys, c.valueSize, b, h / group, t - c.past, i));
          int64_t at = c.flat ? ((b * c.queries + s) * c.queryHeads + h) * c.valueSize + i
                              : ((b * c.queryHeads + h) * c.queries + s) * c.valueSize + i;
          expected.y[at] = y;
        }
      }
  return expected;
}

std::vector<int64_t> shapeOf(bool flat, int64_t heads, int64_t length, int64_t size) {
  return flat ? std::vector<int64_t>{kBatch, length, heads * size}
              : std::vector<int64_t>{kBatch, heads, length, size};
}

/// Adds the mask "m" and gives what it adds to a score.
std::function<double(int64_t, int64_t)> addMask(TestModel &model, const AttentionCase &c, int64_t total) {
  if (c.mask == "bool") {
    std::vector<double> values;
    for (int64_t i = 0; i < c.queries * total; ++i)
      values.push_back(i % 3 != 1);
    addTensor(model, "m", ElementType::Bool, {c.queries, total}, values);
    return [=](int64_t s, int64_t t) { return (s * total + t) % 3 != 1 ? 0 : -kInfinity; };
  }
  if (c.mask == "float") {
    std::vector<double> values = someNumbers(c.queries * total, 9);
    addTensor(model, "m", ElementType::F64, {1, 1, c.queries, total}, values);
    return [=](int64_t s, int64_t t) { return values[s * total + t]; };
  }
  if (c.mask == "short") {
    std::vector<double> values(c.queries * 2, 0.5);
    addTensor(model, "m", ElementType::F64, {c.queries, 2}, values);
    return [](int64_t, int64_t t) { return t < 2 ? 0.5 : -kInfinity; };
  }
  return [](int64_t, int64_t) { return 0.0; };
}

void check(const AttentionCase &c) {
  int64_t total = c.past + c.keys;
  std::vector<double> q = someNumbers(kBatch * c.queryHeads * c.queries * c.size, 1);
  std::vector<double> k = someNumbers(kBatch * c.keyHeads * c.keys * c.size, 2);
  std::vector<double> v = someNumbers(kBatch * c.keyHeads * c.keys * c.valueSize, 3);
  std::vector<double> pastK = someNumbers(kBatch * c.keyHeads * c.past * c.size, 4);
  std::vector<double> pastV = someNumbers(kBatch * c.keyHeads * c.past * c.valueSize, 5);
  TestModel model(23);
  addTensor(model, "q", ElementType::F64, shapeOf(c.flat, c.queryHeads, c.queries, c.size), q);
  addTensor(model, "k", ElementType::F64, shapeOf(c.flat, c.keyHeads, c.keys, c.size), k);
  addTensor(model, "v", ElementType::F64, shapeOf(c.flat, c.keyHeads, c.keys, c.valueSize), v);
  auto mask = addMask(model, c, total);
  std::vector<std::string> inputs = {"q", "k", "v", c.mask.empty() ? "" : "m"};
  if (c.past) {
    addTensor(model, "pk", ElementType::F64, {kBatch, c.keyHeads, c.past, c.size}, pastK);
    addTensor(model, "pv", ElementType::F64, {kBatch, c.keyHeads, c.past, c.valueSize}, pastV);
    inputs.insert(inputs.end(), {"pk", "pv"});
  }
  model.node("Attention", inputs, {"y", "nk", "nv", "qk"}).attribute("is_causal", int64_t(c.causal));
  model.attribute("softcap", float(c.softcap)).attribute("qk_matmul_output_mode", c.mode);
  if (c.scale)
    model.attribute("scale", float(c.scale));
  if (c.flat)
    model.attribute("q_num_heads", c.queryHeads).attribute("kv_num_heads", c.keyHeads);
  model.output("y").output("nk").output("nv").output("qk");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(4));
  Expected expected = attention(c, q, k, v, pastK, pastV, mask);
  EXPECT_EQ(results[0].shape, shapeOf(c.flat, c.queryHeads, c.queries, c.valueSize));
  EXPECT_EQ(results[1].shape, (std::vector<int64_t>{kBatch, c.keyHeads, total, c.size}));
  EXPECT_EQ(results[2].shape, (std::vector<int64_t>{kBatch, c.keyHeads, total, c.valueSize}));
  ASSERT_EQ(results[0].values.size(), expected.y.size());
  for (size_t i = 0; i < expected.y.size(); ++i)
    EXPECT_NEAR(results[0].values[i], expected.y[i], 1e-7);
  ASSERT_EQ(results[3].values.size(), expected.shown.size());
  for (size_t i = 0; i < expected.shown.size(); ++i)
    if (std::isinf(expected.shown[i]))
      EXPECT_EQ(results[3].values[i], expected.shown[i]);
    else
      EXPECT_NEAR(results[3].values[i], expected.shown[i], 1e-7);
}

TEST(OnnxAttention, PlainInFourAndThreeDimensions) {
  check({});
  check({.flat = true, .scale = 0.25});
}

TEST(OnnxAttention, GroupsOfHeadsShareKeys) {
  check({.queryHeads = 6, .keyHeads = 2});
  check({.queryHeads = 3, .keyHeads = 1, .flat = true});
}

TEST(OnnxAttention, MasksOfBothKinds) {
  check({.mask = "bool"});
  check({.mode = 2, .mask = "float"});
  check({.mask = "short"});
}

TEST(OnnxAttention, CausalCountsThePast) {
  check({.causal = true});
  check({.past = 2, .causal = true, .mode = 3});
  check({.queryHeads = 4, .past = 3, .flat = true, .causal = true, .mask = "float"});
}

TEST(OnnxAttention, SoftcapComesBeforeTheMask) {
  for (int64_t mode : {0, 1, 2, 3})
    check({.causal = true, .softcap = 0.5, .mode = mode, .mask = "float"});
}

TEST(OnnxAttention, HalfPrecisionKeepsItsType) {
  TestModel model(23);
  addTensor(model, "q", ElementType::F16, {1, 1, 1, 2}, {1, 0});
  addTensor(model, "k", ElementType::F16, {1, 1, 2, 2}, {2, 0, 2, 5});
  addTensor(model, "v", ElementType::F16, {1, 1, 2, 1}, {1, 3});
  model.node("Attention", {"q", "k", "v"}, {"y"}).output("y");
  Tensor y = evaluatedOne(model);
  EXPECT_EQ(y.type, ElementType::F16);
  EXPECT_THAT(y.values, testing::ElementsAre(2));
}

TEST(OnnxAttention, WrongShapesAreExplained) {
  TestModel model(23);
  model.input("q", {1, 3, 2, 4}).input("k", {1, 2, 5, 4}).input("v", {1, 2, 5, 4});
  model.node("Attention", {"q", "k", "v"}, {"y"}).output("y");
  EXPECT_THAT(imported(model), HasSubstr("queries 1x3x2x4, keys 1x2x5x4 and values 1x2x5x4"));
  TestModel flat(23);
  flat.input("q", {1, 3, 8}).input("k", {1, 3, 8}).input("v", {1, 3, 8});
  flat.node("Attention", {"q", "k", "v"}, {"y"}).output("y");
  EXPECT_THAT(imported(flat), HasSubstr("0 heads do not divide input 0"));
}

void checkRotary(bool flat, bool interleaved, bool positions, int64_t rotated) {
  SCOPED_TRACE(std::to_string(flat) + std::to_string(interleaved) + std::to_string(positions));
  constexpr int64_t heads = 2, length = 3, size = 6;
  int64_t half = (rotated ? rotated : size) / 2;
  std::vector<double> x = someNumbers(kBatch * heads * length * size), ids = {3, 0, 1, 2, 2, 4};
  int64_t rows = positions ? 5 : kBatch * length;
  std::vector<double> cosine = someNumbers(rows * half, 6), sine = someNumbers(rows * half, 7);
  TestModel model(23);
  addTensor(model, "x", ElementType::F64, shapeOf(flat, heads, length, size), x);
  std::vector<int64_t> cache =
      positions ? std::vector<int64_t>{5, half} : std::vector<int64_t>{kBatch, length, half};
  addTensor(model, "cos", ElementType::F64, cache, cosine);
  addTensor(model, "sin", ElementType::F64, cache, sine);
  addTensor(model, "ids", ElementType::I64, {kBatch, length}, ids);
  std::vector<std::string> inputs = {"x", "cos", "sin"};
  if (positions)
    inputs.push_back("ids");
  model.node("RotaryEmbedding", inputs, {"y"}).attribute("interleaved", int64_t(interleaved));
  model.attribute("rotary_embedding_dim", rotated);
  if (flat)
    model.attribute("num_heads", heads);
  model.output("y");
  Tensor y = evaluatedOne(model);
  ASSERT_EQ(y.values.size(), x.size());
  for (int64_t b = 0; b < kBatch; ++b)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t s = 0; s < length; ++s)
        for (int64_t i = 0; i < size; ++i) {
          auto at = [&](int64_t k) { return element(x, flat, heads, length, size, b, h, s, k); };
          double expected = at(i);
          if (i < 2 * half) {
            int64_t pair = interleaved ? i / 2 : i % half;
            bool second = interleaved ? i % 2 : i >= half;
            double first = at(interleaved ? 2 * pair : pair),
                   other = at(interleaved ? 2 * pair + 1 : pair + half);
            int64_t row = positions ? int64_t(ids[b * length + s]) : b * length + s;
            double c = cosine[row * half + pair], d = sine[row * half + pair];
            expected = second ? d * first + c * other : c * first - d * other;
          }
          EXPECT_NEAR(element(y.values, flat, heads, length, size, b, h, s, i), expected, 1e-12);
        }
}

TEST(OnnxRotaryEmbedding, AllLayouts) {
  for (bool flat : {false, true})
    for (bool interleaved : {false, true})
      for (bool positions : {false, true})
        for (int64_t rotated : {0, 4})
          checkRotary(flat, interleaved, positions, rotated);
}

} // namespace
