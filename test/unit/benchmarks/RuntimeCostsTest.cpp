// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the benchmark of the runtime computes and counts, never how long it takes.
#include "benchmarks/KernelContext.h"
#include "benchmarks/TemporaryFolder.h"
#include "benchmarks/runtime/Calls.h"
#include "benchmarks/runtime/Figures.h"
#include "benchmarks/runtime/ForkJoin.h"
#include "benchmarks/runtime/SmallModels.h"
#include "test/unit/Results.h"

#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::benchmarks;
using testing::HasSubstr;

namespace {

/// A chain of `kernels` for `threads`.
class Chain {
public:
  Chain(int kernels, int threads) {
    mlir::MLIRContext context;
    loadKernelDialects(context);
    EXPECT_EQ(messageOf(folder.create("autotune-test")), "");
    EXPECT_EQ(messageOf(compileChain(context, kernels, {valueOf(detectDevice()), threads, path()})), "");
  }
  std::string path() const { return folder.name() + "/chain.so"; }

private:
  TemporaryFolder folder;
};

TEST(RuntimeCosts, AChainIsOneKernelAStepAndNoneIsShared) {
  for (int threads : {1, 2}) {
    Chain chain(20, threads);
    LoadedModel model = loadModel(chain.path());
    EXPECT_EQ(autotune_model_step_count(model.get(), 0), 20u);
    EXPECT_THAT(autotune_model_metadata(model.get()), testing::Not(HasSubstr("\"parallel\":true")))
        << "kernels of 64 numbers are too small to share";
    ModelCalls calls(model.get(), threads);
    calls.run();
    EXPECT_EQ(calls.output(), std::vector<float>(kChainElements, 20.25f));
    calls.runOnOtherBuffers();
    calls.runWithCopies();
    EXPECT_EQ(calls.output(), std::vector<float>(kChainElements, 20.25f));
  }
}

TEST(RuntimeCosts, AChainLivesInOneBuffer) {
  Chain chain(20, 1);
  LoadedModel model = loadModel(chain.path());
  EXPECT_EQ(autotune_model_arena_bytes(model.get(), 0), kChainElements * sizeof(float));
}

TEST(RuntimeCosts, SessionsAtOnceComputeTheSame) {
  Chain chain(5, 1);
  LoadedModel model = loadModel(chain.path());
  Throughput throughput = measureThroughput(model.get(), 3, 0.02);
  EXPECT_EQ(throughput.wrongResults, 0);
  EXPECT_GT(throughput.runsPerSecond, 0);
}

TEST(RuntimeCosts, MissingModelsAreSaid) {
  EXPECT_THROW(
      {
        try {
          loadModel("/nonexistent.so");
        } catch (const std::runtime_error &error) {
          EXPECT_THAT(error.what(), HasSubstr("/nonexistent.so: cannot open"));
          throw;
        }
      },
      std::runtime_error);
}

TEST(RuntimeCosts, SharesOfParallelStepsAreShares) {
  std::vector<ForkJoinRound> rounds = measureForkJoin(2, 1000, 2);
  ASSERT_EQ(rounds.size(), 2u);
  for (const ForkJoinRound &round : rounds)
    for (const ForkJoinRun &run : {round.afterPause, round.next}) {
      EXPECT_GE(run.sharedPercent, 0);
      EXPECT_LE(run.sharedPercent, 100);
      EXPECT_LE(run.helpersPercent, 100);
      EXPECT_EQ(run.hasCost, run.sharedPercent > 0);
    }
}

TEST(Figures, TableAndJsonHaveMediansTenthsAndNotes) {
  FigureReport report;
  report.heading = "machine";
  std::vector<double> rounds;
  for (int i = 20; i >= 0; --i)
    rounds.push_back(i);
  report.figures = {Figure::of("call", "us", rounds, "quiet")};
  EXPECT_THAT(report.table(), HasSubstr("machine\n"));
  EXPECT_THAT(report.table(), HasSubstr("| call | 10.000 | us | 2.000 – 18.000 | quiet |"));
  llvm::json::Object json = report.json();
  const llvm::json::Object &row = *json.getArray("results")->front().getAsObject();
  EXPECT_EQ(row.getNumber("median"), 10);
  EXPECT_EQ(row.getNumber("p90"), 18);
  EXPECT_EQ(Figure::of("one", "us", {3}).low, 3);
}

} // namespace
