// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What simplification leaves is what the partition can fuse.
#include "passes/SimplifyModel.h"
#include "passes/ExtractGraph.h"
#include "test/unit/KernelContext.h"

#include "gtest/gtest.h"

using namespace autotune;
using namespace autotune::test;

/// The bias of a linear layer comes behind a reshape of the product's rows.
TEST(SimplifyModel, TailsOfReshapedProductsStayTails) {
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModule(*context, R"mlir(
func.func @main(%x: tensor<6x8xf32>, %w: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<6x8xf32>, tensor<8x4xf32>) outs(%f : tensor<6x4xf32>) -> tensor<6x4xf32>
  %r = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %d = tensor.empty() : tensor<2x3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>,
                                        affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
       ins(%r, %b : tensor<2x3x4xf32>, tensor<4xf32>) outs(%d : tensor<2x3x4xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %s = arith.addf %u, %v : f32
    linalg.yield %s : f32
  } -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
})mlir");
  auto main = module->lookupSymbol<mlir::func::FuncOp>("main");
  ASSERT_TRUE(mlir::succeeded(simplifyModel(main)));
  Graph graph = extractGraph(main);
  ASSERT_EQ(graph.operators.size(), 3u) << graph.text();
  EXPECT_EQ(graph.operators[0].kind, "matmul");
  EXPECT_EQ(graph.operators[1].fusion, FusionRole::Elementwise) << graph.text();
  EXPECT_EQ(graph.operators[2].kind, "reshape");
}
