// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Measurer interface over real worker processes. The test worker takes the name of a schedule's only knob
// for that of a kernel.
#include "runtime/worker/WorkerMeasurer.h"

#include <gmock/gmock.h>

using namespace autotune;
using testing::HasSubstr;

namespace {

Workload testWorkload() {
  Workload workload;
  workload.kind = "elementwise";
  workload.opClass = OpClass::Elementwise;
  workload.dims = {{1024, false}};
  return workload;
}

Schedule named(const std::string &knob) {
  Schedule schedule;
  schedule.knobs[knob] = 1;
  return schedule;
}

class WorkerMeasurerTest : public testing::Test {
protected:
  void SetUp() override {
    worker::PipelineOptions options;
    options.command = {TEST_WORKER};
    options.timing.budgetNs = 5'000'000;
    auto pipeline = worker::CandidatePipeline::create(options);
    ASSERT_TRUE(static_cast<bool>(pipeline));
    measurer = std::make_unique<WorkerMeasurer>(std::move(*pipeline),
                                                [this](const Workload &) -> llvm::Expected<MeasuredKernel> {
                                                  ++asked;
                                                  MeasuredKernel kernel;
                                                  kernel.args = {{worker::ArgRole::Input, "f32", 4096},
                                                                 {worker::ArgRole::Weight, "f32", 4096},
                                                                 {worker::ArgRole::Output, "f32", 4096}};
                                                  return kernel;
                                                });
  }
  int asked = 0;
  std::unique_ptr<WorkerMeasurer> measurer;
};

} // namespace

TEST_F(WorkerMeasurerTest, GivesMeasurementsAndFailuresInOrder) {
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto outcomes = measurer->measure(testWorkload(), {named("good"), named("wrong"), named("slow")});
    ASSERT_TRUE(static_cast<bool>(outcomes)) << llvm::toString(outcomes.takeError());
    ASSERT_EQ(outcomes->size(), 3u);
    EXPECT_GT(std::get<Measurement>((*outcomes)[0]).medianNs, 0);
    EXPECT_EQ(std::get<Failure>((*outcomes)[1]).stage, "check");
    EXPECT_GT(std::get<Measurement>((*outcomes)[2]).runs, 0);
  }
  EXPECT_EQ(asked, 1);
}

TEST_F(WorkerMeasurerTest, ComparesWithTheStandardOfTheCheck) {
  auto outcome = measurer->confirm(testWorkload(), named("slow"), named("good"));
  ASSERT_TRUE(static_cast<bool>(outcome)) << llvm::toString(outcome.takeError());
  const auto &comparison = std::get<Comparison>(*outcome);
  EXPECT_GT(comparison.ratio, 2);
  EXPECT_EQ(comparison.standard, "elementwise");
  EXPECT_EQ(comparison.metrics.at("max_error"), 0);
  outcome = measurer->confirm(testWorkload(), named("good"), named("crashes"));
  ASSERT_TRUE(static_cast<bool>(outcome));
  EXPECT_EQ(std::get<Failure>(*outcome).stage, "crash");
}

TEST_F(WorkerMeasurerTest, AKernelThatNobodyKnowsIsAnError) {
  WorkerMeasurer lost(nullptr, [](const Workload &) -> llvm::Expected<MeasuredKernel> {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "no such kernel");
  });
  auto outcomes = lost.measure(testWorkload(), {named("good")});
  ASSERT_FALSE(static_cast<bool>(outcomes));
  EXPECT_EQ(llvm::toString(outcomes.takeError()), "no such kernel");
}
