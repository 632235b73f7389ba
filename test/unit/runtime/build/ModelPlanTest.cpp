// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans: the same on every run, each kernel and constant once, errors with a reason.
#include "TestModel.h"
#include "test/unit/KernelContext.h"
#include "test/unit/Results.h"

#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;

namespace {

std::string describe(const ModelPlan &plan) {
  std::string text;
  llvm::raw_string_ostream s(text);
  for (const UniqueKernel &kernel : plan.kernels)
    s << kernel.label << " x" << kernel.occurrences << "\n"
      << kernel.text << (kernel.workload ? kernel.workload->text() : "") << "\n";
  for (const PlanStep &step : plan.steps) {
    s << step.kernel << " " << step.label << " " << step.operatorId << ":";
    for (const StepArgument &argument : step.arguments)
      s << " " << int(argument.place) << "/" << argument.index << "/" << argument.offset;
    s << "\n";
  }
  s << plan.arenaBytes << " " << plan.tensorBytes << " " << plan.constantsBytes << "\n";
  return text;
}

} // namespace

TEST(ModelPlan, PlanningTwiceGivesTheSame) {
  TestModel first, second;
  for (bool blocked : {false, true}) {
    auto plan = [&](TestModel &model) {
      return describe(valueOf(planModel(
          model.module(), blocked ? model.blockedPartition() : model.plainPartition(), planOptions())));
    };
    std::string text = plan(first);
    EXPECT_EQ(text, plan(first));
    EXPECT_EQ(text, plan(second)) << "a context of its own must not show in the plan";
  }
}

TEST(ModelPlan, PlanningLeavesTheModelAsItWas) {
  TestModel model;
  auto print = [&] {
    std::string text;
    llvm::raw_string_ostream(text) << model.module();
    return text;
  };
  std::string before = print();
  valueOf(planModel(model.module(), model.blockedPartition(), planOptions()));
  EXPECT_EQ(print(), before);
}

TEST(ModelPlan, InputsAndOutputsAreDescribed) {
  TestModel model;
  ModelPlan plan = valueOf(planModel(model.module(), model.blockedPartition(), planOptions()));
  ASSERT_EQ(plan.inputs.size(), 1u);
  EXPECT_EQ(plan.inputs[0].name, "x");
  EXPECT_EQ(plan.inputs[0].dtype, "f32");
  EXPECT_EQ(plan.inputs[0].shape, (std::vector<int64_t>{1, 16, 6, 6}));
  ASSERT_EQ(plan.outputs.size(), 2u);
  EXPECT_EQ(plan.outputs[1].name, "classes");
  EXPECT_EQ(plan.outputs[1].shape, (std::vector<int64_t>{1, 10}));
}

TEST(ModelPlan, EqualKernelsArePlannedOnceAndConstantsStoredOnce) {
  auto context = makeContext();
  auto module = parseModel(*context, twinsText());
  ModelPlan plan = valueOf(planModel(*module, singleOperators(3), planOptions()));
  ASSERT_EQ(plan.steps.size(), 3u);
  EXPECT_EQ(plan.steps[0].kernel, plan.steps[1].kernel);
  EXPECT_NE(plan.steps[0].kernel, plan.steps[2].kernel);
  EXPECT_EQ(plan.kernels[plan.steps[0].kernel].occurrences, 2);
  EXPECT_EQ(plan.steps[0].label, "first");
  EXPECT_EQ(plan.steps[1].label, "second");
  EXPECT_EQ(plan.steps[1].operatorId, 1);
  EXPECT_EQ(plan.constants.size(), 1u);
  EXPECT_EQ(plan.steps[2].arguments.back().place, BufferPlace::Output);
}

TEST(ModelPlan, TheArenaIsNoLargerThanItsTensors) {
  TestModel model;
  ModelPlan plan = valueOf(planModel(model.module(), model.plainPartition(), planOptions()));
  EXPECT_GT(plan.arenaBytes, 0);
  EXPECT_LT(plan.arenaBytes, plan.tensorBytes);
  for (const PlanStep &step : plan.steps)
    for (const StepArgument &argument : step.arguments)
      EXPECT_EQ(argument.offset % 64, 0);
}

TEST(ModelPlan, EveryWorkloadIsItsOwnText) {
  TestModel model;
  ModelPlan plan = valueOf(planModel(model.module(), model.blockedPartition(), planOptions()));
  for (const UniqueKernel &kernel : plan.kernels)
    if (kernel.workload)
      EXPECT_EQ(valueOf(Workload::parse(kernel.workload->text())), *kernel.workload) << kernel.text;
}

TEST(ModelPlan, ErrorsSayWhy) {
  TestModel model;
  Partition missing = model.plainPartition();
  missing.subgraphs.pop_back();
  EXPECT_EQ(messageOf(planModel(model.module(), missing, planOptions())),
            "partition: expected operator 6 in the partition");
  Partition twoRoots = model.plainPartition();
  twoRoots.subgraphs[1].operators = {1, 2, 3, 4};
  twoRoots.subgraphs.erase(twoRoots.subgraphs.begin() + 2, twoRoots.subgraphs.begin() + 5);
  EXPECT_THAT(messageOf(planModel(model.module(), twoRoots, planOptions())), HasSubstr("found a second one"));
  auto context = makeContext();
  auto empty = parseModel(*context, "module {}");
  EXPECT_EQ(messageOf(planModel(*empty, {}, planOptions())), "expected a function @main");
}
