// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that are MLIR already: linalg, tensor, arith and math on static tensors, and one clear line for
// anything else.
#include "frontend/Import.h"
#include "test/unit/frontend/TestModel.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using autotune::test::importText;
using autotune::test::Shapes;
using autotune::test::writeTemporary;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string imported(const std::string &text, const Shapes &shapes = {}, const char *name = "model.mlir") {
  llvm::Expected<std::string> module = importText(writeTemporary(name, text), shapes);
  return module ? *module : llvm::toString(module.takeError());
}

const char *const kAdd = R"(
func.func @main(%a: tensor<2xf32> {autotune.name = "x"}, %b: tensor<2xf32>) -> tensor<2xf32> {
  %empty = tensor.empty() : tensor<2xf32>
  %sum = linalg.add ins(%a, %b : tensor<2xf32>, tensor<2xf32>) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  return %sum : tensor<2xf32>
})";

TEST(MlirInput, TextIsImportedAndGetsNames) {
  std::string text = imported(kAdd);
  EXPECT_THAT(text, AllOf(HasSubstr("linalg.add"), HasSubstr("autotune.name = \"x\""),
                          HasSubstr("autotune.name = \"arg1\""), HasSubstr("autotune.name = \"result0\"")));
}

TEST(MlirInput, BytecodeIsKnownByItsContent) {
  mlir::DialectRegistry registry;
  autotune::registerFrontendDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(kAdd, &context);
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  ASSERT_TRUE(succeeded(mlir::writeBytecodeToFile(*module, stream)));
  EXPECT_THAT(imported(bytes, {}, "model.mlirbc"), HasSubstr("linalg.add"));
  EXPECT_THAT(imported(bytes, {}, "model.bin"), HasSubstr("linalg.add"));
  for (size_t length = 5; length < bytes.size(); length += 7)
    EXPECT_THAT(imported(bytes.substr(0, length), {}, "short.mlirbc"),
                AllOf(HasSubstr("short.mlirbc: "), Not(HasSubstr("\n"))));
}

TEST(MlirInput, GivenShapesMustAgree) {
  EXPECT_THAT(imported(kAdd, {{"x", {2}}}), HasSubstr("linalg.add"));
  EXPECT_THAT(imported(kAdd, {{"x", {3}}}), HasSubstr("input 'x' has another shape than the given one"));
  EXPECT_THAT(imported(kAdd, {{"z", {3}}}), HasSubstr("no input is named 'z'"));
}

TEST(MlirInput, OtherDialectsAreRefusedWithTheirLine) {
  EXPECT_THAT(
      imported("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
               "  %b = func.call @main(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
               "  %c = func.call @main(%b) : (tensor<2xf32>) -> tensor<2xf32>\n"
               "  return %c : tensor<2xf32>\n}"),
      HasSubstr("line 2: 'func.call' is not supported, expected linalg, tensor, arith or math (and 1 more)"));
  EXPECT_THAT(imported("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                       "  %b = \"tosa.abs\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
                       "  return %b : tensor<2xf32>\n}"),
              HasSubstr("line 2: "));
}

TEST(MlirInput, DynamicTensorsAreRefused) {
  EXPECT_THAT(imported("func.func @main(%a: tensor<?xf32>) { return }"),
              HasSubstr("argument 0 of @main is tensor<?xf32>, expected a static ranked tensor"));
  EXPECT_THAT(imported("func.func @main(%a: memref<2xf32>) { return }"),
              HasSubstr("argument 0 of @main is memref"));
  EXPECT_THAT(imported("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                       "  %d = tensor.cast %a : tensor<2xf32> to tensor<?xf32>\n"
                       "  %b = tensor.cast %d : tensor<?xf32> to tensor<2xf32>\n"
                       "  return %b : tensor<2xf32>\n}"),
              HasSubstr("line 2: 'tensor.cast' gives tensor<?xf32>, expected a static tensor or a number"));
}

TEST(MlirInput, OnlyMainIsExpected) {
  EXPECT_THAT(imported("module {}"), HasSubstr("no function @main"));
  EXPECT_THAT(imported("func.func private @main(tensor<2xf32>)"), HasSubstr("no function @main with a body"));
  EXPECT_THAT(imported(std::string(kAdd) + "\nfunc.func @other() { return }"),
              HasSubstr("line 7: 'func.func' beside @main, expected nothing else"));
  EXPECT_THAT(imported("func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                       "  \"cf.br\"()[^next] : () -> ()\n^next:\n  return %a : tensor<2xf32>\n}"),
              HasSubstr("line 2: "));
}

TEST(MlirInput, BrokenTextGivesTheFirstFinding) {
  EXPECT_THAT(imported("func.func @main("), HasSubstr("line 1: expected"));
  EXPECT_THAT(imported(""), HasSubstr("no function @main"));
  EXPECT_THAT(imported(std::string(100000, '[')), HasSubstr("nested more than"));
  EXPECT_THAT(imported("#a = " + std::string(100000, '<')), HasSubstr("nested more than"));
}

TEST(MlirInput, SizesAreBounded) {
  EXPECT_THAT(imported("func.func @main() -> tensor<4611686018427387904xf32> {\n"
                       "  %b = arith.constant dense<1.0> : tensor<4611686018427387904xf32>\n"
                       "  return %b : tensor<4611686018427387904xf32>\n}"),
              HasSubstr("larger than"));
}

} // namespace
