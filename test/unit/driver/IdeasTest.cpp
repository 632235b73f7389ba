// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ideas through the whole compiler, beside their definitions in double precision.
#include "test/unit/driver/RunText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

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

TEST(Ideas, LongRowsAreNormalisedWhole) {
  constexpr int64_t kRows = 6, kColumns = 77;
  std::vector<float> x = numbers(kRows * kColumns, 1);
  std::vector<double> expected;
  for (int64_t i = 0; i < kRows; ++i) {
    const float *row = x.data() + i * kColumns;
    double mean = 0, variance = 0, sum = 0;
    std::vector<double> normal;
    for (int64_t j = 0; j < kColumns; ++j)
      mean += row[j] / double(kColumns);
    for (int64_t j = 0; j < kColumns; ++j)
      variance += (row[j] - mean) * (row[j] - mean) / kColumns;
    for (int64_t j = 0; j < kColumns; ++j)
      normal.push_back((row[j] - mean) / std::sqrt(variance + 1e-5));
    for (double value : normal)
      sum += std::exp(value);
    for (double value : normal)
      expected.push_back(std::exp(value) / sum);
  }
  expectClose(runText(R"(func.func @main(%x: tensor<2x3x77xf32>) -> tensor<2x3x77xf32> {
  %n = autotune.layer_norm %x axes [2] epsilon 1.0e-5 : tensor<2x3x77xf32>
  %e = tensor.empty() : tensor<2x3x77xf32>
  %y = linalg.softmax dimension(2) ins(%n : tensor<2x3x77xf32>) outs(%e : tensor<2x3x77xf32>) -> tensor<2x3x77xf32>
  return %y : tensor<2x3x77xf32>
})",
                      {hostTensor("f32", {2, 3, 77}, x)}),
              expected, 2e-6);
}

TEST(Ideas, AttentionTakesHeadsFromWhereTheyAre) {
  // [batch, rows, heads, depth] in and out, and a part of a larger tensor as values.
  Attention a;
  a.width = a.depth;
  auto moved = [&](const std::vector<float> &from, int64_t rows) { // to [batch, rows, heads, depth]
    std::vector<float> to;
    for (int64_t n = 0; n < a.batch; ++n)
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t h = 0; h < a.heads; ++h)
          for (int64_t d = 0; d < a.depth; ++d)
            to.push_back(from[((n * a.heads + h) * rows + i) * a.depth + d]);
    return to;
  };
  std::vector<float> q = numbers(a.batch * a.heads * a.rows * a.depth, 1);
  std::vector<float> k = numbers(a.batch * a.heads * a.columns * a.depth, 2), v = numbers(k.size(), 3);
  std::vector<double> result = a(q, k, v);
  std::vector<float> rounded = moved(std::vector<float>(result.begin(), result.end()), a.rows);
  expectClose(
      runText(R"(
func.func @main(%q: tensor<2x9x4x16xf32>, %k: tensor<2x13x4x16xf32>, %v: tensor<2x13x4x16xf32>)
    -> tensor<2x10x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4x9x16xf32>
  %f = tensor.empty() : tensor<2x4x13x16xf32>
  %g = tensor.empty() : tensor<2x9x4x16xf32>
  %qt = linalg.transpose ins(%q : tensor<2x9x4x16xf32>) outs(%e : tensor<2x4x9x16xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<2x13x4x16xf32>) outs(%f : tensor<2x4x13x16xf32>) permutation = [0, 2, 1, 3]
  %vt = linalg.transpose ins(%v : tensor<2x13x4x16xf32>) outs(%f : tensor<2x4x13x16xf32>) permutation = [0, 2, 1, 3]
  %y = autotune.attention %qt, %kt, %vt scale 0.25
     : tensor<2x4x9x16xf32>, tensor<2x4x13x16xf32>, tensor<2x4x13x16xf32> -> tensor<2x4x9x16xf32>
  %t = linalg.transpose ins(%y : tensor<2x4x9x16xf32>) outs(%g : tensor<2x9x4x16xf32>) permutation = [0, 2, 1, 3]
  %p = tensor.pad %t low[0, 1, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%i: index, %j: index, %l: index, %m: index):
    tensor.yield %zero : f32
  } : tensor<2x9x4x16xf32> to tensor<2x10x4x16xf32>
  return %p : tensor<2x10x4x16xf32>
})",
              {hostTensor("f32", {2, 9, 4, 16}, moved(q, a.rows)),
               hostTensor("f32", {2, 13, 4, 16}, moved(k, a.columns)),
               hostTensor("f32", {2, 13, 4, 16}, moved(v, a.columns))}),
      [&] {
        std::vector<double> padded;
        auto row = static_cast<size_t>(a.heads * a.depth), batch = row * a.rows;
        for (size_t n = 0; n < 2; ++n) {
          padded.insert(padded.end(), row, 0);
          padded.insert(padded.end(), rounded.begin() + n * batch, rounded.begin() + (n + 1) * batch);
        }
        return padded;
      }(),
      2e-6);
}

TEST(Ideas, OperandsMayBeFilledWithANumber) {
  constexpr int64_t kRows = 9, kSize = 16;
  std::vector<float> q = numbers(kRows * kSize, 1);
  // Equal keys have equal weights: the result is the value.
  expectClose(runText(R"(func.func @main(%q: tensor<9x16xf32>) -> tensor<9x16xf32> {
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<20x16xf32>
  %k = linalg.fill ins(%two : f32) outs(%e : tensor<20x16xf32>) -> tensor<20x16xf32>
  %y = autotune.attention %q, %k, %k scale 0.25
     : tensor<9x16xf32>, tensor<20x16xf32>, tensor<20x16xf32> -> tensor<9x16xf32>
  return %y : tensor<9x16xf32>
})",
                      {hostTensor("f32", {kRows, kSize}, q)}),
              std::vector<double>(kRows * kSize, 2), 2e-6);
}

namespace {

std::string denseText(const std::vector<float> &values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(values, stream, [&](float value) { stream << llvm::format("%.9e", value); });
  return "dense<[[[" + text + "]]]>";
}

/// Both directions of a GRU of 19 units; the weights are an argument or known at compile time.
std::vector<HostTensor> runRecurrence(const std::vector<float> &weights, bool known) {
  std::vector<float> x = numbers(7 * 3 * 2 * 57, 1);
  std::vector<HostTensor> inputs = {hostTensor("f32", {7, 3, 2, 57}, x)};
  std::string flat = "tensor<1x1x2166xf32>", given = "  %w = arith.constant " + denseText(weights) + " : " + flat + "\n";
  if (!known)
    inputs.push_back(hostTensor("f32", {1, 1, 2166}, weights));
  return runText("func.func @main(%x: tensor<7x3x2x57xf32>" + (known ? "" : ", %w: " + flat) +
                     ") -> (tensor<7x2x3x19xf32>, tensor<1x2x3x19xf32>) {\n" + (known ? given : "") + R"(
  %c = tensor.collapse_shape %w [[0, 1, 2]] : tensor<1x1x2166xf32> into tensor<2166xf32>
  %r = tensor.expand_shape %c [[0, 1, 2]] output_shape [2, 19, 57] : tensor<2166xf32> into tensor<2x19x57xf32>
  %y = autotune.recurrence gru %x, %r activations ["sigmoid", "tanh"] {keeps_state}
     : tensor<7x3x2x57xf32>, tensor<2x19x57xf32> -> tensor<8x2x3x19xf32>
  %all = tensor.extract_slice %y[0, 0, 0, 0] [7, 2, 3, 19] [1, 1, 1, 1] : tensor<8x2x3x19xf32> to tensor<7x2x3x19xf32>
  %last = tensor.extract_slice %y[7, 0, 0, 0] [1, 2, 3, 19] [1, 1, 1, 1] : tensor<8x2x3x19xf32> to tensor<1x2x3x19xf32>
  return %all, %last : tensor<7x2x3x19xf32>, tensor<1x2x3x19xf32>
})",
                 inputs);
}

} // namespace

TEST(Ideas, WeightsOfRecurrencesThatAreKnownStandInBlocks) {
  std::vector<float> weights = numbers(2 * 19 * 57, 2);
  for (float &weight : weights)
    weight *= 0.3f;
  std::vector<HostTensor> known = runRecurrence(weights, true), given = runRecurrence(weights, false);
  ASSERT_EQ(known.size(), 2u);
  ASSERT_EQ(given.size(), 2u);
  for (size_t output = 0; output < 2; ++output) {
    std::vector<float> found = valuesOf<float>(known[output]), expected = valuesOf<float>(given[output]);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(found[i], expected[i], 2e-6) << "output " << output << " at " << i;
  }
  // The last state of the second direction is the one that it shows first.
  std::vector<float> all = valuesOf<float>(known[0]), last = valuesOf<float>(known[1]);
  EXPECT_EQ(std::vector<float>(all.end() - 2 * 57, all.end() - 57), std::vector<float>(last.begin(), last.begin() + 57));
  EXPECT_EQ(std::vector<float>(all.begin() + 57, all.begin() + 2 * 57), std::vector<float>(last.begin() + 57, last.end()));
}
