// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/InputValue.h"
#include "test/unit/Results.h"

#include <gtest/gtest.h>

using namespace autotune;

TEST(InputValueText, RoundTrips) {
  for (const char *text : {"sr=16000", "scope/x:0=1,2,3", "a=b=file.npy"})
    EXPECT_EQ(valueOf(InputValue::parse(text)).text(), text);
  EXPECT_EQ(valueOf(InputValue::parse("a=b=file.npy")).name, "a=b");
}

TEST(InputValueText, NeedsBothSides) {
  for (const char *text : {"", "sr", "sr=", "=1"}) {
    auto value = InputValue::parse(text);
    EXPECT_FALSE(bool(value)) << text;
    llvm::consumeError(value.takeError());
  }
}
