// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A region is a model of its own: arguments are what it reads, results what is used outside.
#include "passes/ExtractRegion.h"
#include "passes/ExtractGraph.h"
#include "test/unit/KernelContext.h"

#include "mlir/IR/Verifier.h"

#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;
using testing::Not;

namespace {

/// 0: a product with a constant; 1: its exponential; 2: the sum of both.
constexpr const char *kModel = R"(
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = arith.constant dense<1.0> : tensor<4x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %a = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.exp ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = linalg.add ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}
)";

class ExtractRegionTest : public testing::Test {
protected:
  ExtractRegionTest() { extractGraph(main); }

  mlir::OwningOpRef<mlir::ModuleOp> extract(llvm::ArrayRef<int> ids) {
    auto region = extractRegion(main, ids);
    EXPECT_TRUE(succeeded(mlir::verify(*region)));
    return region;
  }
  static std::string print(mlir::ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream(text) << module;
    return text;
  }

  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> module = parseModule(*context, kModel);
  mlir::func::FuncOp main = module->lookupSymbol<mlir::func::FuncOp>("main");
};

} // namespace

TEST_F(ExtractRegionTest, BringsConstantsAndInitsAlong) {
  auto region = extract({0});
  EXPECT_THAT(print(*region), HasSubstr("arith.constant dense"));
  EXPECT_THAT(print(*region), HasSubstr("linalg.fill"));
  auto function = region->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_EQ(function.getNumArguments(), 1u);
  EXPECT_EQ(function.getNumResults(), 1u);
}

TEST_F(ExtractRegionTest, ReturnsEveryValueThatIsUsedOutside) {
  auto region = extract({0, 1});
  EXPECT_EQ(region->lookupSymbol<mlir::func::FuncOp>("main").getNumResults(), 2u);
  EXPECT_THAT(print(*region), Not(HasSubstr("linalg.add")));
}

TEST_F(ExtractRegionTest, TakesComputedValuesAsArguments) {
  auto region = extract({2});
  auto function = region->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_EQ(function.getNumArguments(), 2u);
  EXPECT_THAT(print(*region), Not(HasSubstr("dense")));
}

TEST_F(ExtractRegionTest, KeepsTheNumbersOfTheModel) {
  EXPECT_THAT(print(*extract({1})), HasSubstr("autotune.id = 1 : i64"));
}

TEST_F(ExtractRegionTest, LeavesTheModelAsItWas) {
  std::string before = print(*module);
  extract({0, 2});
  EXPECT_EQ(print(*module), before);
}
