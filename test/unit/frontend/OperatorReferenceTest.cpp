// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/OperatorReference.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gmock/gmock.h>

using namespace autotune;
using testing::HasSubstr;

TEST(OperatorReference, ThePageInDocsIsFresh) {
  auto page = llvm::MemoryBuffer::getFile(AUTOTUNE_SOURCE_DIR "/docs/operators.md");
  ASSERT_TRUE(bool(page)) << page.getError().message();
  EXPECT_TRUE((*page)->getBuffer() == operatorReference())
      << "docs/operators.md is not what `autotune operators` prints; run `autotune operators > docs/operators.md`";
}

TEST(OperatorReference, VersionsAreThoseInWhichTheOperatorChanged) {
  EXPECT_THAT(operatorReference(), HasSubstr("| Softmax | 7, 11, 13+ | floats |"));
}
