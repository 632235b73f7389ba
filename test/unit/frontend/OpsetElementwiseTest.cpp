// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise operators with all element types, as opsets 6 to 23 define them.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace autotune;
using namespace autotune::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor unary(const std::string &op, int64_t opset, ElementType type, const std::vector<double> &x) {
  TestModel model(opset);
  addTensor(model, "x", type, {int64_t(x.size())}, x);
  model.node(op, {"x"}, {"y"}).output("y");
  return evaluatedOne(model);
}

Tensor binary(const std::string &op, int64_t opset, ElementType type, const std::vector<double> &x,
              const std::vector<double> &y) {
  TestModel model(opset);
  addTensor(model, "x", type, {int64_t(x.size())}, x);
  addTensor(model, "y", type, {int64_t(y.size())}, y);
  model.node(op, {"x", "y"}, {"z"}).output("z");
  return evaluatedOne(model);
}

Tensor cast(ElementType from, ElementType to, const std::vector<double> &x) {
  TestModel model(19);
  addTensor(model, "x", from, {int64_t(x.size())}, x);
  model.node("Cast", {"x"}, {"y"}).attribute("to", int64_t(onnxDataType(to))).output("y");
  Tensor y = evaluatedOne(model);
  EXPECT_EQ(y.type, to);
  return y;
}

TEST(Cast, FloatsToIntegersTowardsZero) {
  for (ElementType from : {ElementType::F16, ElementType::BF16, ElementType::F32, ElementType::F64})
    for (ElementType to : {ElementType::I8, ElementType::I16, ElementType::I32, ElementType::I64})
      EXPECT_THAT(cast(from, to, {-2.75, -0.5, 0.5, 100}).values, ElementsAre(-2, 0, 0, 100));
  EXPECT_THAT(cast(ElementType::F32, ElementType::U8, {0.5, 200.9}).values, ElementsAre(0, 200));
}

TEST(Cast, IntegersWrapAndKeepTheirSign) {
  EXPECT_THAT(cast(ElementType::I32, ElementType::U8, {-1, 300}).values, ElementsAre(255, 44));
  EXPECT_THAT(cast(ElementType::U8, ElementType::I32, {200}).values, ElementsAre(200));
  EXPECT_THAT(cast(ElementType::U32, ElementType::F64, {4294967295.0}).values, ElementsAre(4294967295.0));
  EXPECT_THAT(cast(ElementType::I8, ElementType::I64, {-128}).values, ElementsAre(-128));
}

TEST(Cast, HalfTypesRoundToEven) {
  EXPECT_THAT(cast(ElementType::F32, ElementType::F16, {2049, 2051, 65520}).values,
              ElementsAre(2048, 2052, kInfinity));
  EXPECT_THAT(cast(ElementType::F32, ElementType::BF16, {257, 259}).values, ElementsAre(256, 260));
  EXPECT_THAT(cast(ElementType::BF16, ElementType::F16, {1.5}).values, ElementsAre(1.5));
  EXPECT_THAT(cast(ElementType::F64, ElementType::F16, {0.1}).values,
              ElementsAre(DoubleNear(0.0999756, 1e-7)));
}

TEST(Cast, BoolsAreZeroAndOne) {
  EXPECT_THAT(cast(ElementType::F32, ElementType::Bool, {0, -0.5, NAN}).values, ElementsAre(0, 1, 1));
  EXPECT_THAT(cast(ElementType::Bool, ElementType::F16, {0, 1}).values, ElementsAre(0, 1));
  EXPECT_THAT(cast(ElementType::I64, ElementType::Bool, {256, 0}).values, ElementsAre(1, 0));
}

TEST(Cast, TypesThatAreNotSupportedAreNamed) {
  TestModel model(19);
  model.input("x", {2}).node("Cast", {"x"}, {"y"}).attribute("to", int64_t(17)).output("y");
  EXPECT_THAT(imported(model), HasSubstr("cast to FLOAT8E4M3FN is not supported"));
  TestModel string(13);
  string.input("x", {2}).node("Cast", {"x"}, {"y"}).attribute("to", int64_t(8)).output("y");
  EXPECT_THAT(imported(string), HasSubstr("cast to STRING is not supported"));
}

TEST(Bitwise, SignedAndUnsigned) {
  EXPECT_THAT(binary("BitwiseAnd", 18, ElementType::I8, {-1, 12}, {7, 10}).values, ElementsAre(7, 8));
  EXPECT_THAT(binary("BitwiseOr", 18, ElementType::U16, {1, 12}, {6, 10}).values, ElementsAre(7, 14));
  EXPECT_THAT(binary("BitwiseXor", 18, ElementType::I64, {-1, 12}, {0, 10}).values, ElementsAre(-1, 6));
  EXPECT_THAT(unary("BitwiseNot", 18, ElementType::U8, {0, 200}).values, ElementsAre(255, 55));
}

TEST(BitShift, BitsFallOff) {
  for (const char *direction : {"LEFT", "RIGHT"}) {
    TestModel model(11);
    addTensor(model, "x", ElementType::U8, {3}, {129, 129, 129});
    addTensor(model, "y", ElementType::U8, {3}, {1, 7, 8});
    model.node("BitShift", {"x", "y"}, {"z"}).attribute("direction", direction).output("z");
    bool left = std::string(direction) == "LEFT";
    EXPECT_THAT(evaluatedOne(model).values, left ? ElementsAre(2, 128, 0) : ElementsAre(64, 1, 0));
  }
}

TEST(Mod, SignOfTheDivisorOrOfTheDividend) {
  for (int64_t fmod : {0, 1}) {
    TestModel model(13);
    addTensor(model, "x", ElementType::I32, {4}, {-4, 7, 5, -7});
    addTensor(model, "y", ElementType::I32, {4}, {3, -3, 0, -1});
    model.node("Mod", {"x", "y"}, {"z"}).attribute("fmod", fmod).output("z");
    Tensor z = evaluatedOne(model);
    ASSERT_EQ(z.values.size(), 4u);
    EXPECT_EQ(z.values[0], fmod ? -1 : 2);
    EXPECT_EQ(z.values[1], fmod ? 1 : -2);
    EXPECT_EQ(z.values[3], 0); // and no trap for the divisor 0 before it
  }
}

TEST(IsInf, SignsAreAsked) {
  for (int64_t positive : {0, 1})
    for (int64_t negative : {0, 1}) {
      TestModel model(20);
      addTensor(model, "x", ElementType::F16, {4}, {kInfinity, -kInfinity, NAN, 1});
      model.node("IsInf", {"x"}, {"y"})
          .attribute("detect_positive", positive)
          .attribute("detect_negative", negative);
      model.output("y");
      EXPECT_THAT(evaluatedOne(model).values, ElementsAre(positive, negative, 0, 0));
    }
}

TEST(Gelu, ExactAndApproximate) {
  for (const char *approximate : {"none", "tanh"}) {
    TestModel model(20);
    addTensor(model, "x", ElementType::F64, {3}, {-1, 0, 2});
    model.node("Gelu", {"x"}, {"y"}).attribute("approximate", approximate).output("y");
    auto expected = [&](double x) {
      if (std::string(approximate) == "none")
        return x / 2 * (1 + std::erf(x / std::sqrt(2)));
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    };
    EXPECT_THAT(evaluatedOne(model).values,
                ElementsAre(DoubleNear(expected(-1), 1e-9), 0, DoubleNear(expected(2), 1e-9)));
  }
}

TEST(Activations, OfOpset18) {
  EXPECT_THAT(unary("Mish", 18, ElementType::F64, {1}).values,
              ElementsAre(DoubleNear(std::tanh(std::log1p(M_E)), 1e-9)));
  EXPECT_THAT(unary("HardSwish", 14, ElementType::F64, {-4, 0, 1.5, 4}).values,
              ElementsAre(0, 0, DoubleNear(1.125, 1e-9), 4));
  EXPECT_THAT(unary("Softplus", 22, ElementType::F32, {100}).values, ElementsAre(100));
}

TEST(Functions, InverseAndHyperbolic) {
  using Function = double (*)(double);
  for (auto [op, function] : {std::pair<const char *, Function>{"Asin", std::asin},
                              {"Acos", std::acos},
                              {"Atan", std::atan},
                              {"Sinh", std::sinh},
                              {"Cosh", std::cosh},
                              {"Asinh", std::asinh},
                              {"Atanh", std::atanh},
                              {"Tan", std::tan}})
    for (int64_t opset : {9, 22})
      EXPECT_THAT(unary(op, opset, ElementType::F32, {0.5}).values,
                  ElementsAre(DoubleNear(function(0.5), 1e-6)))
          << op;
  EXPECT_THAT(unary("Acosh", 9, ElementType::F32, {2}).values, ElementsAre(DoubleNear(std::acosh(2), 1e-6)));
}

TEST(Clip, BoundsAreAttributesBeforeOpset11) {
  for (int64_t opset : {6, 11, 13}) {
    TestModel model(opset);
    model.floats("x", {3}, {-2, 0.5, 9}).floats("max", {}, {1});
    model.node("Clip", opset < 11 ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "", "max"},
               {"y"});
    if (opset < 11)
      model.attribute("max", 1.0f);
    model.output("y");
    EXPECT_THAT(evaluatedOne(model).values, ElementsAre(-2, 0.5, 1));
  }
}

TEST(Clip, IntegersOfOpset12) {
  TestModel model(12);
  addTensor(model, "x", ElementType::U8, {3}, {1, 100, 250});
  addTensor(model, "min", ElementType::U8, {}, {50});
  addTensor(model, "max", ElementType::U8, {}, {200});
  model.node("Clip", {"x", "min", "max"}, {"y"}).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(50, 100, 200));
}

TEST(Comparisons, EveryTypeHasItsOrder) {
  EXPECT_THAT(binary("Less", 13, ElementType::U64, {1, 0}, {0, 1}).values, ElementsAre(0, 1));
  EXPECT_THAT(binary("Greater", 13, ElementType::U8, {200}, {100}).values, ElementsAre(1));
  EXPECT_THAT(binary("Greater", 13, ElementType::I8, {-56}, {100}).values, ElementsAre(0));
  EXPECT_THAT(binary("Equal", 19, ElementType::Bool, {1, 0}, {1, 1}).values, ElementsAre(1, 0));
  EXPECT_THAT(binary("LessOrEqual", 16, ElementType::F64, {NAN, 1}, {1, 1}).values, ElementsAre(0, 1));
  EXPECT_THAT(binary("GreaterOrEqual", 16, ElementType::F16, {0.5}, {0.5}).values, ElementsAre(1));
}

TEST(MaxMin, TypesOfOpset13) {
  EXPECT_THAT(binary("Max", 13, ElementType::U32, {3000000000.0, 1}, {1, 2}).values,
              ElementsAre(3000000000.0, 2));
  EXPECT_THAT(binary("Min", 13, ElementType::I16, {-5, 1}, {1, 2}).values, ElementsAre(-5, 1));
  EXPECT_TRUE(std::isnan(binary("Max", 13, ElementType::F32, {NAN}, {1}).values.at(0)));
}

TEST(Pow, ExponentsOfAnotherType) {
  TestModel model(15);
  addTensor(model, "x", ElementType::I32, {3}, {2, -3, 4});
  addTensor(model, "y", ElementType::F32, {3}, {3, 2, 0.5});
  model.node("Pow", {"x", "y"}, {"z"}).output("z");
  Tensor z = evaluatedOne(model);
  EXPECT_EQ(z.type, ElementType::I32);
  EXPECT_THAT(z.values, ElementsAre(8, 9, 2));
}

TEST(Shape, StartAndEndAreClamped) {
  for (auto [start, end, expected] : {std::tuple<int64_t, int64_t, std::vector<double>>{1, 9, {3, 4}},
                                      {-1, 9, {4}},
                                      {-9, -2, {2}},
                                      {2, 1, {}}}) {
    TestModel model(15);
    model.floats("x", {2, 3, 4}, std::vector<float>(24)).node("Shape", {"x"}, {"y"});
    model.attribute("start", start).attribute("end", end).output("y");
    EXPECT_EQ(evaluatedOne(model).values, expected);
  }
}

} // namespace
