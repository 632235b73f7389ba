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

// {0}, {1} and {2} are the three filters.
constexpr const char *kOddChannels = R"(
#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @main(%x: tensor<1x3x9x9xf32>) -> tensor<1x12x2x2xf32> {{
  %f0 = arith.constant {0} : tensor<10x3x3x3xf32>
  %f1 = arith.constant {1} : tensor<10x3x3xf32>
  %f2 = arith.constant {2} : tensor<12x10x1x1xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %p0 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {{
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x3x9x9xf32> to tensor<1x3x11x11xf32>
  %e0 = tensor.empty() : tensor<1x10x5x5xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x10x5x5xf32>) -> tensor<1x10x5x5xf32>
  %y0 = linalg.conv_2d_nchw_fchw {{strides = dense<2> : tensor<2xi64>} ins(%p0, %f0 : tensor<1x3x11x11xf32>, tensor<10x3x3x3xf32>)
          outs(%i0 : tensor<1x10x5x5xf32>) -> tensor<1x10x5x5xf32>
  %r0 = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%y0 : tensor<1x10x5x5xf32>) outs(%e0 : tensor<1x10x5x5xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<1x10x5x5xf32>
  %p1 = tensor.pad %r0 low[0, 0, 1, 1] high[0, 0, 1, 1] {{
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x10x5x5xf32> to tensor<1x10x7x7xf32>
  %y1 = linalg.depthwise_conv_2d_nchw_chw ins(%p1, %f1 : tensor<1x10x7x7xf32>, tensor<10x3x3xf32>)
          outs(%i0 : tensor<1x10x5x5xf32>) -> tensor<1x10x5x5xf32>
  %e2 = tensor.empty() : tensor<1x12x5x5xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x12x5x5xf32>) -> tensor<1x12x5x5xf32>
  %y2 = linalg.conv_2d_nchw_fchw ins(%y1, %f2 : tensor<1x10x5x5xf32>, tensor<12x10x1x1xf32>)
          outs(%i2 : tensor<1x12x5x5xf32>) -> tensor<1x12x5x5xf32>
  %p3 = tensor.pad %y2 low[0, 0, 0, 0] high[0, 0, 1, 1] {{
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %low : f32
  } : tensor<1x12x5x5xf32> to tensor<1x12x6x6xf32>
  %e3 = tensor.empty() : tensor<1x12x2x2xf32>
  %i3 = linalg.fill ins(%low : f32) outs(%e3 : tensor<1x12x2x2xf32>) -> tensor<1x12x2x2xf32>
  %y3 = linalg.pooling_nchw_max {{strides = dense<3> : tensor<2xi64>} ins(%p3, %window : tensor<1x12x6x6xf32>, tensor<3x3xf32>)
          outs(%i3 : tensor<1x12x2x2xf32>) -> tensor<1x12x2x2xf32>
  %n3 = linalg.generic {{indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
          ins(%y3 : tensor<1x12x2x2xf32>) outs(%e3 : tensor<1x12x2x2xf32>) {{
  ^bb0(%a: f32, %o: f32):
    %s = arith.negf %a : f32
    linalg.yield %s : f32
  } -> tensor<1x12x2x2xf32>
  return %n3 : tensor<1x12x2x2xf32>
}
)";

} // namespace

std::string oddChannelsText() {
  return llvm::formatv(kOddChannels, dense(numbers(10 * 27, 14)), dense(numbers(90, 15)),
                       dense(numbers(120, 16)));
}

Partition oddChannelsPartition(int block) {
  return partitionOf({{{0}, block, "direct"},
                      {{1, 2}, block, "direct"},
                      {{3}, block, "direct"},
                      {{4}, block, "direct"},
                      {{5}, block, "direct"},
                      {{6}, block, "direct"},
                      {{7, 8}, block, "direct"}});
}

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
