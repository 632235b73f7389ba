// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/OutputCheck.h"
#include "runtime/worker/Scalars.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <random>

using namespace autotune;
using namespace autotune::worker;
using testing::HasSubstr;
using testing::Optional;

namespace {

template <typename T>
std::optional<std::string> mismatch(CheckPolicy policy, const char *dtype, std::vector<T> reference,
                                    std::vector<T> candidate) {
  return compareOutputs(policy, dtype, std::as_bytes(std::span(reference)),
                        std::as_bytes(std::span(candidate)))
      .mismatch;
}

const CheckPolicy kExact{CheckKind::Exact, 1};
const CheckPolicy kElementwise{CheckKind::Elementwise, 1};

} // namespace

TEST(OutputCheck, ExactMeansTheSameBits) {
  EXPECT_FALSE(mismatch<float>(kExact, "f32", {1, 2}, {1, 2}));
  EXPECT_THAT(mismatch<float>(kExact, "f32", {0.0f, 1}, {-0.0f, 1}), Optional(HasSubstr("1 of 2")));
  EXPECT_THAT(mismatch<float>(kExact, "f32", {1}, {std::nextafter(1.0f, 2.0f)}),
              Optional(HasSubstr("element 0")));
}

TEST(OutputCheck, IntegersAreExactUnderEveryPolicy) {
  EXPECT_THAT(mismatch<int32_t>({CheckKind::Contraction, 100}, "i32", {1000000}, {1000001}),
              Optional(HasSubstr("is 1000001, expected 1000000")));
}

TEST(OutputCheck, ElementwiseAllowsFourUlp) {
  float four = 1 + 4 * std::numeric_limits<float>::epsilon();
  EXPECT_FALSE(mismatch<float>(kElementwise, "f32", {1}, {four}));
  EXPECT_TRUE(mismatch<float>(kElementwise, "f32", {1}, {1 + 8 * std::numeric_limits<float>::epsilon()}));
}

TEST(OutputCheck, MeasuresTheErrorOfWhatPasses) {
  std::vector<float> reference = {1, 2}, candidate = {1, 2 + 4 * std::numeric_limits<float>::epsilon()};
  OutputComparison comparison = compareOutputs(kElementwise, "f32", std::as_bytes(std::span(reference)),
                                               std::as_bytes(std::span(candidate)));
  EXPECT_FALSE(comparison.mismatch);
  EXPECT_NEAR(comparison.metrics.maxError, 4.77e-7, 1e-9);
  EXPECT_NEAR(comparison.metrics.boundShare, 4.0 / 10, 1e-6);
}

TEST(OutputCheck, NanAndInfinityMustAgree) {
  float nan = std::nanf(""), infinity = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(mismatch<float>(kElementwise, "f32", {nan, infinity}, {-nan, infinity}));
  EXPECT_TRUE(mismatch<float>(kElementwise, "f32", {nan}, {1}));
  EXPECT_TRUE(mismatch<float>(kElementwise, "f32", {1}, {nan}));
  EXPECT_TRUE(mismatch<float>(kElementwise, "f32", {infinity}, {-infinity}));
  EXPECT_TRUE(mismatch<float>(kElementwise, "f32", {3e38f}, {infinity}));
}

TEST(OutputCheck, ContractionsMayBeSummedInAnyOrderButNotWithAWrongTerm) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> unit(-1, 1);
  const int64_t size = 4608;
  std::vector<float> forward, backward, oneTermMissing;
  for (int output = 0; output < 20; ++output) {
    std::vector<float> products;
    for (int64_t k = 0; k < size; ++k)
      products.push_back(unit(random) * unit(random));
    float up = 0, down = 0;
    for (int64_t k = 0; k < size; ++k)
      up += products[k];
    for (int64_t k = size - 1; k >= 0; --k)
      down += products[k];
    forward.push_back(up);
    backward.push_back(down);
    oneTermMissing.push_back(up - products[0]);
  }
  CheckPolicy policy{CheckKind::Contraction, size};
  EXPECT_FALSE(mismatch(policy, "f32", forward, backward));
  EXPECT_TRUE(mismatch(policy, "f32", forward, oneTermMissing));
}

TEST(OutputCheck, PolicyFollowsTheWorkload) {
  Workload workload;
  workload.opClass = OpClass::Contraction;
  workload.dims = {{64, false}, {512, true}, {9, true}};
  EXPECT_EQ(checkPolicyFor(workload).kind, CheckKind::Contraction);
  EXPECT_EQ(checkPolicyFor(workload).reductionSize, 4608);
  workload.opClass = OpClass::Movement;
  EXPECT_EQ(checkPolicyFor(workload).kind, CheckKind::Exact);
  workload.epilogue = {"arith.addf"};
  EXPECT_EQ(checkPolicyFor(workload).kind, CheckKind::Elementwise);
}

TEST(OutputCheck, HalfTypesAreReadRight) {
  for (const char *dtype : {"f16", "bf16", "f32", "f64"})
    for (double value : {0.0, 1.0, -0.5, 1.5, 256.0}) {
      std::byte place[8];
      scalarType(dtype)->store(place, value);
      EXPECT_EQ(scalarType(dtype)->load(place), value) << dtype;
    }
  EXPECT_FALSE(scalarType("f8"));
  EXPECT_FALSE(mismatch<uint16_t>(kElementwise, "f16", {0x3c00}, {0x3c02}));
  EXPECT_TRUE(mismatch<uint16_t>(kElementwise, "f16", {0x3c00}, {0x3c10}));
}
