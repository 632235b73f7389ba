// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TestModel.h"

#include "TestKernel.h"
#include "passes/ExtractGraph.h"
#include "schedule/Space.h"
#include "test/unit/KernelContext.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace autotune::test {
namespace {

std::string dense(const std::vector<float> &values) {
  llvm::ArrayRef bytes(reinterpret_cast<const uint8_t *>(values.data()), values.size() * sizeof(float));
  return "dense<\"0x" + llvm::toHex(bytes) + "\">";
}

Partition partitionOf(std::vector<Subgraph> subgraphs) {
  Partition partition;
  partition.subgraphs = std::move(subgraphs);
  return partition;
}

// {0}, {1} and {2} are the filter, the bias and the weights.
constexpr const char *kText = R"(
#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
#channel = affine_map<(n, c, h, w) -> (c)>
#kept = affine_map<(n, c, h, w) -> (n, c)>
#pair = affine_map<(n, c) -> (n, c)>
func.func @main(%x: tensor<1x16x6x6xf32> {{autotune.name = "x"})
    -> (tensor<1x16xf32> {{autotune.name = "mean"}, tensor<1x10xf32> {{autotune.name = "classes"}) {{
  %filter = arith.constant {0} : tensor<16x16x3x3xf32>
  %bias = arith.constant {1} : tensor<16xf32>
  %weights = arith.constant {2} : tensor<16x10xf32>
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 36.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {{
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x16x6x6xf32> to tensor<1x16x8x8xf32>
  %e = tensor.empty() : tensor<1x16x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %filter : tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>)
         outs(%f : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  %r = linalg.generic {{indexing_maps = [#map, #channel, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%y, %bias : tensor<1x16x6x6xf32>, tensor<16xf32>) outs(%e : tensor<1x16x6x6xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    %m = arith.maximumf %s, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x16x6x6xf32>
  %t = linalg.generic {{indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%r, %x : tensor<1x16x6x6xf32>, tensor<1x16x6x6xf32>) outs(%e : tensor<1x16x6x6xf32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1x16x6x6xf32>
  %e1 = tensor.empty() : tensor<1x16xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x16xf32>) -> tensor<1x16xf32>
  %sum = linalg.generic {{indexing_maps = [#map, #kept], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
         ins(%t : tensor<1x16x6x6xf32>) outs(%f1 : tensor<1x16xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32>
  %mean = linalg.generic {{indexing_maps = [#pair, #pair], iterator_types = ["parallel", "parallel"]}
         ins(%sum : tensor<1x16xf32>) outs(%e1 : tensor<1x16xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %s = arith.divf %a, %count : f32
    linalg.yield %s : f32
  } -> tensor<1x16xf32>
  %e2 = tensor.empty() : tensor<1x10xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x10xf32>) -> tensor<1x10xf32>
  %classes = linalg.matmul ins(%mean, %weights : tensor<1x16xf32>, tensor<16x10xf32>)
         outs(%f2 : tensor<1x10xf32>) -> tensor<1x10xf32>
  return %mean, %classes : tensor<1x16xf32>, tensor<1x10xf32>
}
)";

constexpr const char *kTwins = R"(
#map = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %w = arith.constant dense<1.0> : tensor<8x8xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32> loc("first")
  %b = linalg.matmul ins(%y, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32> loc("second")
  %c = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
         ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32> loc("sum")
  return %c : tensor<8x8xf32>
}
)";

} // namespace

std::string twinsText() { return kTwins; }

mlir::OwningOpRef<mlir::ModuleOp> parseModel(mlir::MLIRContext &context, const std::string &text) {
  auto module = parseModule(context, text);
  if (auto main = module ? module->lookupSymbol<mlir::func::FuncOp>("main") : nullptr)
    extractGraph(main);
  return module;
}

llvm::Expected<Schedule> firstSchedule(const Workload &workload) {
  Schedule schedule;
  for (const Knob &knob : buildSpace(workload, testDevice()).knobs)
    schedule.knobs[knob.name] = knob.values.front();
  return schedule;
}

PlanOptions planOptions() {
  PlanOptions options;
  options.device = testDevice();
  return options;
}

TestModel::TestModel()
    : filter(numbers(kChannels * kChannels * 9, 11)), bias(numbers(kChannels, 12)),
      weights(numbers(kChannels * kClasses, 13)), context(makeContext()) {}

std::string TestModel::text() const {
  return llvm::formatv(kText, dense(filter), dense(bias), dense(weights));
}

mlir::ModuleOp TestModel::module() {
  if (!parsed)
    parsed = parseModel(*context, text());
  return *parsed;
}

Partition singleOperators(int count) {
  std::vector<Subgraph> single;
  for (int id = 0; id < count; ++id)
    single.push_back({{id}, 0, "direct"});
  return partitionOf(std::move(single));
}

Partition TestModel::blockedPartition() const {
  return partitionOf({{{0}, 8, "direct"},
                      {{1, 2, 3}, 8, "direct"},
                      {{4}, 8, "direct"},
                      {{5}, 0, "direct"},
                      {{6}, 0, "direct"}});
}

TestModel::Answer TestModel::compute(const std::vector<float> &x) const {
  Answer answer;
  auto input = [&](int64_t c, int64_t h, int64_t w) {
    bool inside = h >= 0 && w >= 0 && h < kSize && w < kSize;
    return inside ? double(x[(c * kSize + h) * kSize + w]) : 0.0;
  };
  for (int64_t o = 0; o < kChannels; ++o) {
    double total = 0;
    for (int64_t h = 0; h < kSize; ++h)
      for (int64_t w = 0; w < kSize; ++w) {
        double sum = bias[o];
        for (int64_t i = 0; i < kChannels; ++i)
          for (int64_t k = 0; k < 9; ++k)
            sum += input(i, h + k / 3 - 1, w + k % 3 - 1) * filter[(o * kChannels + i) * 9 + k];
        total += std::max(sum, 0.0) + input(o, h, w);
      }
    answer.mean.push_back(float(total / (kSize * kSize)));
  }
  for (int64_t n = 0; n < kClasses; ++n) {
    double sum = 0;
    for (int64_t c = 0; c < kChannels; ++c)
      sum += double(answer.mean[c]) * weights[c * kClasses + n];
    answer.classes.push_back(float(sum));
  }
  return answer;
}

} // namespace autotune::test
