// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The models as MLIR text, as the frontend would make them.
#include "benchmarks/PeakProblem.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>
#include <random>
#include <vector>

namespace autotune::benchmarks {
namespace {

/// `dense<"0x…">`: floats uniform in [-0.05, 0.05), which keep the values of chained layers in a normal
/// range.
std::string randomDense(size_t count, unsigned seed) {
  std::minstd_rand random(seed);
  std::uniform_real_distribution<float> uniform(-0.05f, 0.05f);
  std::string bytes(count * sizeof(float), '\0');
  for (size_t i = 0; i < count; ++i) {
    float value = uniform(random);
    std::memcpy(&bytes[i * sizeof(float)], &value, sizeof(float));
  }
  return "dense<\"0x" + llvm::toHex(bytes) + "\">";
}

/// Values %y<n> from %<input>; SSA names carry the number of the layer.
std::string convolutionLayer(const std::string &input, int number) {
  std::string n = std::to_string(number);
  auto numbered = [&](std::string text) {
    for (size_t at; (at = text.find('#')) != std::string::npos;)
      text.replace(at, 1, n);
    return text;
  };
  return numbered("  %w# = arith.constant ") + randomDense(64 * 64 * 9, 2 * number + 1) +
         " : tensor<64x64x3x3xf32>\n" + numbered("  %b# = arith.constant ") +
         randomDense(64, 2 * number + 2) + " : tensor<64xf32>\n  %p" + n + " = tensor.pad " + input +
         numbered(R"( low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x64x56x56xf32> to tensor<1x64x58x58xf32>
  %e# = tensor.empty() : tensor<1x64x56x56xf32>
  %f# = linalg.fill ins(%zero : f32) outs(%e# : tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32>
  %c# = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p#, %w# : tensor<1x64x58x58xf32>, tensor<64x64x3x3xf32>) outs(%f# : tensor<1x64x56x56xf32>)
      -> tensor<1x64x56x56xf32>
  %y# = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (c)>,
                                         affine_map<(n, c, h, w) -> (n, c, h, w)>],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c#, %b# : tensor<1x64x56x56xf32>, tensor<64xf32>) outs(%e# : tensor<1x64x56x56xf32>) {
  ^bb0(%value: f32, %bias: f32, %out: f32):
    %sum = arith.addf %value, %bias : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<1x64x56x56xf32>
)");
}

} // namespace

Partition Problem::partition(const Graph &graph) const {
  Partition partition;
  for (const GraphOperator &op : graph.operators) {
    if (op.fusion == FusionRole::Elementwise && !partition.subgraphs.empty())
      partition.subgraphs.back().operators.push_back(op.id);
    else
      partition.subgraphs.push_back({{op.id}, channelBlock, "direct"});
  }
  return partition;
}

Problem convolutionProblem(int channelBlock) {
  std::string text = "func.func @main(%x: tensor<1x64x56x56xf32>) -> tensor<1x64x56x56xf32> {\n"
                     "  %zero = arith.constant 0.0 : f32\n";
  text += convolutionLayer("%x", 0) + convolutionLayer("%y0", 1);
  text += "  return %y1 : tensor<1x64x56x56xf32>\n}\n";
  return {"conv3x3 64->64 56x56, channels in blocks of " + std::to_string(channelBlock), std::move(text),
          channelBlock};
}

Problem matmulProblem() {
  std::string text = "func.func @main(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {\n"
                     "  %zero = arith.constant 0.0 : f32\n  %w = arith.constant " +
                     randomDense(512 * 512, 1) + R"( : tensor<512x512xf32>
  %e = tensor.empty() : tensor<512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%f : tensor<512x512xf32>)
      -> tensor<512x512xf32>
  return %y : tensor<512x512xf32>
}
)";
  return {"matmul 512x512x512, right side constant", std::move(text), 0};
}

} // namespace autotune::benchmarks
