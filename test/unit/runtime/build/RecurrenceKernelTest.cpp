// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recurrences beside the equations of the ONNX specification in double precision.
#include "IdeaKernel.h"
#include "test/unit/Results.h"

#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace autotune;
using namespace autotune::test;

namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

struct Recurrence {
  std::string kind = "lstm";
  int64_t steps = 5, batch = 1, directions = 1, hidden = 24;
  int64_t block = 0; // units of a block of the weight; 0: not in blocks
  bool reverse = false, initial = false, peepholes = false, lengths = false, coupled = false;
  bool linear = false, keepsState = true;
  double clip = 0;

  int64_t gates() const { return kind == "lstm" ? 4 : kind == "gru" ? 3 : 1; }
  int64_t positions() const { return steps + (keepsState ? kind == "lstm" ? 2 : 1 : 0); }
  Idea idea() const;
  Buffers inputs() const;
  std::vector<float> weightAsStored() const;
  std::vector<float> expected(const Buffers &inputs) const;
  void check(int schedules = 2) const;

private:
  struct Operands;
  void runRow(const Operands &operands, int64_t direction, int64_t row, std::vector<float> &result) const;
  void step(const Operands &operands, int64_t direction, const float *input, std::vector<double> &h,
            std::vector<double> &c) const;
  /// [directions, hidden, gates * hidden], so small that states differ by what they should, not by roundings
  /// that grow from step to step.
  std::vector<float> weight() const;
};

std::string shape(std::initializer_list<int64_t> extents) {
  std::string text;
  for (int64_t extent : extents)
    text += std::to_string(extent) + "x";
  return text + "f32";
}

Idea Recurrence::idea() const {
  int64_t blocks = block ? (hidden + block - 1) / block : 0;
  Idea idea{{shape({steps, batch, directions, gates() * hidden}),
             block ? shape({directions, blocks, hidden, gates(), block})
                   : shape({directions, hidden, gates() * hidden})},
            shape({positions(), directions, batch, hidden}),
            "  %y = autotune.recurrence " + kind + " %a0, %a1 "};
  auto add = [&](const std::string &name, const std::string &type) {
    idea.op += name + "(%a" + std::to_string(idea.arguments.size()) + " : tensor<" + type + ">) ";
    idea.arguments.push_back(type);
  };
  if (linear)
    add("state_bias", shape({directions, hidden}));
  if (initial)
    add("hidden", shape({directions, batch, hidden}));
  if (initial && kind == "lstm")
    add("cell", shape({directions, batch, hidden}));
  if (peepholes)
    add("peepholes", shape({directions, 3 * hidden}));
  if (lengths)
    add("lengths", std::to_string(batch) + "xi32");
  idea.op += kind == "lstm"  ? R"(activations ["sigmoid", "tanh", "tanh"])"
             : kind == "gru" ? R"(activations ["sigmoid", "tanh"])"
                             : R"(activations ["tanh"])";
  std::vector<std::string> attributes;
  for (auto [given, name] :
       {std::pair(reverse, "reverse"), std::pair(linear, "linear_before_reset"),
        std::pair(coupled, "couples_input_forget"), std::pair(keepsState, "keeps_state")})
    if (given)
      attributes.push_back(name);
  if (clip > 0)
    attributes.push_back("clip = " + std::to_string(clip));
  idea.op += " {" + llvm::join(attributes, ", ") + "} : tensor<" + idea.arguments[0] + ">, tensor<" +
             idea.arguments[1] + "> -> tensor<" + idea.result + ">";
  return idea;
}

std::vector<float> Recurrence::weight() const {
  std::vector<float> values = numbers(size_t(directions * hidden * gates() * hidden), 3);
  for (float &value : values)
    value *= 2 / std::sqrt(float(hidden));
  return values;
}

std::vector<float> Recurrence::weightAsStored() const {
  std::vector<float> natural = weight(), stored;
  if (!block)
    return natural;
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t first = 0; first < hidden; first += block)
      for (int64_t row = 0; row < hidden; ++row)
        for (int64_t gate = 0; gate < gates(); ++gate)
          for (int64_t lane = 0; lane < block; ++lane)
            stored.push_back(natural[((d * hidden + row) * gates() + gate) * hidden +
                                     std::min(first, hidden - block) + lane]);
  return stored;
}

Buffers Recurrence::inputs() const {
  Buffers buffers = inputsOf(idea());
  buffers[1] = weightAsStored();
  if (lengths)
    for (int64_t row = 0; row < batch; ++row) {
      auto length = int32_t(row % 3 == 0 ? steps - 1 : row % 3 == 1 ? steps : 0);
      std::memcpy(&buffers.back()[row], &length, sizeof length);
    }
  return buffers;
}

struct Recurrence::Operands {
  const float *input = nullptr, *stateBias = nullptr, *hidden = nullptr, *cell = nullptr,
              *peepholes = nullptr;
  const int32_t *lengths = nullptr;
  std::vector<float> weight;
};

std::vector<float> Recurrence::expected(const Buffers &inputs) const {
  Operands operands;
  operands.input = inputs[0].data();
  operands.weight = weight();
  size_t next = 2;
  if (linear)
    operands.stateBias = inputs[next++].data();
  if (initial)
    operands.hidden = inputs[next++].data();
  if (initial && kind == "lstm")
    operands.cell = inputs[next++].data();
  if (peepholes)
    operands.peepholes = inputs[next++].data();
  if (lengths)
    operands.lengths = reinterpret_cast<const int32_t *>(inputs[next].data());
  std::vector<float> result(size_t(positions() * directions * batch * hidden));
  for (int64_t d = 0; d < directions; ++d)
    for (int64_t row = 0; row < batch; ++row)
      runRow(operands, d, row, result);
  return result;
}

void Recurrence::runRow(const Operands &operands, int64_t direction, int64_t row,
                        std::vector<float> &result) const {
  int64_t place = (direction * batch + row) * hidden;
  std::vector<double> h(hidden, 0), c(hidden, 0);
  if (operands.hidden)
    std::copy_n(operands.hidden + place, hidden, h.begin());
  if (operands.cell)
    std::copy_n(operands.cell + place, hidden, c.begin());
  auto show = [&](int64_t position, const std::vector<double> &state) {
    std::copy(state.begin(), state.end(), result.begin() + position * directions * batch * hidden + place);
  };
  for (int64_t i = 0; i < steps; ++i) {
    int64_t time = reverse || direction == 1 ? steps - 1 - i : i;
    if (operands.lengths && time >= operands.lengths[row])
      continue; // the result stays 0, the state as it is
    step(operands, direction,
         operands.input + ((time * batch + row) * directions + direction) * gates() * hidden, h, c);
    show(time, h);
  }
  if (keepsState)
    show(steps, h);
  if (keepsState && kind == "lstm")
    show(steps + 1, c);
}

void Recurrence::step(const Operands &operands, int64_t direction, const float *input, std::vector<double> &h,
                      std::vector<double> &c) const {
  auto bounded = [&](double x) { return clip > 0 ? std::clamp(x, -clip, clip) : x; };
  auto product = [&](const std::vector<double> &state, int64_t gate, int64_t unit) {
    double sum = 0;
    for (int64_t k = 0; k < hidden; ++k)
      sum += state[k] * operands.weight[((direction * hidden + k) * gates() + gate) * hidden + unit];
    return sum;
  };
  auto gate = [&](int64_t which, int64_t unit) {
    return input[which * hidden + unit] + product(h, which, unit);
  };
  auto peephole = [&](int64_t which, int64_t unit) {
    return operands.peepholes ? operands.peepholes[(direction * 3 + which) * hidden + unit] : 0.0;
  };
  std::vector<double> next = h, scaled = h;
  for (int64_t u = 0; u < hidden && kind == "gru"; ++u)
    scaled[u] *= sigmoid(bounded(gate(1, u)));
  for (int64_t u = 0; u < hidden; ++u) {
    if (kind == "rnn") {
      next[u] = std::tanh(bounded(gate(0, u)));
    } else if (kind == "gru") {
      double update = sigmoid(bounded(gate(0, u))), reset = sigmoid(bounded(gate(1, u)));
      double ofState = linear ? reset * (product(h, 2, u) + operands.stateBias[direction * hidden + u])
                              : product(scaled, 2, u);
      next[u] = (1 - update) * std::tanh(bounded(input[2 * hidden + u] + ofState)) + update * h[u];
    } else {
      double i = sigmoid(bounded(gate(0, u) + peephole(0, u) * c[u]));
      double f = coupled ? 1 - i : sigmoid(bounded(gate(2, u) + peephole(2, u) * c[u]));
      c[u] = f * c[u] + i * std::tanh(bounded(gate(3, u)));
      next[u] = sigmoid(bounded(gate(1, u) + peephole(1, u) * c[u])) * std::tanh(c[u]);
    }
  }
  h = next;
}

void Recurrence::check(int schedules) const {
  Idea kernel = idea();
  Buffers buffers = inputs();
  std::vector<float> right = expected(buffers);
  SCOPED_TRACE(kernel.op);
  expectSame(run(kernel, buffers, std::nullopt), right);
  if (!testing::Test::HasFatalFailure())
    expectUnderAnySchedule(kernel, buffers, right, schedules, 17);
}

/// Every kind of cell, GRU both ways.
std::vector<Recurrence> cells() {
  Recurrence lstm, gru, linearGru, rnn;
  gru.kind = linearGru.kind = "gru";
  linearGru.linear = true;
  rnn.kind = "rnn";
  return {lstm, gru, linearGru, rnn};
}

} // namespace

TEST(RecurrenceKernel, UnitsOfAnyNumberAreRight) {
  for (Recurrence r : cells())
    for (int64_t hidden : {1, 3, 8, 24, 61}) {
      r.hidden = hidden;
      r.check();
    }
}

TEST(RecurrenceKernel, WeightsInBlocksAreRight) {
  for (Recurrence r : cells())
    for (auto [hidden, block] :
         {std::pair<int64_t, int64_t>{24, 8}, {61, 8}, {40, 16}, {35, 16}, {5, 4}, {1, 1}}) {
      r.hidden = hidden;
      r.block = block;
      r.check(3);
    }
}

TEST(RecurrenceKernel, RowsOfABatchShareWeights) {
  for (Recurrence r : cells())
    for (int64_t batch : {3, 8}) {
      r.batch = batch;
      r.block = 8;
      r.initial = true;
      r.check(4);
    }
}

TEST(RecurrenceKernel, RunsBackwardsAndBothWays) {
  for (Recurrence r : cells()) {
    r.reverse = true;
    r.check();
    r.reverse = false;
    r.directions = 2;
    r.batch = 2;
    r.hidden = 19;
    r.initial = true;
    r.check(4);
    r.block = 8;
    r.keepsState = false;
    r.check(4);
  }
}

TEST(RecurrenceKernel, SequencesEndAtTheirLengths) {
  for (Recurrence r : cells()) {
    r.lengths = r.initial = true;
    r.batch = 4;
    r.check();
    r.directions = 2;
    r.check();
  }
}

TEST(RecurrenceKernel, PeepholesCoupledGatesAndClip) {
  Recurrence r;
  r.peepholes = r.initial = true;
  r.batch = 2;
  r.check();
  r.coupled = true;
  r.check();
  for (Recurrence clipped : cells()) {
    clipped.clip = 0.4;
    clipped.check();
  }
}

TEST(RecurrenceKernel, OneStepAndMany) {
  for (Recurrence r : cells()) {
    r.steps = 1;
    r.check();
    r.steps = 3000;
    r.hidden = 9;
    r.check(1);
  }
}

TEST(RecurrenceKernel, ActivationsAreThoseOfTheSpecification) {
  struct Activation {
    const char *name;
    double (*function)(double x, double alpha, double beta);
  };
  const Activation activations[] = {
      {"relu", [](double x, double, double) { return std::max(x, 0.0); }},
      {"tanh", [](double x, double, double) { return std::tanh(x); }},
      {"sigmoid", [](double x, double, double) { return sigmoid(x); }},
      {"affine", [](double x, double a, double b) { return a * x + b; }},
      {"leakyrelu", [](double x, double a, double) { return x < 0 ? a * x : x; }},
      {"thresholdedrelu", [](double x, double a, double) { return x < a ? 0 : x; }},
      {"scaledtanh", [](double x, double a, double b) { return a * std::tanh(b * x); }},
      {"hardsigmoid", [](double x, double a, double b) { return std::clamp(a * x + b, 0.0, 1.0); }},
      {"elu", [](double x, double a, double) { return x < 0 ? a * (std::exp(x) - 1) : x; }},
      {"softsign", [](double x, double, double) { return x / (1 + std::abs(x)); }},
      {"softplus", [](double x, double, double) { return std::log1p(std::exp(x)); }}};
  for (const Activation &activation : activations) {
    SCOPED_TRACE(activation.name);
    Idea idea{{"9x1x1x8xf32", "1x8x8xf32"},
              "9x1x1x8xf32",
              "  %y = autotune.recurrence rnn %a0, %a1 activations [\"" + std::string(activation.name) +
                  "\"] {alphas = array<f64: 0.3>, betas = array<f64: 0.6>} : tensor<9x1x1x8xf32>, "
                  "tensor<1x8x8xf32> -> tensor<9x1x1x8xf32>"};
    Buffers inputs = inputsOf(idea);
    std::fill(inputs[1].begin(), inputs[1].end(), 0.0f); // nothing of the state
    std::vector<float> expected;
    for (float &x : inputs[0]) {
      x *= 4;
      expected.push_back(float(activation.function(x, 0.3, 0.6)));
    }
    expectSame(run(idea, inputs, std::nullopt), expected);
    expectSame(run(idea, inputs, firstNest(idea)), expected);
  }
}
