// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be compiled or linked is an error with a reason.
#include "TestKernel.h"
#include "test/unit/Results.h"

#include "llvm/Support/FileSystem.h"

#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

std::string compileError(llvm::StringRef text, const std::optional<LoopNest> &nest) {
  return messageOf(compiler().compile(text, nest, "entry"));
}

} // namespace

TEST(KernelErrors, TextThatDoesNotParse) {
  EXPECT_THAT(compileError("func.func @kernel(%x: tensor<4xf3", std::nullopt), StartsWith("parse: "));
  EXPECT_THAT(compileError("nothing", std::nullopt), StartsWith("parse: "));
}

TEST(KernelErrors, NotOneFunction) {
  EXPECT_EQ(compileError("", std::nullopt), "expected one function in a kernel, found 0");
  EXPECT_EQ(compileError("func.func private @a()\nfunc.func private @b()", std::nullopt),
            "expected one function in a kernel, found 2");
}

TEST(KernelErrors, NestThatDoesNotFit) {
  std::string text = matmulText(8, 8, 8);
  EXPECT_EQ(compileError(text, LoopNest{{{2, 1}}, {}, false}),
            "schedule: expected tile loops over dims 0 to 1, found dim 2");
  EXPECT_EQ(compileError(text, LoopNest{{{0, -1}}, {}, false}),
            "schedule: expected a positive step over dim 0, found -1");
  EXPECT_EQ(compileError(text, LoopNest{{{0, 4}}, {{0, 1}}, false}),
            "schedule: expected reduction loops over reduction dims, found dim 0");
}

TEST(KernelErrors, AFailureLeavesTheCompilerUsable) {
  EXPECT_NE(compileError("nothing", std::nullopt), "");
  EXPECT_EQ(compileError(matmulText(8, 8, 8), LoopNest{{{0, 4}}, {{2, 1}}, false}), "");
}

TEST(KernelErrors, LinkingNamesTheFile) {
  ObjectCode object =
      valueOf(compiler().compile(matmulText(4, 8, 4), LoopNest{{{0, 4}}, {{2, 1}}, false}, "entry"));
  EXPECT_THAT(messageOf(linkSharedLibrary({object}, "/nowhere/kernel.so")), HasSubstr("/nowhere/kernel.so"));
  EXPECT_THAT(messageOf(linkSharedLibrary({object, object}, "/tmp/twice.so")), HasSubstr("entry"));
  EXPECT_FALSE(llvm::sys::fs::exists("/tmp/twice.so"));
}
