// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling, unpooling, Col2Im and Resize as opsets 11 to 23 define them.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace autotune;
using namespace autotune::test;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

namespace {

using Shape = std::vector<int64_t>;

std::vector<double> counting(int64_t count) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i)
    values[i] = i;
  return values;
}

TEST(MaxPool, IndicesInBothOrders) {
  for (int64_t columnMajor : {0, 1}) {
    TestModel model(12);
    // The greatest elements of the four windows are at (1, 0), (0, 2), (2, 1) and, with equal elements, first
    // at (2, 2).
    addTensor(model, "x", ElementType::F32, {1, 2, 3, 4},
              {0, 1, 9, 2, 8, 1, 3, 4, 1, 7, 5, 5, 0, 1, 9, 2, 8, 1, 3, 4, 1, 7, 5, 5});
    model.node("MaxPool", {"x"}, {"y", "i"}).integers("kernel_shape", {2, 2}).integers("strides", {2, 2});
    model.integers("pads", {0, 0, 1, 0}).attribute("storage_order", columnMajor).output("y").output("i");
    std::vector<Tensor> results = evaluated(model);
    ASSERT_THAT(results, SizeIs(2));
    EXPECT_THAT(results[0].values, ElementsAre(8, 9, 7, 5, 8, 9, 7, 5));
    EXPECT_EQ(results[1].type, ElementType::I64);
    if (columnMajor)
      EXPECT_THAT(results[1].values, ElementsAre(1, 6, 5, 8, 13, 18, 17, 20));
    else
      EXPECT_THAT(results[1].values, ElementsAre(4, 2, 9, 10, 16, 14, 21, 22));
  }
}

TEST(MaxPool, IndicesOfIntegersInOneDimension) {
  TestModel model(12);
  addTensor(model, "x", ElementType::U8, {1, 1, 5}, {3, 200, 1, 7, 9});
  model.node("MaxPool", {"x"}, {"y", "i"}).integers("kernel_shape", {2}).integers("dilations", {2});
  model.output("y").output("i");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_THAT(results[0].values, ElementsAre(3, 200, 9));
  EXPECT_THAT(results[1].values, ElementsAre(0, 1, 4));
}

TEST(MaxUnpool, PutsElementsBack) {
  TestModel model(11);
  model.floats("x", {1, 2, 1, 2}, {5, 6, 7, 8}).ints("i", {1, 2, 1, 2}, {1, 6, 8, 15});
  model.ints("shape", {4}, {1, 2, 3, 4});
  model.node("MaxUnpool", {"x", "i"}, {"y"}).integers("kernel_shape", {2, 2}).integers("strides", {2, 2});
  model.node("MaxUnpool", {"x", "i", "shape"}, {"z"})
      .integers("kernel_shape", {2, 2})
      .integers("strides", {2, 2});
  model.output("y").output("z");
  std::vector<Tensor> results = evaluated(model);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(results[0].shape, (Shape{1, 2, 2, 4}));
  EXPECT_THAT(results[0].values, ElementsAre(0, 5, 0, 0, 0, 0, 6, 0, 7, 0, 0, 0, 0, 0, 0, 8));
  EXPECT_EQ(results[1].shape, (Shape{1, 2, 3, 4}));
  EXPECT_EQ(results[1].values[6], 6);
  EXPECT_EQ(results[1].values[12], 7);
}

TEST(LpPool, NormsOfWindows) {
  for (int64_t p : {1, 2, 3}) {
    TestModel model(18);
    model.floats("x", {1, 1, 4}, {1, -2, 2, 0}).node("LpPool", {"x"}, {"y"}).integers("kernel_shape", {2});
    model.attribute("p", p).integers("dilations", {2}).node("GlobalLpPool", {"x"}, {"z"}).attribute("p", p);
    model.output("y").output("z");
    std::vector<Tensor> results = evaluated(model);
    ASSERT_THAT(results, SizeIs(2));
    double q = 1.0 / p;
    EXPECT_THAT(results[0].values,
                ElementsAre(DoubleNear(std::pow(1 + std::pow(2, p), q), 1e-5), DoubleNear(2, 1e-5)));
    EXPECT_THAT(results[1].values, ElementsAre(DoubleNear(std::pow(1 + 2 * std::pow(2, p), q), 1e-5)));
  }
}

TEST(AveragePool, DilationsOfOpset19) {
  TestModel model(19);
  addTensor(model, "x", ElementType::F64, {1, 1, 3, 3}, counting(9));
  model.node("AveragePool", {"x"}, {"y"})
      .integers("kernel_shape", {2, 2})
      .integers("dilations", {2, 1})
      .output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(3.5, 4.5));
}

TEST(AveragePool, CeilModeCountsNoMoreThanTheModelPads) {
  TestModel model(19);
  model.floats("x", {1, 1, 4}, {1, 2, 3, 4}).node("AveragePool", {"x"}, {"y"}).integers("kernel_shape", {3});
  model.integers("strides", {2}).attribute("ceil_mode", int64_t(1));
  model.attribute("count_include_pad", int64_t(1)).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(2, 3.5));
}

TEST(Col2Im, SumsWhatOverlaps) {
  TestModel model(18);
  // Two blocks of 2x2 over an image of 2x3, one step apart.
  addTensor(model, "x", ElementType::F32, {1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  model.ints("image", {2}, {2, 3})
      .ints("block", {2}, {2, 2})
      .node("Col2Im", {"x", "image", "block"}, {"y"})
      .output("y");
  Tensor y = evaluatedOne(model);
  EXPECT_EQ(y.shape, (Shape{1, 1, 2, 3}));
  EXPECT_THAT(y.values, ElementsAre(1, 5, 4, 5, 13, 8));
}

TEST(Col2Im, StridesDilationsAndPads) {
  // Each column has its own number: the image shows which of them cover an element.
  TestModel model(18);
  addTensor(model, "x", ElementType::F64, {1, 2, 3}, {1, 2, 3, 10, 20, 30});
  model.ints("image", {1}, {5}).ints("block", {1}, {2}).node("Col2Im", {"x", "image", "block"}, {"y"});
  model.integers("strides", {2}).integers("dilations", {2}).integers("pads", {1, 1}).output("y");
  // Windows start at -1, 1 and 3, and read two elements that are two apart.
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(0, 10 + 2, 0, 20 + 3, 0));
}

Tensor resized(int64_t opset, const std::vector<double> &x, const Shape &shape,
               const std::vector<float> &scales, const std::vector<int64_t> &sizes,
               const std::function<void(TestModel &)> &attributes, ElementType type = ElementType::F32) {
  TestModel model(opset);
  addTensor(model, "x", type, shape, x);
  model.floats("scales", {int64_t(scales.size())}, scales).ints("sizes", {int64_t(sizes.size())}, sizes);
  std::vector<std::string> inputs = {"x", "", scales.empty() ? "" : "scales"};
  if (!sizes.empty())
    inputs.push_back("sizes");
  model.node("Resize", inputs, {"y"});
  attributes(model);
  model.output("y");
  return evaluatedOne(model);
}

TEST(Resize, AxesNameThoseThatChange) {
  Tensor y = resized(18, {1, 2, 3, 4}, {1, 1, 2, 2}, {}, {4},
                     [](TestModel &model) { model.attribute("mode", "nearest").integers("axes", {-1}); });
  EXPECT_EQ(y.shape, (Shape{1, 1, 2, 4}));
  EXPECT_THAT(y.values, ElementsAre(1, 1, 2, 2, 3, 3, 4, 4));
}

TEST(Resize, PoliciesKeepTheAspectRatio) {
  for (auto [policy, expected] : {std::pair<std::string, Shape>{"not_larger", {1, 1, 4, 6}},
                                  {"not_smaller", {1, 1, 6, 9}},
                                  {"stretch", {1, 1, 4, 9}}}) {
    Tensor y = resized(18, counting(6), {1, 1, 2, 3}, {}, {4, 9}, [&](TestModel &model) {
      model.attribute("mode", "nearest")
          .integers("axes", {2, 3})
          .attribute("keep_aspect_ratio_policy", policy);
    });
    EXPECT_EQ(y.shape, expected) << policy;
  }
}

TEST(Resize, AntialiasWidensTheFilter) {
  // Half the size, linear: the filter reaches two elements to each side with weights 1/8, 3/8, 3/8, 1/8.
  Tensor y = resized(18, {0, 8, 16, 8, 0, 8}, {1, 1, 6}, {1, 1, 0.5f}, {}, [](TestModel &model) {
    model.attribute("mode", "linear")
        .attribute("antialias", int64_t(1))
        .attribute("exclude_outside", int64_t(0));
  });
  ASSERT_THAT(y.values, SizeIs(3));
  EXPECT_NEAR(y.values[1], (8 + 3 * 16 + 3 * 8 + 0) / 8.0, 1e-5);
}

TEST(Resize, HalfPixelSymmetricCentresTheCut) {
  // 5 elements by 0.5 are 2.5, cut to 2: a quarter of an output element is missing at each side.
  Tensor y = resized(19, {0, 1, 2, 3, 4}, {1, 1, 5}, {1, 1, 0.5f}, {}, [](TestModel &model) {
    model.attribute("mode", "linear").attribute("coordinate_transformation_mode", "half_pixel_symmetric");
  });
  EXPECT_THAT(y.values, ElementsAre(1, 3));
}

TEST(Resize, SizesAreThoseOfSinglePrecision) {
  Tensor y = resized(13, counting(10), {1, 1, 10}, {1, 1, 0.7f}, {},
                     [](TestModel &model) { model.attribute("mode", "nearest"); });
  EXPECT_EQ(y.shape, (Shape{1, 1, 7}));
}

TEST(Resize, AlignCornersKeepsTheFractionOfTheSize) {
  // 4 elements by 0.6 are 2.4: one step is 3 / 1.4 elements.
  Tensor y = resized(13, {1, 2, 3, 4}, {1, 1, 4}, {1, 1, 0.6f}, {}, [](TestModel &model) {
    model.attribute("mode", "linear").attribute("coordinate_transformation_mode", "align_corners");
  });
  EXPECT_THAT(y.values, ElementsAre(1, DoubleNear(1 + 3 / 1.4, 1e-5)));
}

TEST(Resize, DoublesAreFilteredAsDoubles) {
  Tensor y = resized(
      13, {0, 1e-9, 1, 1 + 4e-9}, {1, 1, 4}, {1, 1, 2}, {},
      [](TestModel &model) {
        model.attribute("mode", "linear").attribute("coordinate_transformation_mode", "asymmetric");
      },
      ElementType::F64);
  ASSERT_THAT(y.values, SizeIs(8));
  EXPECT_NEAR(y.values[5], 1 + 2e-9, 1e-12);
}

} // namespace
