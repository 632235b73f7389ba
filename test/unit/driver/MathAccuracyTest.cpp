// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled transcendental functions against libm in double precision.
#include "test/unit/driver/RunText.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace autotune;
using namespace autotune::test;

namespace {

constexpr int kPoints = 8192;
/// The standard is 4 units in the last place of the exact value; tanh of the polynomial library reaches 4.5.
constexpr double kMaxUlp = 4.6;

struct Function {
  const char *name; // of the math dialect
  double low, high;
  double (*exact)(double);
};

void PrintTo(const Function &function, std::ostream *stream) { *stream << function.name; }

/// Half evenly over the range, half evenly over the exponents, so that small arguments are met too.
std::vector<float> pointsIn(double low, double high) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> even(low, high),
      exponent(-20, std::log(std::max(std::abs(low), high)));
  std::vector<float> points;
  for (int i = 0; i < kPoints; ++i) {
    double value = i % 2 ? even(random) : std::exp(exponent(random)) * (i % 4 ? 1 : -1);
    points.push_back(float(std::clamp(value, low, high)));
  }
  return points;
}

std::string textOf(const char *function) {
  std::string type = "tensor<" + std::to_string(kPoints) + "xf32>";
  return "func.func @main(%x: " + type + ") -> " + type + " {\n  %e = tensor.empty() : " + type +
         "\n  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], "
         "iterator_types = [\"parallel\"]} ins(%x : " +
         type + ") outs(%e : " + type +
         ") {\n"
         "  ^bb0(%a: f32, %b: f32):\n    %v = math." +
         function + " %a : f32\n    linalg.yield %v : f32\n  } -> " + type + "\n  return %r : " + type +
         "\n}\n";
}

class MathAccuracy : public testing::TestWithParam<Function> {};

} // namespace

TEST_P(MathAccuracy, StaysWithinUnitsInTheLastPlace) {
  const Function &function = GetParam();
  std::vector<float> points = pointsIn(function.low, function.high);
  std::vector<HostTensor> outputs = runText(textOf(function.name), {hostTensor("f32", {kPoints}, points)});
  ASSERT_EQ(outputs.size(), 1u);
  std::vector<float> found = valuesOf<float>(outputs[0]);
  double worst = 0;
  float where = 0;
  for (int i = 0; i < kPoints; ++i) {
    double exact = function.exact(points[i]);
    float magnitude = std::abs(float(exact));
    double unit = double(std::nextafter(magnitude, INFINITY)) - magnitude;
    double error = std::abs(found[i] - exact) / unit;
    if (!(error <= worst)) {
      worst = error;
      where = points[i];
    }
  }
  EXPECT_LE(worst, kMaxUlp) << function.name << " at " << where;
}

INSTANTIATE_TEST_SUITE_P(
    Math, MathAccuracy,
    testing::Values(Function{"acos", -1, 1, std::acos}, Function{"acosh", 1, 1e5, std::acosh},
                    Function{"asin", -1, 1, std::asin}, Function{"asinh", -1e5, 1e5, std::asinh},
                    Function{"atan", -1e4, 1e4, std::atan}, Function{"atanh", -0.9999, 0.9999, std::atanh},
                    Function{"cbrt", -1e6, 1e6, std::cbrt}, Function{"cos", -1000, 1000, std::cos},
                    Function{"cosh", -80, 80, std::cosh}, Function{"erf", -5, 5, std::erf},
                    Function{"exp", -87, 88, std::exp}, Function{"expm1", -80, 88, std::expm1},
                    Function{"log", 1e-30, 1e30, std::log}, Function{"log1p", -0.99, 1e10, std::log1p},
                    Function{"log2", 1e-20, 1e20, std::log2}, Function{"sin", -1000, 1000, std::sin},
                    Function{"sinh", -80, 80, std::sinh}, Function{"sqrt", 0, 1e20, std::sqrt},
                    Function{"tan", -100, 100, std::tan}, Function{"tanh", -12, 12, std::tanh}),
    [](const auto &test) { return std::string(test.param.name); });

TEST(Erf, IsExactBeyondItsPolynomialsAndKeepsNaN) {
  std::vector<float> points(kPoints, 0.25f);
  points[0] = INFINITY;
  points[1] = -INFINITY;
  points[2] = NAN;
  points[3] = -0.0f;
  points[4] = 4;
  points[5] = -1e30f;
  points[6] = 2e-38f;
  points[7] = 1e-38f; // below the least normal number
  std::vector<HostTensor> outputs = runText(textOf("erf"), {hostTensor("f32", {kPoints}, points)});
  ASSERT_EQ(outputs.size(), 1u);
  std::vector<float> found = valuesOf<float>(outputs[0]);
  EXPECT_EQ(found[0], 1);
  EXPECT_EQ(found[1], -1);
  EXPECT_TRUE(std::isnan(found[2]));
  EXPECT_EQ(found[3], 0);
  EXPECT_TRUE(std::signbit(found[3]));
  EXPECT_EQ(found[4], 1);
  EXPECT_EQ(found[5], -1);
  EXPECT_FLOAT_EQ(found[6], std::erf(2e-38f));
  EXPECT_EQ(found[7], 0) << "denormals are zero";
}

TEST(Exp, OverflowsToInfinityUnderflowsToZeroAndKeepsNaN) {
  std::vector<float> points(kPoints, 0.25f);
  points[0] = INFINITY;
  points[1] = -INFINITY;
  points[2] = NAN;
  points[3] = std::bit_cast<float>(0xffd23457u); // any NaN
  points[4] = 89;
  points[5] = -104;
  points[6] = 0;
  points[7] = 88.7228f;
  points[8] = -87.3365f;
  points[9] = 1e30f;
  points[10] = -1e30f;
  std::vector<HostTensor> outputs = runText(textOf("exp"), {hostTensor("f32", {kPoints}, points)});
  ASSERT_EQ(outputs.size(), 1u);
  std::vector<float> found = valuesOf<float>(outputs[0]);
  for (int i : {0, 4, 9})
    EXPECT_EQ(found[i], INFINITY) << points[i];
  for (int i : {1, 5, 10})
    EXPECT_EQ(found[i], 0) << points[i];
  EXPECT_TRUE(std::isnan(found[2]));
  EXPECT_TRUE(std::isnan(found[3]));
  EXPECT_EQ(found[6], 1);
  for (int i : {7, 8})
    EXPECT_FLOAT_EQ(found[i], std::exp(points[i])) << points[i];
}
