// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/runtime/SmallModels.h"

#include "benchmarks/ProblemCompiler.h"
#include "cost_model/AnalyticalModel.h"
#include "passes/ExtractGraph.h"
#include "schedule/Errors.h"
#include "tuner/ModelSearch.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

namespace autotune::benchmarks {
namespace {

constexpr int kLargeLayers = 50;
constexpr int64_t kLargeWidth = 714;

// {0}: result, {1}: operand.
constexpr const char *kChainLink = R"(
  {0} = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel"]}
         ins({1} : tensor<64xf32>) outs(%e : tensor<64xf32>) {{
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %one : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>)";

std::string chainText(int kernels) {
  std::string text = R"(#map = affine_map<(d) -> (d)>
func.func @main(%x0: tensor<64xf32>) -> tensor<64xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>)";
  for (int i = 0; i < kernels; ++i)
    text += llvm::formatv(kChainLink, "%x" + std::to_string(i + 1), "%x" + std::to_string(i)).str();
  return text + "\n  return %x" + std::to_string(kernels) + " : tensor<64xf32>\n}\n";
}

/// Every operator by itself: fused, the chain would be one kernel.
Partition singleKernels(const Graph &graph) {
  Partition partition;
  for (const GraphOperator &op : graph.operators)
    partition.subgraphs.push_back({{op.id}, 0, "direct"});
  return partition;
}

} // namespace

llvm::Error compileChain(mlir::MLIRContext &context, int kernels, const ModelTarget &target) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(chainText(kernels), &context);
  if (!module)
    return makeError("the chain of {0} kernels does not parse", kernels);
  Graph graph = extractGraph(module->lookupSymbol<mlir::func::FuncOp>("main"));
  llvm::Expected<ModelPlan> plan =
      planModel(*module, singleKernels(graph), {target.device, target.threads, Numerics::Default});
  if (!plan)
    return plan.takeError();
  ChooseSchedule choose = [&](const Workload &workload) -> llvm::Expected<Schedule> {
    return topSchedules(workload, buildSpace(workload, target.device), AnalyticalModel(target.device), 1)
        .front()
        .schedule;
  };
  return ModelCompiler(target.device, 1)
      .compile({&*plan}, choose, {"chain", AUTOTUNE_VERSION, target.device, target.threads}, target.path);
}

llvm::Error compileLarge(mlir::MLIRContext &context, const ModelTarget &target) {
  Problem problem{"large", {}, target.device, 0, target.threads};
  Gemm gemm;
  gemm.inner = gemm.columns = kLargeWidth;
  for (int layer = 0; layer < kLargeLayers; ++layer)
    problem.layers.push_back({gemm, makeData(gemm, unsigned(layer + 1))});
  auto compiler = ProblemCompiler::create(context, std::move(problem));
  if (!compiler)
    return compiler.takeError();
  return (*compiler)->compile((*compiler)->choices(1).front(), target.path).takeError();
}

} // namespace autotune::benchmarks
