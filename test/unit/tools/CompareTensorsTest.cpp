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

HostTensor bytes(std::vector<uint8_t> values) { return tensor("ui8", {int64_t(values.size())}, values); }

TEST(CompareTensorsTest, BytesMayDifferByOneQuantum) {
  TensorComparison result = compareTensors(bytes({1, 9, 3}), bytes({2, 10, 3}));
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.maxError, 1);
  EXPECT_EQ(result.beyondQuantum, 0);
  EXPECT_EQ(compareTensors(bytes({1, 9, 3}), bytes({1, 9, 5})).reason,
            "1 of 3 elements differ by more than one quantum (1.000000e+00), expected at most 1 %");
}

TEST(CompareTensorsTest, OneElementOfAHundredMayDifferByMore) {
  std::vector<uint8_t> reference(100, 7), found = reference;
  reference[50] = found[50] = 200;
  found[3] = 90;
  EXPECT_TRUE(compareTensors(bytes(found), bytes(reference)).passed);
  found[4] = 90;
  EXPECT_FALSE(compareTensors(bytes(found), bytes(reference)).passed);
}

TEST(CompareTensorsTest, TheGreatestQuantumStaysInPlace) {
  EXPECT_EQ(compareTensors(bytes({9, 10, 0}), bytes({10, 9, 0})).reason, "the greatest element is number 1, expected 0");
  // A tie in either leaves the place open.
  EXPECT_TRUE(compareTensors(bytes({9, 10, 0}), bytes({10, 10, 0})).passed);
  EXPECT_TRUE(compareTensors(bytes({10, 10, 0}), bytes({9, 10, 0})).passed);
}

TEST(CompareTensorsTest, FloatsThatStandForBytesAreComparedByTheirQuantum) {
  HostTensor found = row({0.1f, 0.6f, 0.3f}), reference = row({0.2f, 0.7f, 0.3f});
  EXPECT_FALSE(compareTensors(found, reference).passed);
  EXPECT_TRUE(compareTensors(found, reference, 0.1).passed);
  EXPECT_FALSE(compareTensors(found, reference, 0.05).passed);
  EXPECT_THAT(compareTensors(row({NAN, 1}), row({0, 1}), 0.1).reason, HasSubstr("element 0: found nan"));
}

TEST(CompareTensorsTest, HalfTypesHaveAWiderStandard) {
  // 1 and 1 + 4/1024 or 1 + 16/1024 in a range of 1.
  auto half = [](uint16_t last) { return tensor("f16", {3}, std::vector<uint16_t>{0, 0x3c00, last}); };
  EXPECT_TRUE(compareTensors(half(0x3c04), half(0x3c00)).passed);
  EXPECT_THAT(compareTensors(half(0x3c10), half(0x3c00)).reason, HasSubstr("expected less than 1.000000e-02"));
}

TEST(CompareTensorsTest, ShapeAndTypeMustMatch) {
  EXPECT_EQ(compareTensors(row({1, 2}), ints({1, 2})).reason, "found 1x2xf32, expected 2xi64");
}

} // namespace
