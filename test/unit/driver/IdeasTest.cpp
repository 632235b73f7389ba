// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas through the whole compiler, beside their definitions in double precision.
#include "test/unit/driver/RunText.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace autotune;
using namespace autotune::test;

namespace {

std::vector<float> numbers(int64_t count, int seed) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(std::sin(0.7 * static_cast<double>(i) + seed)));
  return values;
}

/// Sizes of [batch, heads, rows, depth] and what decides the scores.
struct Attention {
  int64_t batch = 2, heads = 4, keyHeads = 4, rows = 9, columns = 13, depth = 16, width = 20;
  double scale = 0.25, fill = -std::numeric_limits<double>::infinity();
  std::vector<float> bias; // [columns]
  std::vector<char> mask;  // [rows, columns]
  int64_t causal = -1;     // none

  std::vector<double> operator()(const std::vector<float> &q, const std::vector<float> &k,
                                 const std::vector<float> &v) const {
    std::vector<double> result;
    for (int64_t n = 0; n < batch * heads; ++n) {
      int64_t shared = n / heads * keyHeads + n % heads / (heads / keyHeads);
      for (int64_t i = 0; i < rows; ++i) {
        std::vector<double> weights =
            scores(q.data() + (n * rows + i) * depth, k.data() + shared * columns * depth, i);
        for (int64_t e = 0; e < width; ++e) {
          double sum = 0, total = 0;
          for (int64_t j = 0; j < columns; ++j) {
            sum += weights[j] * v[(shared * columns + j) * width + e];
            total += weights[j];
          }
          result.push_back(sum / total);
        }
      }
    }
    return result;
  }

private:
  std::vector<double> scores(const float *query, const float *keys, int64_t i) const {
    std::vector<double> weights;
    for (int64_t j = 0; j < columns; ++j) {
      double score = 0;
      for (int64_t d = 0; d < depth; ++d)
        score += static_cast<double>(query[d]) * keys[j * depth + d];
      score = score * scale + (bias.empty() ? 0 : bias[j]) + (causal >= 0 && j > i + causal ? fill : 0);
      weights.push_back(std::exp(mask.empty() || mask[i * columns + j] ? score : fill));
    }
    return weights;
  }
};

void expectClose(const std::vector<HostTensor> &outputs, const std::vector<double> &expected,
                 double tolerance) {
  ASSERT_EQ(outputs.size(), 1u);
  std::vector<float> found = valuesOf<float>(outputs[0]);
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    ASSERT_NEAR(found[i], expected[i], tolerance) << "at " << i;
}

std::string tensor(std::initializer_list<int64_t> shape, const std::string &element = "f32") {
  std::string text = "tensor<";
  for (int64_t dim : shape)
    text += std::to_string(dim) + "x";
  return text + element + ">";
}

void check(const Attention &a, const std::string &options) {
  std::string query = tensor({a.batch, a.heads, a.rows, a.depth}),
              key = tensor({a.batch, a.keyHeads, a.columns, a.depth});
  std::string value = tensor({a.batch, a.keyHeads, a.columns, a.width}),
              result = tensor({a.batch, a.heads, a.rows, a.width});
  std::string arguments = "%q: " + query + ", %k: " + key + ", %v: " + value, operands;
  std::vector<HostTensor> inputs = {hostTensor("f32", {a.batch, a.heads, a.rows, a.depth},
                                               numbers(a.batch * a.heads * a.rows * a.depth, 1)),
                                    hostTensor("f32", {a.batch, a.keyHeads, a.columns, a.depth},
                                               numbers(a.batch * a.keyHeads * a.columns * a.depth, 2)),
                                    hostTensor("f32", {a.batch, a.keyHeads, a.columns, a.width},
                                               numbers(a.batch * a.keyHeads * a.columns * a.width, 3))};
  if (!a.bias.empty()) {
    arguments += ", %b: " + tensor({a.columns});
    operands += " bias(%b : " + tensor({a.columns}) + ")";
    inputs.push_back(hostTensor("f32", {a.columns}, a.bias));
  }
  if (!a.mask.empty()) {
    arguments += ", %m: " + tensor({a.rows, a.columns}, "i1");
    operands += " mask(%m : " + tensor({a.rows, a.columns}, "i1") + ")";
    inputs.push_back(hostTensor("i1", {a.rows, a.columns}, a.mask));
  }
  std::string text = "func.func @main(" + arguments + ") -> " + result +
                     " {\n  %y = autotune.attention %q, %k, %v" + operands + " scale 0.25 " + options +
                     " : " + query + ", " + key + ", " + value + " -> " + result +
                     "\n  return %y : " + result + "\n}";
  expectClose(runText(text, inputs),
              a(valuesOf<float>(inputs[0]), valuesOf<float>(inputs[1]), valuesOf<float>(inputs[2])), 2e-6);
}

} // namespace

TEST(Ideas, Attention) { check({}, ""); }

TEST(Ideas, AttentionWithBiasAndMask) {
  Attention a;
  a.bias = numbers(a.columns, 4);
  for (int64_t i = 0; i < a.rows * a.columns; ++i)
    a.mask.push_back(i % 3 != 1);
  check(a, "");
}

TEST(Ideas, CausalAttentionOfSharedHeads) {
  Attention a;
  a.keyHeads = 2;
  a.causal = 1;
  check(a, "causal 1");
}

TEST(Ideas, RowsThatMayReadNothingTakeTheMeanWithAFiniteFill) {
  Attention a;
  a.mask.assign(a.rows * a.columns, 1);
  std::fill_n(a.mask.begin(), a.columns, 0);
  // In place of -1e9, whose exponential is 0 without the maximum taken off; the weights are the same.
  a.fill = -30;
  check(a, "fill -30.0");
}

TEST(Ideas, LayerNormOverTwoAxes) {
  constexpr int64_t kOuter = 5, kInner = 6 * 11;
  std::vector<float> x = numbers(kOuter * kInner, 1), scale = numbers(kInner, 2), bias = numbers(11, 3);
  for (bool rms : {false, true}) {
    std::vector<double> expected;
    for (int64_t i = 0; i < kOuter; ++i) {
      const float *row = x.data() + i * kInner;
      double mean = 0, variance = 0;
      for (int64_t j = 0; j < kInner && !rms; ++j)
        mean += row[j] / double(kInner);
      for (int64_t j = 0; j < kInner; ++j)
        variance += (row[j] - mean) * (row[j] - mean) / kInner;
      for (int64_t j = 0; j < kInner; ++j)
        expected.push_back((row[j] - mean) / std::sqrt(variance + 1e-3) * scale[j] + bias[j % 11]);
    }
    std::string text = "func.func @main(%x: tensor<5x6x11xf32>, %s: tensor<6x11xf32>, %b: tensor<11xf32>)"
                       " -> tensor<5x6x11xf32> {\n  %y = autotune.layer_norm" +
                       std::string(rms ? " rms" : "") +
                       " %x scale(%s : tensor<6x11xf32>) bias(%b : tensor<11xf32>) axes [1, 2] epsilon 1.0e-3"
                       " : tensor<5x6x11xf32>\n  return %y : tensor<5x6x11xf32>\n}";
    expectClose(runText(text, {hostTensor("f32", {5, 6, 11}, x), hostTensor("f32", {6, 11}, scale),
                               hostTensor("f32", {11}, bias)}),
                expected, 2e-6);
  }
}
