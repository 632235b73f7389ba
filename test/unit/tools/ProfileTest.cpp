// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ProfileReport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

deploy::KernelSpec convolution() {
  deploy::KernelSpec kernel;
  kernel.kind = "conv";
  kernel.opClass = "contraction";
  kernel.shapes = "1x8x58x58x8, 8x8x3x3x8x8 -> 1x8x56x56x8";
  kernel.schedule = "rows=4";
  kernel.source = "near";
  kernel.flops = 2'000'000;
  kernel.bytesRead = 3000;
  kernel.bytesWritten = 1000;
  return kernel;
}

/// A border, a convolution, an elementwise kernel and the convolution again.
ModelProfile sample() {
  deploy::KernelSpec elementwise;
  elementwise.kind = elementwise.opClass = "elementwise";
  elementwise.flops = 500;
  ModelProfile profile;
  profile.model = "m";
  profile.runs = 9;
  profile.latency = {0.06, 0.065, 0.07};
  profile.peakGflops = 100;
  profile.memory.add(4 << 20, 16 << 20, 3 << 20);
  profile.steps = {
      {"", 0, 1000, 900}, {"conv1", 1, 20000, 21000}, {"act", 2, 9000, 9500}, {"conv2", 1, 30000, 29000}};
  groupByKernel(profile, {deploy::KernelSpec(), convolution(), elementwise});
  return profile;
}

TEST(ProfileTest, StepsOfOneKernelAreOneRowAndTheSlowestComesFirst) {
  ModelProfile profile = sample();
  ASSERT_EQ(profile.kernels.size(), 3u);
  EXPECT_EQ(profile.kernels[0].kernel.kind, "conv");
  EXPECT_THAT(profile.kernels[0].labels, ElementsAre("conv1", "conv2"));
  EXPECT_EQ(profile.kernels[0].ns, 50000);
  EXPECT_EQ(profile.kernels[1].ns, 9000);
  std::vector<size_t> rows;
  for (const StepProfile &step : profile.steps)
    rows.push_back(step.kernel);
  EXPECT_THAT(rows, ElementsAre(2, 0, 1, 0));
  EXPECT_EQ(profile.stepsNs(), 60000);
}

TEST(ProfileTest, RatesCountAllCallsAndOnlyArithmetic) {
  ModelProfile profile = sample();
  EXPECT_DOUBLE_EQ(profile.kernels[0].gflops(), 2 * 2e6 / 50000);
  EXPECT_DOUBLE_EQ(profile.kernels[0].gbs(), 2 * 4000 / 50000.0);
  EXPECT_EQ(profile.kernels[1].gflops(), 0) << "operations of elementwise kernels are no multiply-adds";
}

TEST(ProfileTest, TableShowsSharesAndWhereSchedulesComeFrom) {
  std::string text;
  llvm::raw_string_ostream out(text);
  printProfile("models/m.so", sample(), 2, out);
  EXPECT_THAT(text, HasSubstr("models/m.so: median 0.065 ms"));
  EXPECT_THAT(text,
              HasSubstr("memory: arena 4.0 MiB for 16.0 MiB of intermediate tensors, constants 3.0 MiB"));
  EXPECT_THAT(text, testing::ContainsRegex(
                        "0.0500 +83.3 +x2 +80.0 +80 +0.2 +0.004 +near +conv +conv1: 1x8x58x58x8, "));
  EXPECT_THAT(text, HasSubstr("in 1 more kernels; --rows 0 shows all"));
  EXPECT_THAT(text, Not(HasSubstr("border or copy")));
  text.clear();
  printProfile("m", sample(), 0, out);
  EXPECT_THAT(text, HasSubstr("border or copy"));
  EXPECT_THAT(text, Not(HasSubstr("--rows")));
}

TEST(ProfileTest, JsonHasWhatBenchHasAndTheKernels) {
  llvm::json::Object json = profileJson(sample());
  EXPECT_EQ(json.getInteger("schema_version"), 1);
  EXPECT_EQ(json.getObject("latency_ms")->getNumber("median"), 0.065);
  EXPECT_EQ(json.getObject("memory")->getInteger("arena_bytes"), 4 << 20);
  ASSERT_EQ(json.getArray("steps")->size(), 4u);
  EXPECT_EQ((*json.getArray("steps"))[3].getAsObject()->getInteger("kernel"), 0);
  const llvm::json::Object &conv = *json.getArray("kernels")->front().getAsObject();
  EXPECT_EQ(conv.getString("schedule_source"), "near");
  EXPECT_EQ(conv.getInteger("calls"), 2);
  EXPECT_EQ(conv.getArray("nodes")->size(), 2u);
  EXPECT_NEAR(*conv.getNumber("percent_of_peak"), 80, 1e-9);
  const llvm::json::Object &border = *json.getArray("kernels")->back().getAsObject();
  EXPECT_EQ(border.get("gflops_per_s")->kind(), llvm::json::Value::Null) << "unknown is not 0";
}

TEST(ProfileTest, TraceHasTheStepsOfOneRunOneAfterTheOther) {
  llvm::json::Object trace = traceJson(sample());
  const llvm::json::Array &events = *trace.getArray("traceEvents");
  ASSERT_EQ(events.size(), 5u) << "the process's name and four steps";
  double end = 0;
  for (size_t i = 1; i < events.size(); ++i) {
    const llvm::json::Object &event = *events[i].getAsObject();
    EXPECT_EQ(event.getString("ph"), "X");
    EXPECT_NEAR(*event.getNumber("ts"), end, 1e-9);
    end += *event.getNumber("dur");
  }
  EXPECT_NEAR(end, 60.4, 1e-9);
  EXPECT_EQ(events[1].getAsObject()->getString("name"), "border or copy")
      << "steps without a node are named too";
  EXPECT_EQ(events[2].getAsObject()->getObject("args")->getString("schedule"), "rows=4");
}

} // namespace
