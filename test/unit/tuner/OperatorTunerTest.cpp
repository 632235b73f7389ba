// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The run loop: results are confirmed, saved at once, resumed, and bounded by the budget.
#include "tuner/OperatorTuner.h"
#include "test/unit/Results.h"
#include "test/unit/tuner/FakeMeasurer.h"
#include "tuner/ModelSearch.h"

#include "gtest/gtest.h"

using namespace autotune;

namespace {

struct Recorder : TuningListener, MeasurementLog {
  void progress(const TuningProgress &progress) override { steps.push_back(progress); }
  llvm::Error finished(const TaskResult &result) override {
    results.push_back(result);
    return llvm::Error::success();
  }
  llvm::Expected<std::vector<TrialOutcome>> load(const Workload &workload) override {
    return kept[workload.key()];
  }
  llvm::Error add(const Workload &workload, llvm::ArrayRef<TrialOutcome> trials) override {
    auto &list = kept[workload.key()];
    list.insert(list.end(), trials.begin(), trials.end());
    return llvm::Error::success();
  }

  std::vector<TuningProgress> steps;
  std::vector<TaskResult> results;
  std::map<std::string, std::vector<TrialOutcome>> kept;
};

struct OperatorTunerTest : testing::Test {
  TuningTask task(Workload workload, int64_t weight = 1) {
    Schedule untuned = topSchedules(workload, buildSpace(workload, device), model, 1).front().schedule;
    return {std::move(workload), weight, std::move(untuned), {}};
  }
  std::string run(const std::vector<TuningTask> &tasks, Budget budget = Budget({})) {
    OperatorTuner tuner(measurer, model, device, &recorder, recorder);
    return messageOf(tuner.run(tasks, budget));
  }

  Device device = testDevice();
  AnalyticalModel model{device};
  FakeMeasurer measurer;
  Recorder recorder;
};

} // namespace

TEST_F(OperatorTunerTest, EveryTaskEndsWithAConfirmedResult) {
  std::vector<TuningTask> tasks = {task(blockedConvolution(64, 64, 56, 3), 4),
                                   task(packedMatmul(128, 768, 768))};
  EXPECT_EQ(run(tasks), "");
  ASSERT_EQ(recorder.results.size(), 2u);
  for (const TaskResult &result : recorder.results) {
    EXPECT_EQ(result.outcome, SearchOutcome::Improved);
    EXPECT_GT(result.comparison.low, 1);
    EXPECT_NE(result.schedule, result.task->untuned);
    EXPECT_EQ(result.comparison.first.medianNs, fakeNs(result.task->workload, result.task->untuned));
  }
  EXPECT_EQ(recorder.steps.back().finishedTasks, 2u);
  EXPECT_LT(recorder.steps.back().bestNs, recorder.steps.back().untunedNs);
  EXPECT_LT(measurer.trace.size(), 400u) << "gains dried up long ago";
}

TEST_F(OperatorTunerTest, AGainInsideTheNoiseIsDefaultBest) {
  measurer.noise = 0.9;
  std::vector<TuningTask> tasks = {task(packedMatmul(128, 768, 768))};
  EXPECT_EQ(run(tasks), "");
  ASSERT_EQ(recorder.results.size(), 1u);
  EXPECT_EQ(recorder.results[0].outcome, SearchOutcome::DefaultBest);
  EXPECT_EQ(recorder.results[0].schedule, tasks[0].untuned);
  EXPECT_TRUE(recorder.results[0].isMeasured());
  EXPECT_EQ(measurer.confirmations, 2);
}

TEST_F(OperatorTunerTest, OneScheduleIsMeasuredOnceAndRecorded) {
  Workload scalar;
  scalar.kind = "elementwise";
  scalar.output = operand({}, {});
  EXPECT_EQ(run({task(scalar)}), "");
  ASSERT_EQ(recorder.results.size(), 1u);
  EXPECT_EQ(measurer.trace.size(), 1u);
  EXPECT_TRUE(recorder.results[0].isMeasured());
}

TEST_F(OperatorTunerTest, FailuresAreCountedByStageAndFirstLine) {
  measurer.fails = [](const Schedule &schedule) { return schedule.knobs.at("order") == 1; };
  std::vector<TuningTask> tasks = {task(packedMatmul(128, 768, 768))};
  tasks[0].untuned.knobs["order"] = 0;
  EXPECT_EQ(run(tasks), "");
  ASSERT_EQ(recorder.results[0].failures.size(), 1u);
  EXPECT_EQ(recorder.results[0].failures.begin()->first,
            std::pair(std::string("compile"), std::string("cannot")));
  EXPECT_EQ(recorder.results[0].schedule.knobs.at("order"), 0);
}

TEST_F(OperatorTunerTest, WhenEverythingFailsTheResultSaysSo) {
  measurer.fails = [](const Schedule &) { return true; };
  EXPECT_EQ(run({task(depthwiseConvolution(96, 112))}), "");
  ASSERT_EQ(recorder.results.size(), 1u);
  EXPECT_FALSE(recorder.results[0].isMeasured());
}

TEST_F(OperatorTunerTest, TheTrialBudgetIsKeptAndTheResultsStillCome) {
  std::vector<TuningTask> tasks = {task(blockedConvolution(64, 64, 56, 3), 4),
                                   task(packedMatmul(128, 768, 768))};
  EXPECT_EQ(run(tasks, Budget({std::nullopt, 12})), "");
  EXPECT_LE(measurer.trace.size(), 13u) << "and the untuned schedule of a task, if it had no turn";
  EXPECT_EQ(recorder.results.size(), 2u);
}

TEST_F(OperatorTunerTest, AStoppedRunGoesOnFromItsLog) {
  std::vector<TuningTask> tasks = {task(blockedConvolution(64, 64, 56, 3))};
  std::atomic<bool> stop = false;
  measurer.afterBatch = [&] { stop = true; };
  EXPECT_EQ(run(tasks, Budget({}, &stop)), "");
  EXPECT_TRUE(recorder.results.empty());
  EXPECT_EQ(measurer.confirmations, 0);
  size_t first = measurer.trace.size();
  EXPECT_GT(first, 0u);

  measurer.afterBatch = nullptr;
  EXPECT_EQ(run(tasks), "");
  ASSERT_EQ(recorder.results.size(), 1u);
  EXPECT_EQ(recorder.results[0].trials, int64_t(measurer.trace.size()));
  EXPECT_EQ(std::set<Schedule>(measurer.trace.begin(), measurer.trace.end()).size(), measurer.trace.size())
      << "nothing is measured twice";
}

TEST_F(OperatorTunerTest, TheSameSeedGivesTheSameRun) {
  std::vector<TuningTask> tasks = {task(blockedConvolution(64, 64, 56, 3)),
                                   task(packedMatmul(128, 768, 768))};
  EXPECT_EQ(run(tasks), "");
  std::vector<Schedule> trace = std::move(measurer.trace);
  measurer.trace.clear();
  recorder.kept.clear();
  EXPECT_EQ(run(tasks), "");
  EXPECT_EQ(measurer.trace, trace);
}
