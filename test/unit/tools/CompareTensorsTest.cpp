// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/CompareTensors.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune;
using testing::HasSubstr;

namespace {

template <typename T>
HostTensor tensor(const char *dtype, std::vector<int64_t> shape, const std::vector<T> &values) {
  const char *bytes = reinterpret_cast<const char *>(values.data());
  return {"t", dtype, std::move(shape), std::vector<char>(bytes, bytes + values.size() * sizeof(T))};
}

HostTensor row(std::vector<float> values) { return tensor("f32", {1, int64_t(values.size())}, values); }
HostTensor ints(std::vector<int64_t> values) { return tensor("i64", {int64_t(values.size())}, values); }

TEST(CompareTensorsTest, EqualPasses) {
  TensorComparison result = compareTensors(row({1, -2, 3}), row({1, -2, 3}));
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.maxError, 0);
  EXPECT_TRUE(compareTensors(row({0, 0}), row({0, 0})).passed);
}

TEST(CompareTensorsTest, ErrorIsMeasuredAgainstTheRange) {
  EXPECT_TRUE(compareTensors(row({0, 100.05f}), row({0, 100})).passed);
  TensorComparison result = compareTensors(row({0, 100.2f}), row({0, 100}));
  EXPECT_FALSE(result.passed);
  EXPECT_THAT(result.reason, HasSubstr("of the range"));
}

TEST(CompareTensorsTest, WrongDirectionFails) {
  EXPECT_THAT(compareTensors(row({1, 0}), row({0, 1})).reason, HasSubstr("cosine"));
  EXPECT_FALSE(compareTensors(row({0, 0}), row({0, 1e-30f})).passed);
}

TEST(CompareTensorsTest, NanAndInfinityMustMatch) {
  float inf = INFINITY;
  EXPECT_TRUE(compareTensors(row({NAN, inf, 1}), row({NAN, inf, 1})).passed);
  EXPECT_FALSE(compareTensors(row({NAN, 1}), row({1, 1})).passed);
  EXPECT_FALSE(compareTensors(row({1, 1}), row({NAN, 1})).passed);
  EXPECT_FALSE(compareTensors(row({-inf, 1}), row({inf, 1})).passed);
}

TEST(CompareTensorsTest, IntegersMustBeEqual) {
  EXPECT_TRUE(compareTensors(ints({1, 2}), ints({1, 2})).passed);
  EXPECT_EQ(compareTensors(ints({1, 3}), ints({1, 2})).reason, "element 1: found 3, expected 2");
}

TEST(CompareTensorsTest, ShapeAndTypeMustMatch) {
  EXPECT_EQ(compareTensors(row({1, 2}), ints({1, 2})).reason, "found 1x2xf32, expected 2xi64");
}

} // namespace
