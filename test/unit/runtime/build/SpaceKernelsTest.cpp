// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Schedules drawn from the spaces of a model's workloads compute what the reference kernel computes.
#include "TestKernel.h"
#include "TestModel.h"
#include "schedule/Space.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace autotune;
using namespace autotune::test;

namespace {

constexpr int kSchedulesPerKernel = 1;

/// A schedule of the space, or nothing when none is hit.
std::optional<Schedule> draw(const Space &space, const Workload &workload, std::mt19937 &random) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    Schedule schedule;
    for (const Knob &knob : space.knobs)
      schedule.knobs[knob.name] = knob.values[random() % knob.values.size()];
    if (space.contains(workload, schedule))
      return schedule;
  }
  return std::nullopt;
}

int64_t elements(const OperandInfo &operand) {
  int64_t count = 1;
  for (int64_t extent : operand.shape)
    count *= extent;
  return count;
}

/// The buffers of one call: as many as the kernel's text has arguments, each large enough for any of them.
struct Buffers {
  Buffers(size_t count, int64_t size) {
    for (size_t i = 0; i < count; ++i)
      values.push_back(numbers(size, unsigned(31 + i)));
  }
  std::vector<float *> pointers() {
    std::vector<float *> result;
    for (std::vector<float> &buffer : values)
      result.push_back(buffer.data());
    return result;
  }
  std::vector<std::vector<float>> values;
};

void expectSchedulesAreRight(const UniqueKernel &kernel, std::mt19937 &random) {
  const Workload &workload = *kernel.workload;
  llvm::StringRef signature = llvm::StringRef(kernel.text).split("func.func").second.split(" -> ").first;
  size_t arguments = signature.count("%arg");
  int64_t size = elements(workload.output);
  for (const OperandInfo &input : workload.inputs)
    size = std::max(size, elements(input));
  Buffers reference(arguments, size);
  LoadedKernel plain(kernel.text, std::nullopt);
  ASSERT_TRUE(plain);
  plain.run(reference.pointers());

  Space space = buildSpace(workload, testDevice());
  for (int i = 0; i < kSchedulesPerKernel; ++i) {
    std::optional<Schedule> schedule = draw(space, workload, random);
    if (!schedule)
      continue;
    SCOPED_TRACE(schedule->text() + "\n" + kernel.text);
    LoopNest nest = valueOf(buildLoopNest(workload, *schedule));
    LoadedKernel candidate(kernel.text, nest);
    ASSERT_TRUE(candidate);
    Buffers buffers(arguments, size);
    for (int64_t chunk = nest.chunks(workload) - 1; chunk >= 0; --chunk)
      candidate.run(buffers.pointers(), chunk, chunk + 1);
    const std::vector<float> &expected = reference.values.back(), &found = buffers.values.back();
    for (size_t at = 0; at < expected.size(); ++at)
      ASSERT_NEAR(found[at], expected[at], 1e-4 * (1 + std::abs(expected[at]))) << "element " << at;
  }
}

} // namespace

TEST(SpaceKernels, SchedulesOfEverySpaceAreRight) {
  TestModel model;
  std::mt19937 random(20240818);
  PlanOptions options = planOptions();
  options.threads = 2;
  for (const Partition &partition : {model.plainPartition(), model.blockedPartition()}) {
    ModelPlan plan = valueOf(planModel(model.module(), partition, options));
    for (const UniqueKernel &kernel : plan.kernels) {
      if (kernel.workload)
        expectSchedulesAreRight(kernel, random);
      if (HasFatalFailure())
        return;
    }
  }
}
