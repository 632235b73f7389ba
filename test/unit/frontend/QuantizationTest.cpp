// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// QuantizeLinear and its inverse against their formulas, bit for bit.
#include "test/unit/frontend/KnownModel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

struct Limits {
  ElementType type;
  double low, high;
};

const Limits kQuantized[] = {{ElementType::I8, -128, 127},
                             {ElementType::U8, 0, 255},
                             {ElementType::I16, -32768, 32767},
                             {ElementType::U16, 0, 65535}};

double quantizedNumber(double x, double scale, double zero, const Limits &limits) {
  float ratio = static_cast<float>(x) / static_cast<float>(scale);
  return std::min(std::max(std::nearbyint(static_cast<double>(ratio)) + zero, limits.low), limits.high);
}

TEST(Quantization, RoundsHalfToEvenAndSaturates) {
  std::vector<double> x = {-1e9, -70000, -129.5, -2.5,  -1.5,  -0.5,  -0.25, 0,
                           0.5,  1.5,    2.5,    126.5, 127.5, 70000, 1e9};
  for (const Limits &limits : kQuantized) {
    double zero = limits.low < 0 ? -3 : 100;
    KnownModel model(21);
    model.tensor("x", {ElementType::F32, {15}, x}).tensor("s", {ElementType::F32, {}, {1}});
    model.tensor("z", {limits.type, {}, {zero}}).node("QuantizeLinear", {"x", "s", "z"}, {"y"}).output("y");
    Numbers y = model.result();
    ASSERT_EQ(y.type, limits.type);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(y.values[i], quantizedNumber(x[i], 1, zero, limits))
          << spelling(limits.type).str() << " of " << x[i];
  }
}

TEST(Quantization, WithoutZeroPointIsUnsignedBytesOrAsTheAttributeSays) {
  KnownModel bytes;
  bytes.tensor("x", {ElementType::F32, {3}, {-1, 1, 300}}).tensor("s", {ElementType::F32, {}, {1}});
  bytes.node("QuantizeLinear", {"x", "s"}, {"y"}).output("y");
  Numbers y = bytes.result();
  EXPECT_EQ(y.type, ElementType::U8);
  EXPECT_THAT(y.values, ElementsAre(0, 1, 255));
  KnownModel words(21);
  words.tensor("x", {ElementType::F32, {3}, {-1, 1, 70000}}).tensor("s", {ElementType::F32, {}, {1}});
  words.node("QuantizeLinear", {"x", "s"}, {"y"})
      .attribute("output_dtype", int64_t(onnx::TensorProto::INT16))
      .output("y");
  y = words.result();
  EXPECT_EQ(y.type, ElementType::I16);
  EXPECT_THAT(y.values, ElementsAre(-1, 1, 32767));
}

TEST(Quantization, ScalesAlongAnAxis) {
  std::vector<double> x = fractions(24), scales = {0.125, 0.3, 0.01};
  KnownModel model;
  model.tensor("x", {ElementType::F32, {2, 3, 4}, x}).tensor("s", {ElementType::F32, {3}, scales});
  model.tensor("z", {ElementType::I8, {3}, {0, -5, 7}});
  model.node("QuantizeLinear", {"x", "s", "z"}, {"q"}).attribute("axis", int64_t(-2));
  model.node("DequantizeLinear", {"q", "s", "z"}, {"y"})
      .attribute("axis", int64_t(1))
      .output("q")
      .output("y");
  std::vector<Numbers> found = model.evaluate();
  const double zeros[] = {0, -5, 7};
  for (size_t i = 0; i < 24; ++i) {
    size_t channel = i / 4 % 3;
    float scale = static_cast<float>(scales[channel]);
    double q = quantizedNumber(x[i], scale, zeros[channel], kQuantized[0]);
    EXPECT_EQ(found[0].values[i], q);
    EXPECT_EQ(found[1].values[i], static_cast<float>(q - zeros[channel]) * scale);
  }
}

TEST(Quantization, BlocksAlongAnAxisWithAPartialLastBlock) {
  for (int64_t length : {6, 5}) {
    std::vector<double> x = fractions(2 * length), scales = {0.125, 0.5, 0.25, 0.0625, 1, 2};
    KnownModel model(21);
    model.tensor("x", {ElementType::F32, {2, length}, x}).tensor("s", {ElementType::F32, {2, 3}, scales});
    model.tensor("z", {ElementType::U8, {2, 3}, {1, 2, 3, 4, 5, 6}});
    model.node("QuantizeLinear", {"x", "s", "z"}, {"q"}).attribute("block_size", int64_t(2));
    model.node("DequantizeLinear", {"q", "s", "z"}, {"y"})
        .attribute("block_size", int64_t(2))
        .output("q")
        .output("y");
    std::vector<Numbers> found = model.evaluate();
    ASSERT_EQ(found[1].shape, (std::vector<int64_t>{2, length}));
    for (int64_t i = 0; i < 2 * length; ++i) {
      size_t block = i / length * 3 + i % length / 2;
      double q = quantizedNumber(x[i], scales[block], block + 1.0, kQuantized[1]);
      EXPECT_EQ(found[0].values[i], q);
      EXPECT_EQ(found[1].values[i], (q - (block + 1.0)) * scales[block]);
    }
  }
}

TEST(Quantization, EverySourceTypeIsDequantized) {
  const Limits sources[] = {kQuantized[0],
                            kQuantized[1],
                            kQuantized[2],
                            kQuantized[3],
                            {ElementType::I32, -2147483648.0, 2147483647.0}};
  for (const Limits &limits : sources) {
    bool hasZero = limits.type != ElementType::I32;
    KnownModel model(21);
    model.tensor("x", {limits.type, {3}, {limits.low, 3, limits.high}})
        .tensor("s", {ElementType::F32, {}, {0.1}});
    model.tensor("z", {limits.type, {}, {7}});
    model.node("DequantizeLinear",
               hasZero ? std::vector<std::string>{"x", "s", "z"} : std::vector<std::string>{"x", "s"}, {"y"});
    Numbers y = (model.output("y"), model.result());
    double zero = hasZero ? 7 : 0;
    for (auto [i, x] : llvm::enumerate(std::vector<double>{limits.low, 3, limits.high}))
      EXPECT_EQ(y.values[i], static_cast<float>(x - zero) * 0.1f) << spelling(limits.type).str();
  }
}

TEST(Quantization, HalfTypesAreComputedInSinglePrecision) {
  for (ElementType type : {ElementType::F16, ElementType::BF16}) {
    // 1000 / 3 rounded to a half type first would land on another integer.
    double scale = autotune::test::roundedTo(type, 0.3), x = 100;
    KnownModel model(21);
    model.tensor("x", {type, {1}, {x}})
        .tensor("s", {type, {}, {scale}})
        .tensor("z", {ElementType::I16, {}, {0}});
    model.node("QuantizeLinear", {"x", "s", "z"}, {"q"}).node("DequantizeLinear", {"q", "s", "z"}, {"y"});
    model.output("q").output("y");
    std::vector<Numbers> found = model.evaluate();
    double q = quantizedNumber(x, scale, 0, kQuantized[2]);
    EXPECT_EQ(found[0].values[0], q);
    EXPECT_EQ(found[1].type, type);
    EXPECT_EQ(found[1].values[0],
              autotune::test::roundedTo(type, static_cast<float>(q) * static_cast<float>(scale)));
  }
}

TEST(Quantization, IntegersAreQuantizedToo) {
  KnownModel model;
  model.tensor("x", {ElementType::I32, {3}, {-1000, 7, 1000}}).tensor("s", {ElementType::F32, {}, {4}});
  model.tensor("z", {ElementType::I8, {}, {1}}).node("QuantizeLinear", {"x", "s", "z"}, {"y"}).output("y");
  EXPECT_THAT(model.result().values, ElementsAre(-128, 3, 127));
}

TEST(Quantization, DynamicRangeIncludesZero) {
  for (const std::vector<double> &x : {std::vector<double>{0, 2, -3, -2.5, 1.34, 0.5},
                                       {1, 2.1, 1.3, 2.5, 3.34, 4},
                                       {-4, -2, -1.5, -1, -3, -0.25},
                                       {0, 0, 0, 0, 0, 0}}) {
    KnownModel model;
    model.tensor("x", {ElementType::F32, {2, 3}, x});
    model.node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"}).output("y").output("s").output("z");
    std::vector<Numbers> found = model.evaluate();
    float low = 0, high = 0;
    for (double value : x) {
      low = std::min(low, static_cast<float>(value));
      high = std::max(high, static_cast<float>(value));
    }
    float scale = high == low ? 1 : (high - low) / 255;
    double zero = quantizedNumber(-low, scale, 0, kQuantized[1]);
    EXPECT_EQ(found[1].values[0], scale);
    EXPECT_EQ(found[2].values[0], zero);
    for (size_t i = 0; i < x.size(); ++i)
      EXPECT_EQ(found[0].values[i], quantizedNumber(x[i], scale, zero, kQuantized[1]));
  }
}

TEST(Quantization, WrongParametersAreNamed) {
  auto message = [](const Numbers &x, const Numbers &scale, const Numbers &zero, int64_t block) {
    KnownModel model(21);
    model.tensor("x", x).tensor("s", scale).tensor("z", zero).node("QuantizeLinear", {"x", "s", "z"}, {"y"});
    model.attribute("block_size", block).output("y");
    return imported(model);
  };
  Numbers x{ElementType::F32, {2, 4}, fractions(8)}, scale{ElementType::F32, {}, {1}},
      zero{ElementType::I8, {}, {0}};
  EXPECT_THAT(
      message(x, {ElementType::F32, {3}, {1, 1, 1}}, {ElementType::I8, {3}, {0, 0, 0}}, 0),
      HasSubstr("input 1 of shape 3 is neither one value nor one for each position of axis 1 of 2x4"));
  EXPECT_THAT(
      message(x, {ElementType::F32, {2, 3}, fractions(6)}, {ElementType::I8, {2, 3}, fractions(6)}, 2),
      HasSubstr("input 1 of shape 2x3, expected 2x2 for blocks of 2 along axis 1 of 2x4"));
  EXPECT_THAT(message(x, scale, {ElementType::I64, {}, {0}}, 0), HasSubstr("cannot quantise to i64"));
  EXPECT_THAT(message({ElementType::I64, {1}, {0}}, scale, zero, 0),
              HasSubstr("input is i64, expected floats or i32"));
  EXPECT_THAT(message(x, scale, zero, -2), HasSubstr("block_size is -2"));
}

} // namespace
