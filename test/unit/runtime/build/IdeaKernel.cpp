// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IdeaKernel.h"

#include "passes/Dialects.h"
#include "passes/ExtractWorkload.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <random>

namespace autotune::test {

std::string Idea::text() const {
  std::string signature;
  for (size_t i = 0; i < arguments.size(); ++i)
    signature += "%a" + std::to_string(i) + ": tensor<" + arguments[i] + ">, ";
  return "func.func @kernel(" + signature + "%dest: tensor<" + result + ">) -> tensor<" + result + "> {\n" +
         op + "\n  return %y : tensor<" + result + ">\n}";
}

Workload workloadOf(const Idea &idea, int threads) {
  mlir::DialectRegistry registry;
  registerKernelDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(idea.text(), &context);
  mlir::func::FuncOp kernel = *module->getOps<mlir::func::FuncOp>().begin();
  return extractWorkload(kernel, kernelText(kernel), {{}, threads, Numerics::Default}).value();
}

static int64_t elementsOf(llvm::StringRef type) {
  int64_t count = 1, extent = 0;
  while (!type.consumeInteger(10, extent)) {
    count *= extent;
    type.consume_front("x");
  }
  return count;
}

Buffers inputsOf(const Idea &idea) {
  Buffers inputs;
  for (const std::string &type : idea.arguments) {
    int64_t count = elementsOf(type);
    std::vector<float> values = numbers(size_t(count), unsigned(7 + inputs.size()));
    if (llvm::StringRef(type).ends_with("i1")) { // a byte each
      std::vector<char> bits;
      for (float value : values)
        bits.push_back(value > -0.5f);
      std::memcpy(values.data(), bits.data(), bits.size());
    }
    inputs.push_back(std::move(values));
  }
  return inputs;
}

std::vector<float> run(const Idea &idea, Buffers inputs, const std::optional<LoopNest> &nest,
                       int64_t chunks) {
  LoadedKernel kernel(idea.text(), nest);
  if (!kernel)
    return {};
  auto count = size_t(elementsOf(idea.result));
  std::vector<float> output(count + 16, -77);
  std::vector<float *> pointers;
  for (std::vector<float> &input : inputs)
    pointers.push_back(input.data());
  pointers.push_back(output.data());
  for (int64_t chunk = chunks - 1; chunk >= 0; --chunk)
    kernel.run(pointers, chunk, chunk + 1);
  for (size_t i = count; i < output.size(); ++i)
    EXPECT_EQ(output[i], -77) << "written behind the end";
  output.resize(count);
  return output;
}

void expectSame(const std::vector<float> &found, const std::vector<float> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]))
      ASSERT_TRUE(std::isnan(found[i])) << "element " << i << " is " << found[i];
    else
      ASSERT_NEAR(found[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << "element " << i;
  }
}

void expectUnderAnySchedule(const Idea &idea, const Buffers &inputs, const std::vector<float> &expected,
                            int schedules, unsigned seed) {
  Workload workload = workloadOf(idea, 2);
  SCOPED_TRACE(workload.text());
  EXPECT_EQ(valueOf(Workload::parse(workload.text())), workload);
  Space space = buildSpace(workload, testDevice());
  std::mt19937 random(seed);
  for (int i = 0; i < schedules; ++i) {
    Schedule schedule;
    do
      for (const Knob &knob : space.knobs)
        schedule.knobs[knob.name] = knob.values[random() % knob.values.size()];
    while (!space.contains(workload, schedule));
    SCOPED_TRACE(schedule.text());
    LoopNest nest = valueOf(buildLoopNest(workload, schedule));
    expectSame(run(idea, inputs, nest, nest.chunks(workload)), expected);
    if (testing::Test::HasFatalFailure())
      return;
  }
}

void expectRightUnderAnySchedule(const Idea &idea, int schedules, unsigned seed) {
  Buffers inputs = inputsOf(idea);
  expectUnderAnySchedule(idea, inputs, run(idea, inputs, std::nullopt), schedules, seed);
}

LoopNest firstNest(const Idea &idea) {
  Workload workload = workloadOf(idea, 1);
  Space space = buildSpace(workload, testDevice());
  Schedule schedule;
  for (const Knob &knob : space.knobs)
    schedule.knobs[knob.name] = knob.values.front();
  return valueOf(buildLoopNest(workload, schedule));
}

} // namespace autotune::test
