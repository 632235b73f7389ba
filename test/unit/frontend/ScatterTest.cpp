// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scatters to known positions: an assignment to a slice is a concatenation, any other one read for each element.
#include "test/unit/frontend/TestModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using autotune::test::imported;
using autotune::test::occurrences;
using autotune::test::TestModel;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string scatterText(const std::vector<int64_t> &positions, int64_t count) {
  TestModel model;
  model.input("x", {4, 3}).input("u", {count, 3}).ints("at", {count, 1}, positions);
  model.node("ScatterND", {"x", "at", "u"}, {"y"}).output("y");
  return imported(model);
}

TEST(Scatter, RowsInOrderAreJoinedWithTheRest) {
  std::string text = scatterText({1, 2}, 2);
  EXPECT_EQ(occurrences(text, "tensor.concat"), 1u);
  EXPECT_EQ(occurrences(text, "tensor.extract_slice"), 2u);
  EXPECT_THAT(text, Not(HasSubstr("linalg.generic")));
}

TEST(Scatter, NegativePositionsCountFromTheEnd) {
  std::string text = scatterText({-2, -1}, 2);
  EXPECT_THAT(text, HasSubstr("tensor.extract_slice %arg0[0, 0] [2, 3] [1, 1]"));
  EXPECT_EQ(occurrences(text, "tensor.concat"), 1u);
}

TEST(Scatter, AllRowsReplaceTheData) {
  std::string text = scatterText({0, 1, 2, 3}, 4);
  EXPECT_THAT(text, Not(HasSubstr("tensor.concat")));
  EXPECT_THAT(text, HasSubstr("return %arg1"));
}

TEST(Scatter, OtherPositionsAreATable) {
  std::string text = scatterText({3, 1}, 2);
  EXPECT_THAT(text, Not(HasSubstr("tensor.concat")));
  EXPECT_THAT(text, HasSubstr("[-1, 1, -1, 0]"));
  EXPECT_THAT(text, HasSubstr("tensor.extract"));
}

TEST(Scatter, ElementsInOrderAreJoinedWithTheRest) {
  TestModel model;
  model.input("x", {2, 5}).input("u", {2, 2}).ints("at", {2, 2}, {1, 2, 1, 2});
  model.node("ScatterElements", {"x", "at", "u"}, {"y"}).attribute("axis", int64_t(1)).output("y");
  EXPECT_EQ(occurrences(imported(model), "tensor.concat"), 1u);
}

TEST(Scatter, AKnownPositionOutsideIsAnError) {
  TestModel model;
  model.input("x", {4, 3}).input("u", {1, 3}).ints("at", {1, 1}, {4});
  model.node("ScatterND", {"x", "at", "u"}, {"y"}).output("y");
  auto text = autotune::test::importText(autotune::test::writeTemporary("scatter.onnx", model.serialized()));
  ASSERT_FALSE(static_cast<bool>(text));
  EXPECT_THAT(llvm::toString(text.takeError()), HasSubstr("index 4 is outside dimension 4"));
}

} // namespace
