// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/InputValue.h"
#include "frontend/TensorFolder.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

#include <gmock/gmock.h>

using namespace autotune;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

DeclaredInput declared(ElementType type, std::optional<Shape> shape = std::nullopt) { return {type, std::move(shape)}; }

std::string errorText(llvm::StringRef text, const DeclaredInput &input) {
  auto value = parseInputValue(text, input);
  return value ? "" : llvm::toString(value.takeError());
}

} // namespace

TEST(InputValue, OneNumberIsAScalar) {
  ConstantTensor value = llvm::cantFail(parseInputValue("16000", declared(ElementType::I64)));
  EXPECT_EQ(value.rank(), 0);
  EXPECT_EQ(value.intAt(0), 16000);
}

TEST(InputValue, NumbersFillTheDeclaredShape) {
  ConstantTensor value = llvm::cantFail(parseInputValue("1, -2.5,3,4", declared(ElementType::F32, Shape{2, -1})));
  EXPECT_THAT(value.shape(), ElementsAre(2, 2));
  EXPECT_THAT(value.toFloats(), ElementsAre(1, -2.5, 3, 4));
}

TEST(InputValue, BoolsHaveNames) {
  EXPECT_EQ(llvm::cantFail(parseInputValue("true", declared(ElementType::Bool))).intAt(0), 1);
  EXPECT_THAT(errorText("yes", declared(ElementType::Bool)), HasSubstr("found `yes`"));
}

TEST(InputValue, WhatTheTypeCannotHoldIsRefused) {
  EXPECT_THAT(errorText("300", declared(ElementType::U8)), HasSubstr("found `300`, expected numbers of type ui8"));
  EXPECT_THAT(errorText("-1", declared(ElementType::U64)), HasSubstr("found `-1`"));
  EXPECT_THAT(errorText("1.5", declared(ElementType::I32)), HasSubstr("found `1.5`"));
  EXPECT_EQ(llvm::cantFail(parseInputValue("18446744073709551615", declared(ElementType::U64))).intAt(0), -1);
}

TEST(InputValue, AnotherNumberOfElementsIsRefused) {
  EXPECT_THAT(errorText("1,2,3", declared(ElementType::F32, Shape{2, -1})),
              HasSubstr("found 3 numbers, expected a value of shape 2x?"));
  EXPECT_THAT(errorText("1,2", declared(ElementType::F32, Shape())), HasSubstr("expected a value of shape scalar"));
}

TEST(InputValue, FilesMustHaveTypeAndShapeOfTheInput) {
  llvm::SmallString<128> file;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("value", "npy", file));
  llvm::FileRemover remover(file);
  ASSERT_FALSE(bool(writeNpy(file, {"", "i64", {2}, std::vector<char>(16, 0)})));
  EXPECT_THAT(llvm::cantFail(parseInputValue(file, declared(ElementType::I64, Shape{-1}))).shape(), ElementsAre(2));
  EXPECT_THAT(errorText(file, declared(ElementType::I32)), HasSubstr("found i64, expected i32"));
  EXPECT_THAT(errorText(file, declared(ElementType::I64, Shape{3})), HasSubstr("found shape 2, expected 3"));
  EXPECT_THAT(errorText("missing.npy", declared(ElementType::I64)), HasSubstr("missing.npy"));
}
