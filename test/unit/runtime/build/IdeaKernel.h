// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of one idea: their texts, and what they compute under schedules of their space.
#pragma once

#include "TestKernel.h"
#include "schedule/Space.h"

namespace autotune::test {

/// A kernel of one idea: the arguments before the destination, and the op.
struct Idea {
  std::vector<std::string> arguments; // types of %a0, %a1, …
  std::string result, op;
  std::string text() const;
};

Workload workloadOf(const Idea &idea, int threads);
/// The first value of every knob.
LoopNest firstNest(const Idea &idea);

using Buffers = std::vector<std::vector<float>>;
/// Numbers in [-1, 1), and bits for i1.
Buffers inputsOf(const Idea &idea);

/// The chunks in turn, the last first; nothing may be written behind the result. Without a nest, in pieces.
std::vector<float> run(const Idea &idea, Buffers inputs, const std::optional<LoopNest> &nest,
                       int64_t chunks = 1);

/// The same to 1e-5, NaN where NaN is expected.
void expectSame(const std::vector<float> &found, const std::vector<float> &expected);
/// Draws schedules of the space for two threads.
void expectUnderAnySchedule(const Idea &idea, const Buffers &inputs, const std::vector<float> &expected,
                            int schedules, unsigned seed);
/// What the pieces compute is right.
void expectRightUnderAnySchedule(const Idea &idea, int schedules, unsigned seed);

} // namespace autotune::test
