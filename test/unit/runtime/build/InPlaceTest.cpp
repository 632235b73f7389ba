// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise kernels write over an input that nobody reads any more, and only over such a one.
#include "TestKernel.h"
#include "TestModel.h"
#include "passes/OverwritableArguments.h"
#include "runtime/build/ModelCompiler.h"
#include "runtime/deploy/Session.h"
#include "schedule/Space.h"
#include "test/unit/KernelContext.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

std::vector<unsigned> overwritable(const std::string &text) {
  auto context = makeContext();
  auto module = parseModule(*context, text);
  if (!module)
    return {99};
  llvm::SmallVector<unsigned> indices = overwritableArguments(*module->getOps<mlir::func::FuncOp>().begin());
  return {indices.begin(), indices.end()};
}

GenericKernel sumOf(std::string firstMap) {
  return {{"8x8xf32", "8x8xf32", "8x8xf32"},
          {std::move(firstMap), "(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0, d1)"},
          "pp",
          "",
          "%s = arith.addf %in0, %in1 : f32\n linalg.yield %s : f32"};
}

/// The first schedule, on as many threads as there are.
llvm::Expected<Schedule> sharedSchedule(const Workload &workload) {
  Schedule schedule;
  for (const Knob &knob : buildSpace(workload, testDevice()).knobs)
    schedule.knobs[knob.name] = knob.name == "parallel" ? knob.values.back() : knob.values.front();
  return schedule;
}

constexpr int64_t kChannels = 4, kSize = 24, kElements = kChannels * kSize * kSize;

// {0}: what the last steps of the model are.
constexpr const char *kModel = R"(
#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @main(%x: tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32> {{
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %taps = arith.constant dense<0.125> : tensor<4x3x3xf32>
  %e = tensor.empty() : tensor<1x4x24x24xf32>
  %a = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%x : tensor<1x4x24x24xf32>) outs(%e : tensor<1x4x24x24xf32>) {{
  ^bb0(%v: f32, %o: f32):
    %s = math.absf %v : f32
    linalg.yield %s : f32
  } -> tensor<1x4x24x24xf32>
  %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {{
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x4x24x24xf32> to tensor<1x4x26x26xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw ins(%p, %taps : tensor<1x4x26x26xf32>, tensor<4x3x3xf32>)
         outs(%f : tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
  %r = linalg.generic {{indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%a, %d : tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) outs(%e : tensor<1x4x24x24xf32>) {{
  ^bb0(%v: f32, %w: f32, %o: f32):
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<1x4x24x24xf32>
  %t = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%r : tensor<1x4x24x24xf32>) outs(%e : tensor<1x4x24x24xf32>) {{
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %one : f32
    linalg.yield %s : f32
  } -> tensor<1x4x24x24xf32>
  %u = linalg.generic {{indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%t, {0} : tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) outs(%e : tensor<1x4x24x24xf32>) {{
  ^bb0(%v: f32, %w: f32, %o: f32):
    %s = arith.mulf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<1x4x24x24xf32>
  return %u : tensor<1x4x24x24xf32>
}
)";

/// Six operators, each a kernel. `lastFactor` is the value that the last one multiplies with: "%d" keeps the
/// convolution's result alive to the end.
class InPlaceModel {
public:
  explicit InPlaceModel(const char *lastFactor)
      : context(makeContext()), module(parseModel(*context, llvm::formatv(kModel, lastFactor).str())) {}

  ModelPlan plan(int threads) {
    PlanOptions options = planOptions();
    options.threads = threads;
    return valueOf(planModel(*module, singleOperators(6), options));
  }

  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// t * factor, where factor is t itself or the convolution's result.
std::vector<float> reference(const std::vector<float> &x, bool timesConvolution) {
  auto at = [&](int64_t c, int64_t h, int64_t w) {
    bool inside = h >= 0 && w >= 0 && h < kSize && w < kSize;
    return inside ? std::fabs(x[size_t((c * kSize + h) * kSize + w)]) : 0.0f;
  };
  std::vector<float> result;
  for (int64_t c = 0; c < kChannels; ++c)
    for (int64_t h = 0; h < kSize; ++h)
      for (int64_t w = 0; w < kSize; ++w) {
        float sum = 0;
        for (int64_t k = 0; k < 9; ++k)
          sum += 0.125f * at(c, h + k / 3 - 1, w + k % 3 - 1);
        float t = at(c, h, w) + sum + 1;
        result.push_back(t * (timesConvolution ? sum : t));
      }
  return result;
}

} // namespace

TEST(OverwritableArguments, AreReadInTheOrderOfTheDestination) {
  EXPECT_THAT(overwritable(sumOf("(d0, d1) -> (d0, d1)").text()), ElementsAre(0, 1));
  EXPECT_THAT(overwritable(sumOf("(d0, d1) -> (d1, d0)").text()), ElementsAre(1));
}

TEST(OverwritableArguments, HaveTheTypeOfTheDestination) {
  GenericKernel broadcast = sumOf("(d0, d1) -> (d0)");
  broadcast.types[0] = "8xf32";
  EXPECT_THAT(overwritable(broadcast.text()), ElementsAre(1));
}

TEST(OverwritableArguments, DoNotExistWhereResultsArePartial) {
  EXPECT_THAT(overwritable(matmulText(8, 8, 8, /*relu=*/true)), IsEmpty());
}

TEST(InPlace, ADeadInputGivesItsBufferToTheResult) {
  InPlaceModel model("%t");
  ModelPlan plan = model.plan(1);
  // The padded input of the convolution, and one buffer for all that follows.
  int64_t padded = 4 * 26 * 26 * 4, plain = kElements * 4;
  EXPECT_EQ(plan.tensorBytes, padded + 3 * plain);
  EXPECT_EQ(plan.arenaBytes, padded + plain);
}

TEST(InPlace, AnInputThatIsReadLaterKeepsItsBuffer) {
  InPlaceModel model("%d");
  ModelPlan plan = model.plan(1);
  int64_t padded = 4 * 26 * 26 * 4, plain = kElements * 4;
  EXPECT_EQ(plan.tensorBytes, padded + 3 * plain);
  // While the sum is made, three are alive: the padded one, the convolution's result and the sum.
  EXPECT_EQ(plan.arenaBytes, padded + 2 * plain);
}

TEST(InPlace, ResultsAreTheSameOnAnyNumberOfThreads) {
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("autotune-in-place", "so", path));
  for (bool timesConvolution : {false, true})
    for (int threads : {1, 2}) {
      InPlaceModel model(timesConvolution ? "%d" : "%t");
      ModelPlan plan = model.plan(threads);
      llvm::sys::fs::remove(path); // the loader takes a second library of the same name for the first
      ModelCompiler compiler(testDevice(), 1);
      ASSERT_EQ(messageOf(compiler.compile({&plan}, sharedSchedule, {"test", "0.0", testDevice(), threads},
                                           path.str())),
                "");
      auto loaded = std::make_shared<const deploy::Model>(path.str().str(), true);
      bool anyParallel =
          llvm::any_of(loaded->profile(0).steps, [](const auto &step) { return step.parallel; });
      EXPECT_EQ(anyParallel, threads > 1);
      deploy::Session session(loaded, threads);
      for (unsigned seed = 0; seed < 20; ++seed) {
        std::vector<float> x = numbers(kElements, seed), y(kElements);
        const void *inputs[] = {x.data()};
        void *outputs[] = {y.data()};
        session.run(0, inputs, outputs);
        std::vector<float> expected = reference(x, timesConvolution);
        for (size_t i = 0; i < y.size(); ++i)
          ASSERT_NEAR(y[i], expected[i], 1e-4) << "element " << i << ", " << threads << " threads";
      }
    }
  llvm::sys::fs::remove(path);
}
