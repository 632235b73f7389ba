// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention, MultiHeadAttention and RotaryEmbedding of com.microsoft against plain loops.
#include "test/unit/frontend/KnownModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;

namespace {

void expectClose(const Numbers &found, const std::vector<double> &expected, double tolerance = 1e-5) {
  ASSERT_EQ(found.values.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(found.values[i], expected[i], tolerance) << "element " << i;
}

/// [batch, sequence, heads, size]
struct Heads {
  int64_t batch, sequence, heads, size;
  std::vector<double> values;
  double at(int64_t b, int64_t s, int64_t h, int64_t d) const {
    return values[((b * sequence + s) * heads + h) * size + d];
  }
};

/// What is added to a score.
using Change = std::function<double(int64_t batch, int64_t head, int64_t query, int64_t key)>;

std::vector<double> plainAttention(const Heads &q, const Heads &k, const Heads &v, double scale,
                                   const Change &change) {
  std::vector<double> result(q.batch * q.sequence * q.heads * v.size);
  for (int64_t b = 0; b < q.batch; ++b)
    for (int64_t h = 0; h < q.heads; ++h)
      for (int64_t i = 0; i < q.sequence; ++i) {
        std::vector<double> weights(k.sequence);
        double sum = 0, greatest = -1e300;
        for (int64_t j = 0; j < k.sequence; ++j) {
          double score = 0;
          for (int64_t d = 0; d < q.size; ++d)
            score += q.at(b, i, h, d) * k.at(b, j, h, d);
          weights[j] = score * scale + change(b, h, i, j);
          greatest = std::max(greatest, weights[j]);
        }
        for (double &weight : weights)
          sum += weight = std::exp(weight - greatest);
        for (int64_t j = 0; j < k.sequence; ++j)
          for (int64_t d = 0; d < v.size; ++d)
            result[((b * q.sequence + i) * q.heads + h) * v.size + d] += weights[j] / sum * v.at(b, j, h, d);
      }
  return result;
}

double unchanged(int64_t, int64_t, int64_t, int64_t) { return 0; }

// Two batches of three tokens of four features; two heads of size 3 for queries and keys, 2 for values.
constexpr int64_t kBatch = 2, kTokens = 3, kFeatures = 4, kHeads = 2, kSize = 3, kValueSize = 2;
constexpr int64_t kColumns = kHeads * (2 * kSize + kValueSize);

struct Projection {
  std::vector<double> input = fractions(kBatch * kTokens * kFeatures),
                      weights = fractions(kFeatures * kColumns, 2);
  std::vector<double> bias = fractions(kColumns, 3);

  Heads part(int64_t offset, int64_t size) const {
    Heads heads{kBatch, kTokens, kHeads, size, {}};
    for (int64_t row = 0; row < kBatch * kTokens; ++row)
      for (int64_t column = offset; column < offset + kHeads * size; ++column) {
        double sum = bias[column];
        for (int64_t f = 0; f < kFeatures; ++f)
          sum += input[row * kFeatures + f] * weights[f * kColumns + column];
        heads.values.push_back(sum);
      }
    return heads;
  }
  Heads query() const { return part(0, kSize); }
  Heads key() const { return part(kHeads * kSize, kSize); }
  Heads value() const { return part(2 * kHeads * kSize, kValueSize); }
};

KnownModel attentionModel(const Projection &p, const std::vector<std::string> &more = {}) {
  KnownModel model;
  model.tensor("x", {ElementType::F32, {kBatch, kTokens, kFeatures}, p.input});
  model.tensor("w", {ElementType::F32, {kFeatures, kColumns}, p.weights});
  model.tensor("b", {ElementType::F32, {kColumns}, p.bias});
  std::vector<std::string> inputs = {"x", "w", "b"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  model.microsoft("Attention", inputs, {"y"}).attribute("num_heads", kHeads).output("y");
  model.integers("qkv_hidden_sizes", {kHeads * kSize, kHeads * kSize, kHeads * kValueSize});
  return model;
}

TEST(Attention, ProjectsAndAttendsWithValuesOfAnotherSize) {
  Projection p;
  KnownModel model = attentionModel(p);
  Numbers y = model.result();
  EXPECT_EQ(y.shape, (std::vector<int64_t>{kBatch, kTokens, kHeads * kValueSize}));
  expectClose(y, plainAttention(p.query(), p.key(), p.value(), 1 / std::sqrt(3.0), unchanged));
}

TEST(Attention, UnidirectionalSeesNothingLater) {
  Projection p;
  KnownModel model = attentionModel(p);
  model.attribute("unidirectional", int64_t(1)).attribute("scale", 0.25f);
  auto causal = [](int64_t, int64_t, int64_t i, int64_t j) { return j > i ? -1e30 : 0; };
  expectClose(model.result(), plainAttention(p.query(), p.key(), p.value(), 0.25, causal));
}

struct MaskCase {
  std::vector<int64_t> shape;
  std::vector<double> values;
  std::function<bool(int64_t b, int64_t i, int64_t j)> keeps;
};

TEST(Attention, EveryFormOfMask) {
  const MaskCase cases[] = {
      {{2}, {2, 3}, [](int64_t b, int64_t, int64_t j) { return j < (b == 0 ? 2 : 3); }},
      {{4}, {2, 3, 0, 1}, [](int64_t b, int64_t, int64_t j) { return b == 0 ? j < 2 : j >= 1; }},
      {{2, 3}, {1, 0, 1, 0, 1, 1}, [](int64_t b, int64_t, int64_t j) { return j != (b == 0 ? 1 : 0); }},
      {{2, 3, 3},
       {1, 0, 0, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0},
       [](int64_t b, int64_t i, int64_t j) { return b == 0 ? j <= i : j != i; }},
      {{2, 1, 4, 4},
       {1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 0, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 1, 1},
       [](int64_t, int64_t i, int64_t j) { return j <= i; }},
  };
  Projection p;
  for (const MaskCase &mask : cases) {
    KnownModel model = attentionModel(p, {"mask"});
    model.tensor("mask", {ElementType::I32, mask.shape, mask.values});
    auto change = [&](int64_t b, int64_t, int64_t i, int64_t j) {
      return mask.keeps(b, i, j) ? 0 : -10000.0;
    };
    expectClose(model.result(), plainAttention(p.query(), p.key(), p.value(), 1 / std::sqrt(3.0), change));
  }
}

TEST(Attention, AddsABiasThatHeadsShare) {
  Projection p;
  std::vector<double> bias = fractions(kBatch * kTokens * kTokens, 9);
  KnownModel model = attentionModel(p, {"", "", "bias"});
  model.tensor("bias", {ElementType::F32, {kBatch, 1, kTokens, kTokens}, bias});
  auto change = [&](int64_t b, int64_t, int64_t i, int64_t j) {
    return bias[(b * kTokens + i) * kTokens + j];
  };
  expectClose(model.result(), plainAttention(p.query(), p.key(), p.value(), 1 / std::sqrt(3.0), change));
}

/// Tokens before those of `now`, given as [batch, heads, past, size].
Heads withPast(const Heads &now, const std::vector<double> &past, int64_t length) {
  Heads all{now.batch, now.sequence + length, now.heads, now.size, {}};
  for (int64_t b = 0; b < all.batch; ++b)
    for (int64_t s = 0; s < all.sequence; ++s)
      for (int64_t h = 0; h < all.heads; ++h)
        for (int64_t d = 0; d < all.size; ++d)
          all.values.push_back(s < length ? past[((b * all.heads + h) * length + s) * all.size + d]
                                          : now.at(b, s - length, h, d));
  return all;
}

std::vector<double> headsFirst(const Heads &x) {
  std::vector<double> values;
  for (int64_t b = 0; b < x.batch; ++b)
    for (int64_t h = 0; h < x.heads; ++h)
      for (int64_t s = 0; s < x.sequence; ++s)
        for (int64_t d = 0; d < x.size; ++d)
          values.push_back(x.at(b, s, h, d));
  return values;
}

TEST(Attention, PastKeysAndValuesComeFirst) {
  constexpr int64_t kHidden = kHeads * kSize, kPast = 2, kState = kBatch * kHeads * kPast * kSize;
  std::vector<double> x = fractions(kBatch * kTokens * kFeatures), w = fractions(kFeatures * 3 * kHidden, 2);
  std::vector<double> past = fractions(2 * kState, 5);
  auto part = [&](int64_t index) {
    Heads heads{kBatch, kTokens, kHeads, kSize, {}};
    for (int64_t row = 0; row < kBatch * kTokens; ++row)
      for (int64_t c = 0; c < kHidden; ++c) {
        double sum = 0;
        for (int64_t f = 0; f < kFeatures; ++f)
          sum += x[row * kFeatures + f] * w[f * 3 * kHidden + index * kHidden + c];
        heads.values.push_back(sum);
      }
    return heads;
  };
  Heads key = withPast(part(1), {past.begin(), past.begin() + kState}, kPast);
  Heads value = withPast(part(2), {past.begin() + kState, past.end()}, kPast);
  KnownModel model;
  model.tensor("x", {ElementType::F32, {kBatch, kTokens, kFeatures}, x});
  model.tensor("w", {ElementType::F32, {kFeatures, 3 * kHidden}, w});
  model.tensor("past", {ElementType::F32, {2, kBatch, kHeads, kPast, kSize}, past});
  model.microsoft("Attention", {"x", "w", "", "", "past"}, {"y", "present"}).attribute("num_heads", kHeads);
  model.attribute("unidirectional", int64_t(1)).output("y").output("present");
  std::vector<Numbers> found = model.evaluate();
  auto causal = [](int64_t, int64_t, int64_t i, int64_t j) { return j > i + kPast ? -1e30 : 0; };
  expectClose(found[0], plainAttention(part(0), key, value, 1 / std::sqrt(3.0), causal));
  std::vector<double> present = headsFirst(key), values = headsFirst(value);
  present.insert(present.end(), values.begin(), values.end());
  expectClose(found[1], present);
}

TEST(MultiHeadAttention, CrossAttentionWithBiasPastAndMask) {
  // Three queries, four keys, of which two are in the past.
  Heads q{kBatch, 3, kHeads, kSize, fractions(36)}, k{kBatch, 2, kHeads, kSize, fractions(24, 2)};
  Heads v{kBatch, 2, kHeads, kValueSize, fractions(16, 3)};
  std::vector<double> bias = fractions(kColumns, 4), pastKey = fractions(24, 5), pastValue = fractions(16, 6);
  std::vector<double> mask = {1, 0, 1, 1, 1, 1, 1, 0};
  KnownModel model;
  model.tensor("q", {ElementType::F32, {kBatch, 3, 6}, q.values})
      .tensor("k", {ElementType::F32, {kBatch, 2, 6}, k.values});
  model.tensor("v", {ElementType::F32, {kBatch, 2, 4}, v.values})
      .tensor("b", {ElementType::F32, {kColumns}, bias});
  model.tensor("mask", {ElementType::I32, {kBatch, 4}, mask});
  model.tensor("pk", {ElementType::F32, {kBatch, kHeads, 2, kSize}, pastKey});
  model.tensor("pv", {ElementType::F32, {kBatch, kHeads, 2, kValueSize}, pastValue});
  model.microsoft("MultiHeadAttention", {"q", "k", "v", "b", "mask", "", "pk", "pv"}, {"y", "key", "value"});
  model.attribute("num_heads", kHeads)
      .attribute("mask_filter_value", -500.0f)
      .output("y")
      .output("key")
      .output("value");
  std::vector<Numbers> found = model.evaluate();
  int64_t offset = 0;
  for (Heads *heads : {&q, &k, &v}) {
    int64_t width = heads->heads * heads->size;
    for (size_t i = 0; i < heads->values.size(); ++i)
      heads->values[i] += bias[offset + i % width];
    offset += width;
  }
  Heads key = withPast(k, pastKey, 2), value = withPast(v, pastValue, 2);
  auto change = [&](int64_t b, int64_t, int64_t, int64_t j) { return mask[b * 4 + j] > 0 ? 0 : -500.0; };
  expectClose(found[0], plainAttention(q, key, value, 1 / std::sqrt(3.0), change));
  expectClose(found[1], headsFirst(key));
  expectClose(found[2], headsFirst(value));
}

TEST(MultiHeadAttention, PackedOperands) {
  // [batch, tokens, heads, 3, size]
  std::vector<double> packed = fractions(kBatch * kTokens * kHeads * 3 * kSize);
  Heads parts[3];
  for (int64_t part = 0; part < 3; ++part) {
    parts[part] = {kBatch, kTokens, kHeads, kSize, {}};
    for (int64_t row = 0; row < kBatch * kTokens * kHeads; ++row)
      for (int64_t d = 0; d < kSize; ++d)
        parts[part].values.push_back(packed[(row * 3 + part) * kSize + d]);
  }
  std::vector<double> expected = plainAttention(parts[0], parts[1], parts[2], 1 / std::sqrt(3.0), unchanged);
  KnownModel all;
  all.tensor("qkv", {ElementType::F32, {kBatch, kTokens, kHeads, 3, kSize}, packed});
  all.microsoft("MultiHeadAttention", {"qkv"}, {"y"}).attribute("num_heads", kHeads).output("y");
  expectClose(all.result(), expected);
  std::vector<double> pair;
  for (size_t i = 0; i < parts[1].values.size(); i += kSize)
    for (const Heads &part : {parts[1], parts[2]})
      pair.insert(pair.end(), part.values.begin() + i, part.values.begin() + i + kSize);
  KnownModel two;
  two.tensor("q", {ElementType::F32, {kBatch, kTokens, kHeads * kSize}, parts[0].values});
  two.tensor("kv", {ElementType::F32, {kBatch, kTokens, kHeads, 2, kSize}, pair});
  two.microsoft("MultiHeadAttention", {"q", "kv"}, {"y"}).attribute("num_heads", kHeads).output("y");
  expectClose(two.result(), expected);
}

TEST(MultiHeadAttention, KeysAndValuesWithSplitHeads) {
  Heads q{kBatch, 3, kHeads, kSize, fractions(36)}, k{kBatch, 2, kHeads, kSize, fractions(24, 2)};
  Heads v{kBatch, 2, kHeads, kValueSize, fractions(16, 3)};
  KnownModel model;
  model.tensor("q", {ElementType::F32, {kBatch, 3, 6}, q.values});
  model.tensor("k", {ElementType::F32, {kBatch, kHeads, 2, kSize}, headsFirst(k)});
  model.tensor("v", {ElementType::F32, {kBatch, kHeads, 2, kValueSize}, headsFirst(v)});
  model.microsoft("MultiHeadAttention", {"q", "k", "v"}, {"y"}).attribute("num_heads", kHeads).output("y");
  expectClose(model.result(), plainAttention(q, k, v, 1 / std::sqrt(3.0), unchanged));
}

TEST(Attention, WhatIsNotSupportedIsNamed) {
  Projection p;
  KnownModel rotary = attentionModel(p);
  rotary.attribute("do_rotary", int64_t(1));
  EXPECT_THAT(imported(rotary), HasSubstr("attribute 'do_rotary' is not supported"));
  KnownModel mask = attentionModel(p, {"mask"});
  mask.tensor("mask", {ElementType::I32, {8}, scattered(8, 0, 3)});
  EXPECT_THAT(imported(mask),
              HasSubstr("a mask of shape 8 is not supported for 2 batches of 3 queries and 3 keys"));
}

struct RotaryCase {
  bool interleaved, splitHeads, eachPosition;
  int64_t pairs;
};

TEST(RotaryEmbedding, RotatesPairsByTheAngleOfThePosition) {
  constexpr int64_t kRows = 6, kWidth = 8;
  const RotaryCase cases[] = {
      {false, false, false, 4}, {true, false, true, 4}, {false, true, true, 2}, {true, true, false, 2}};
  for (const RotaryCase &c : cases) {
    std::vector<double> x = fractions(kBatch * kTokens * kHeads * kWidth), cosine, sine;
    std::vector<double> positions =
        c.eachPosition ? std::vector<double>{0, 3, 5, 1, 1, 2} : std::vector<double>{2};
    for (int64_t i = 0; i < kRows * c.pairs; ++i) {
      cosine.push_back(static_cast<float>(std::cos(0.3 * i)));
      sine.push_back(static_cast<float>(std::sin(0.3 * i)));
    }
    auto index = [&](int64_t b, int64_t s, int64_t h, int64_t d) {
      return c.splitHeads ? ((b * kHeads + h) * kTokens + s) * kWidth + d
                          : ((b * kTokens + s) * kHeads + h) * kWidth + d;
    };
    std::vector<double> expected = x;
    for (int64_t b = 0; b < kBatch; ++b)
      for (int64_t s = 0; s < kTokens; ++s)
        for (int64_t h = 0; h < kHeads; ++h)
          for (int64_t i = 0; i < c.pairs; ++i) {
            int64_t row = c.eachPosition ? positions[b * kTokens + s] : positions[0] + s;
            double co = cosine[row * c.pairs + i], si = sine[row * c.pairs + i];
            int64_t first = index(b, s, h, c.interleaved ? 2 * i : i);
            int64_t second = index(b, s, h, c.interleaved ? 2 * i + 1 : i + c.pairs);
            expected[first] = x[first] * co - x[second] * si;
            expected[second] = x[second] * co + x[first] * si;
          }
    KnownModel model;
    std::vector<int64_t> shape = {kBatch, kTokens, kHeads * kWidth};
    if (c.splitHeads)
      shape = {kBatch, kHeads, kTokens, kWidth};
    std::vector<int64_t> positionShape = {1};
    if (c.eachPosition)
      positionShape = {kBatch, kTokens};
    model.tensor("x", {ElementType::F32, shape, x}).tensor("p", {ElementType::I64, positionShape, positions});
    model.tensor("cos", {ElementType::F32, {kRows, c.pairs}, cosine})
        .tensor("sin", {ElementType::F32, {kRows, c.pairs}, sine});
    model.microsoft("RotaryEmbedding", {"x", "p", "cos", "sin"}, {"y"})
        .attribute("interleaved", int64_t(c.interleaved));
    if (2 * c.pairs < kWidth)
      model.attribute("num_heads", kHeads).attribute("rotary_embedding_dim", 2 * c.pairs);
    model.output("y");
    expectClose(model.result(), expected, 1e-6);
  }
}

} // namespace
