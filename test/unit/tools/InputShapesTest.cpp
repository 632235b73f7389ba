// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/InputShapes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune;
using testing::HasSubstr;

namespace {

InputShape parsed(llvm::StringRef text) {
  llvm::Expected<InputShape> shape = InputShape::parse(text);
  if (shape)
    return *shape;
  ADD_FAILURE() << llvm::toString(shape.takeError());
  return {};
}

TEST(InputShapesTest, ParsesAndPrints) {
  EXPECT_EQ(parsed("NAME=1x3x224x224"), (InputShape{"NAME", {{1, 3, 224, 224}}}));
  EXPECT_EQ(parsed("a:0=1x3;4x3"), (InputShape{"a:0", {{1, 3}, {4, 3}}}));
  EXPECT_EQ(parsed("sr=scalar"), (InputShape{"sr", {{}}}));
  EXPECT_EQ(parsed("a=b=7"), (InputShape{"a=b", {{7}}}));
  for (const char *text : {"x=1x3", "x=1;2;3", "sr=scalar", "x=0"})
    EXPECT_EQ(parsed(text).text(), text);
}

TEST(InputShapesTest, RefusesWhatIsNoShape) {
  for (const char *text : {"", "x", "x=", "=1x3", "x=1x", "x=x1", "x=1xa", "x=-1x3", "x=1x3;", "x=1,3",
                           "x=99999999999999999999"}) {
    llvm::Expected<InputShape> shape = InputShape::parse(text);
    ASSERT_FALSE(bool(shape)) << text;
    EXPECT_THAT(llvm::toString(shape.takeError()), HasSubstr("expected NAME=SHAPE"));
  }
}

TEST(InputShapesTest, ProfilesAreZippedAndSingleShapesRepeated) {
  auto profiles = shapeProfiles({parsed("x=1x3;4x3"), parsed("y=7")});
  ASSERT_TRUE(bool(profiles));
  ASSERT_EQ(profiles->size(), 2u);
  EXPECT_EQ((*profiles)[0].lookup("x"), (std::vector<int64_t>{1, 3}));
  EXPECT_EQ((*profiles)[1].lookup("x"), (std::vector<int64_t>{4, 3}));
  EXPECT_EQ((*profiles)[1].lookup("y"), (std::vector<int64_t>{7}));
}

TEST(InputShapesTest, NothingGivenIsOneEmptyProfile) {
  auto profiles = shapeProfiles({});
  ASSERT_TRUE(bool(profiles));
  ASSERT_EQ(profiles->size(), 1u);
  EXPECT_TRUE((*profiles)[0].empty());
}

TEST(InputShapesTest, UnequalOrRepeatedInputsAreRefused) {
  EXPECT_THAT(llvm::toString(shapeProfiles({parsed("x=1;2;3"), parsed("y=7;8")}).takeError()),
              HasSubstr("`y` has 2 profiles, expected 1 or 3"));
  EXPECT_THAT(llvm::toString(shapeProfiles({parsed("x=1"), parsed("x=2")}).takeError()),
              HasSubstr("`x` is given twice"));
}

} // namespace
