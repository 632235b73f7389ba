// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Real worker processes with candidates that crash, hang, lie and eat memory: each costs itself and nothing
// else.
#include "runtime/worker/CandidatePipeline.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace autotune::worker;
using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

namespace {

PipelineOptions testOptions() {
  PipelineOptions options;
  options.command = {TEST_WORKER};
  options.memoryLimitBytes = int64_t(1) << 30;
  options.compileLimit = 1s;
  options.firstMeasureLimit = 2s;
  options.leastMeasureLimit = 500ms;
  options.timing.budgetNs = 5'000'000;
  return options;
}

KernelTask testTask(const std::string &id = "task", int threads = 1) {
  KernelTask task;
  task.id = id;
  task.args = {{ArgRole::Input, "f32", 4096}, {ArgRole::Weight, "f32", 4096}, {ArgRole::Output, "f32", 4096}};
  task.check = {CheckKind::Elementwise, 1};
  task.threads = threads;
  task.streamedWeightBytes = 1 << 20;
  return task;
}

class CandidatePipelineTest : public testing::Test {
protected:
  void open(const PipelineOptions &options = testOptions()) {
    llvm::Expected<std::unique_ptr<CandidatePipeline>> created = CandidatePipeline::create(options);
    ASSERT_TRUE(static_cast<bool>(created)) << llvm::toString(created.takeError());
    pipeline = std::move(*created);
  }
  std::vector<Reply> measure(const KernelTask &task, const std::vector<std::string> &schedules) {
    llvm::Expected<std::vector<Reply>> outcomes = pipeline->measure(task, schedules);
    if (!outcomes) {
      ADD_FAILURE() << llvm::toString(outcomes.takeError());
      return {};
    }
    EXPECT_EQ(outcomes->size(), schedules.size());
    return std::move(*outcomes);
  }
  std::unique_ptr<CandidatePipeline> pipeline;
};

void expectTiming(const Reply &reply) {
  const auto *failure = std::get_if<WorkerFailure>(&reply);
  ASSERT_FALSE(failure) << failure->stage << ": " << failure->reason;
  const auto *timing = std::get_if<Timing>(&reply);
  ASSERT_TRUE(timing);
  EXPECT_GT(timing->medianNs, 0);
  EXPECT_GE(timing->samples, 1);
}

void expectFailure(const Reply &reply, const std::string &stage,
                   const testing::Matcher<std::string> &reason) {
  const auto *failure = std::get_if<WorkerFailure>(&reply);
  ASSERT_TRUE(failure) << "expected a failure of stage " << stage;
  EXPECT_EQ(failure->stage, stage) << failure->reason;
  EXPECT_THAT(failure->reason, reason);
}

} // namespace

TEST_F(CandidatePipelineTest, MeasuresGoodCandidates) {
  open();
  std::vector<Reply> outcomes = measure(testTask(), {"good", "slow", "good"});
  for (const Reply &outcome : outcomes)
    expectTiming(outcome);
  EXPECT_GT(std::get<Timing>(outcomes[1]).medianNs, 3 * std::get<Timing>(outcomes[0]).medianNs);
}

TEST_F(CandidatePipelineTest, EachBadCandidateCostsItselfOnly) {
  open();
  std::vector<Reply> outcomes = measure(
      testTask(), {"good", "crashes", "wrong", "good", "hangs", "forgets_the_last_chunk", "takes_all_memory",
                   "writes_behind_its_output", "writes_to_its_weights", "no_such_kernel", "good"});
  ASSERT_EQ(outcomes.size(), 11u);
  for (size_t good : {0, 3, 10})
    expectTiming(outcomes[good]);
  expectFailure(outcomes[1], "crash",
                AllOf(HasSubstr("measuring: killed by signal 11"), HasSubstr("about to crash")));
  expectFailure(outcomes[2], "check", HasSubstr(" of 1024 elements are wrong; element 0 is"));
  expectFailure(outcomes[4], "timeout", HasSubstr("measuring: no answer within"));
  expectFailure(outcomes[5], "check", HasSubstr("64 of 1024 elements are wrong; element 960 is nan"));
#if !defined(__SANITIZE_ADDRESS__) &&                                                                        \
    !__has_feature(address_sanitizer) // there, no limit on memory is possible
  expectFailure(outcomes[6], "crash", HasSubstr("no more memory"));
#endif
  expectFailure(outcomes[7], "check", HasSubstr("wrote outside of output 0"));
  expectFailure(outcomes[8], "crash", HasSubstr("signal 11"));
  expectFailure(outcomes[9], "load", HasSubstr("no symbol 'no_such_kernel'"));
}

TEST_F(CandidatePipelineTest, BuildsThatFailCrashOrHangCostOneCandidate) {
  PipelineOptions options = testOptions();
  options.compileWorkers = 2;
  open(options);
  std::vector<Reply> outcomes = measure(
      testTask(), {"does not compile", "good", "aborts the compiler", "hangs the compiler", "good", "good"});
  ASSERT_EQ(outcomes.size(), 6u);
  expectFailure(outcomes[0], "compile", testing::Eq("the nest does not fit"));
  expectFailure(outcomes[2], "crash",
                AllOf(HasSubstr("compiling: killed by signal 6"), HasSubstr("cannot select")));
  expectFailure(outcomes[3], "timeout", HasSubstr("compiling: no answer within 1.0 s"));
  for (size_t good : {1, 4, 5})
    expectTiming(outcomes[good]);
}

TEST_F(CandidatePipelineTest, CompilesFirstWhenTheCoresAreTaken) {
  PipelineOptions options = testOptions();
  options.overlap = false;
  open(options);
  for (const Reply &outcome : measure(testTask("t", 2), {"good", "slow", "good"}))
    expectTiming(outcome);
}

TEST_F(CandidatePipelineTest, ChangesBetweenTasks) {
  open();
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const char *id : {"a", "b"})
      expectTiming(measure(testTask(id), {"good"}).at(0));
}

class BrokenReferenceTest : public CandidatePipelineTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(Overlap, BrokenReferenceTest, testing::Bool());

TEST_P(BrokenReferenceTest, FailsTheTaskAndNoOther) {
  PipelineOptions options = testOptions();
  options.overlap = GetParam();
  open(options);
  KernelTask broken = testTask("broken");
  broken.referenceSchedule = "crashes";
  for (int repeat = 0; repeat < 2; ++repeat)
    for (const Reply &outcome : measure(broken, {"good", "good"}))
      expectFailure(outcome, "reference", HasSubstr("killed by signal 11"));
  broken.id = "does not compile";
  broken.referenceSchedule = "does not compile";
  expectFailure(measure(broken, {"good"}).at(0), "reference", HasSubstr("the nest does not fit"));
  broken.id = "unknown type";
  broken.args[0].dtype = "f7";
  broken.referenceSchedule.reset();
  expectFailure(measure(broken, {"good"}).at(0), "reference",
                HasSubstr("argument 0 has the unknown type 'f7'"));
  expectTiming(measure(testTask(), {"good"}).at(0));
}

TEST_F(CandidatePipelineTest, ConfirmsInPairsWithAnInterval) {
  open();
  llvm::Expected<Reply> outcome = pipeline->confirm(testTask(), "slow", "good");
  ASSERT_TRUE(static_cast<bool>(outcome));
  const auto *paired = std::get_if<PairedTiming>(&*outcome);
  ASSERT_TRUE(paired);
  EXPECT_GT(paired->ratio, 3);
  EXPECT_LE(paired->low, paired->ratio);
  EXPECT_GE(paired->high, paired->ratio);
  EXPECT_GT(paired->low, 1);
  EXPECT_EQ(paired->first.samples, 15);
  outcome = pipeline->confirm(testTask(), "good", "wrong");
  ASSERT_TRUE(static_cast<bool>(outcome));
  expectFailure(*outcome, "check", HasSubstr("elements are wrong"));
  outcome = pipeline->confirm(testTask(), "good", "does not compile");
  ASSERT_TRUE(static_cast<bool>(outcome));
  expectFailure(*outcome, "compile", HasSubstr("does not fit"));
}

TEST_F(CandidatePipelineTest, AWorkerKilledWhileIdleIsReplacedWithoutLoss) {
  open();
  expectTiming(measure(testTask(), {"good"}).at(0));
  for (int pid : pipeline->workerPids())
    ASSERT_EQ(kill(pid, SIGKILL), 0);
  std::this_thread::sleep_for(50ms);
  expectTiming(measure(testTask(), {"good"}).at(0));
}

TEST_F(CandidatePipelineTest, AMissingWorkerProgramIsAnError) {
  PipelineOptions options = testOptions();
  options.command = {"/nonexistent/worker"};
  open(options);
  llvm::Expected<std::vector<Reply>> outcomes = pipeline->measure(testTask(), std::string("good"));
  ASSERT_FALSE(static_cast<bool>(outcomes));
  EXPECT_THAT(llvm::toString(outcomes.takeError()),
              HasSubstr("cannot start the worker process /nonexistent/worker"));
}

// The next pipeline also removes what the killed parent has left in the temporary folder.
TEST_F(CandidatePipelineTest, NoWorkerSurvivesItsParent) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  pid_t parent = fork();
  if (parent == 0) {
    auto created = CandidatePipeline::create(testOptions());
    if (!created)
      _exit(1);
    auto outcomes = (*created)->measure(testTask(), std::string("good"));
    if (!outcomes)
      _exit(1);
    for (int pid : (*created)->workerPids())
      (void)!write(pipes[1], &pid, sizeof(pid));
    kill(getpid(), SIGKILL);
  }
  close(pipes[1]);
  int status = 0;
  waitpid(parent, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  int pid = 0, seen = 0;
  while (read(pipes[0], &pid, sizeof(pid)) == sizeof(pid)) {
    ++seen;
    // Dead at once, though whoever adopts orphans may take a moment to collect it.
    bool gone = false;
    for (int wait = 0; wait < 200 && !gone; ++wait) {
      std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
      std::string number, name, state;
      gone = !(file >> number >> name >> state) || state == "Z" || state == "X";
      std::this_thread::sleep_for(10ms);
    }
    EXPECT_TRUE(gone) << pid;
  }
  close(pipes[0]);
  EXPECT_EQ(seen, 2);
  auto leftFolders = [&] {
    std::string prefix = "autotune-candidates-" + std::to_string(parent) + "-";
    return std::count_if(
        std::filesystem::directory_iterator(std::filesystem::temp_directory_path()), {},
        [&](const auto &entry) { return entry.path().filename().string().starts_with(prefix); });
  };
  EXPECT_EQ(leftFolders(), 1);
  open();
  EXPECT_EQ(leftFolders(), 0);
}
