// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// GridSample, AffineGrid, RoiAlign, MaxRoiPool and DeformConv against plain loops.
#include "test/unit/frontend/Evaluate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

using namespace autotune;
using namespace autotune::test;
using testing::ElementsAre;
using testing::ElementsAreArray;

namespace {

/// Reads one dimension at element number `i` as the padding mode says: the element, or -1 for a zero.
int64_t paddedIndex(int64_t i, int64_t size, const std::string &padding, bool alignCorners) {
  if (i >= 0 && i < size)
    return i;
  if (padding == "zeros")
    return -1;
  if (padding == "border")
    return i < 0 ? 0 : size - 1;
  // Steps back and forth until inside.
  double low = alignCorners ? 0 : -0.5, high = size - (alignCorners ? 1 : 0.5), x = i;
  if (low == high)
    return 0;
  while (x < low || x > high)
    x = x < low ? 2 * low - x : 2 * high - x;
  return static_cast<int64_t>(std::floor(x + 0.25));
}

double reflected(double x, double low, double high) {
  if (low == high)
    return low;
  while (x < low || x > high)
    x = x < low ? 2 * low - x : 2 * high - x;
  return x;
}

struct Weighted {
  int64_t index;
  double weight;
};

std::vector<Weighted> taps(double x, int64_t size, const std::string &mode, const std::string &padding,
                           bool align, size_t dims) {
  double low = align ? 0 : -0.5, high = size - (align ? 1 : 0.5);
  if (mode == "nearest") {
    double rounded = dims == 3 ? std::round(x) : std::nearbyint(x);
    return {{paddedIndex(static_cast<int64_t>(rounded), size, padding, align), 1}};
  }
  if (x < low || x > high) {
    if (padding == "border")
      x = std::clamp<double>(x, 0, size - 1);
    if (padding == "reflection")
      x = reflected(x, low, high);
  }
  int64_t base = static_cast<int64_t>(std::floor(x));
  double t = x - base;
  std::vector<Weighted> result;
  auto cubic = [](double d) {
    d = std::fabs(d);
    constexpr double a = -0.75;
    return d <= 1 ? (a + 2) * d * d * d - (a + 3) * d * d + 1
                  : a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a;
  };
  if (mode == "linear")
    for (int64_t k = 0; k < 2; ++k)
      result.push_back({paddedIndex(base + k, size, padding, align), k ? t : 1 - t});
  else
    for (int64_t k = -1; k < 3; ++k)
      result.push_back({paddedIndex(base + k, size, padding, align), cubic(k - t)});
  return result;
}

/// One plane of any rank at one grid point (whose first number belongs to the last dimension).
double sampled(const double *plane, const std::vector<int64_t> &dims, const double *point,
               const std::string &mode, const std::string &padding, bool align) {
  std::function<double(size_t, int64_t)> walk = [&](size_t d, int64_t offset) -> double {
    if (d == dims.size())
      return plane[offset];
    double normal = point[dims.size() - 1 - d];
    double x = align ? (normal + 1) / 2 * (dims[d] - 1) : ((normal + 1) * dims[d] - 1) / 2;
    double sum = 0;
    for (const Weighted &tap : taps(x, dims[d], mode, padding, align, dims.size()))
      if (tap.index >= 0)
        sum += tap.weight * walk(d + 1, offset * dims[d] + tap.index);
    return sum;
  };
  return walk(0, 0);
}

void checkGridSample(int64_t opset, const std::vector<int64_t> &dims, const std::string &mode,
                     const std::string &padding, bool align) {
  SCOPED_TRACE(mode + " " + padding + (align ? " aligned" : "") + " opset " + std::to_string(opset));
  int64_t plane = 1, points = 7, rank = dims.size();
  for (int64_t dim : dims)
    plane *= dim;
  std::vector<int64_t> shape = {1, 2}, gridShape = {1};
  shape.insert(shape.end(), dims.begin(), dims.end());
  gridShape.insert(gridShape.end(), rank - 1, 1);
  gridShape.insert(gridShape.end(), {points, rank});
  std::vector<double> image = someNumbers(2 * plane, 3), grid = someNumbers(points * rank, 8);
  for (double &x : grid)
    x *= 0.8; // up to 1.6: some points are far outside, some on ties
  TestModel model(opset);
  model.model.set_ir_version(opset > 17 ? 9 : 8);
  addTensor(model, "x", ElementType::F64, shape, image);
  addTensor(model, "grid", ElementType::F64, gridShape, grid);
  std::string spelled = opset >= 20 || mode == "nearest" ? mode : "bi" + mode;
  model.node("GridSample", {"x", "grid"}, {"y"})
      .attribute("mode", spelled)
      .attribute("padding_mode", padding);
  model.attribute("align_corners", int64_t(align)).output("y");
  Tensor y = evaluatedOne(model);
  ASSERT_EQ(y.values.size(), static_cast<size_t>(2 * points));
  for (int64_t c = 0; c < 2; ++c)
    for (int64_t p = 0; p < points; ++p)
      EXPECT_NEAR(y.values[c * points + p],
                  sampled(&image[c * plane], dims, &grid[p * rank], mode, padding, align), 1e-9)
          << "channel " << c << " point " << p;
}

TEST(GridSample, AllModesAndPaddingsInTwoDimensions) {
  for (int64_t opset : {16, 20})
    for (const char *mode : {"nearest", "linear", "cubic"})
      for (const char *padding : {"zeros", "border", "reflection"})
        for (bool align : {false, true})
          checkGridSample(opset, {4, 5}, mode, padding, align);
}

TEST(GridSample, AllModesAndPaddingsInThreeDimensions) {
  for (const char *mode : {"nearest", "linear", "cubic"})
    for (const char *padding : {"zeros", "border", "reflection"})
      for (bool align : {false, true})
        checkGridSample(20, {3, 4, 2}, mode, padding, align);
}

TEST(GridSample, OneElementDimensionsReflectToThemselves) {
  for (bool align : {false, true})
    checkGridSample(20, {1, 3}, "linear", "reflection", align);
}

TEST(GridSample, IntegersAreMovedByNearestOnly) {
  TestModel model(20);
  addTensor(model, "x", ElementType::I32, {1, 1, 2, 2}, {1, 2, 3, 4});
  addTensor(model, "grid", ElementType::F32, {1, 1, 3, 2}, {-1, -1, 1, -1, 1, 1});
  model.node("GridSample", {"x", "grid"}, {"y"})
      .attribute("mode", "nearest")
      .attribute("align_corners", int64_t(1));
  model.output("y");
  Tensor y = evaluatedOne(model);
  EXPECT_EQ(y.type, ElementType::I32);
  EXPECT_THAT(y.values, ElementsAre(1, 2, 4));
  TestModel linear(20);
  addTensor(linear, "x", ElementType::I32, {1, 1, 2, 2}, {1, 2, 3, 4});
  addTensor(linear, "grid", ElementType::F32, {1, 1, 1, 2}, {0, 0});
  linear.node("GridSample", {"x", "grid"}, {"y"}).output("y");
  EXPECT_THAT(imported(linear), testing::HasSubstr("X is i32, expected floats"));
}

TEST(AffineGrid, IdentityGivesTheCentresOrTheCorners) {
  for (bool align : {false, true}) {
    TestModel model(20);
    addTensor(model, "theta", ElementType::F32, {1, 2, 3}, {1, 0, 0, 0, 2, 0.5});
    model.ints("size", {4}, {1, 1, 2, 4}).node("AffineGrid", {"theta", "size"}, {"y"});
    model.attribute("align_corners", int64_t(align)).output("y");
    Tensor y = evaluatedOne(model);
    EXPECT_EQ(y.shape, (std::vector<int64_t>{1, 2, 4, 2}));
    std::vector<double> xs =
        align ? std::vector<double>{-1, -1.0 / 3, 1.0 / 3, 1} : std::vector<double>{-.75, -.25, .25, .75};
    std::vector<double> ys = align ? std::vector<double>{-1, 1} : std::vector<double>{-.5, .5};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 4; ++j) {
        EXPECT_NEAR(y.values[(i * 4 + j) * 2], xs[j], 1e-6);
        EXPECT_NEAR(y.values[(i * 4 + j) * 2 + 1], 2 * ys[i] + 0.5, 1e-6);
      }
  }
}

TEST(AffineGrid, ThreeDimensionsTakeTheThirdColumnForDepth) {
  TestModel model(20);
  addTensor(model, "theta", ElementType::F64, {1, 3, 4}, {0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 3});
  model.ints("size", {5}, {1, 1, 2, 1, 2}).node("AffineGrid", {"theta", "size"}, {"y"}).output("y");
  // Points in the order (z, x): x' = z, y' = x, z' = y + 3.
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(-.5, -.5, 3, -.5, .5, 3, .5, -.5, 3, .5, .5, 3));
}

/// Bilinear with the border repeated up to one element outside, zero beyond.
double roiSample(const std::vector<double> &image, int64_t height, int64_t width, double y, double x) {
  if (y < -1 || y > height || x < -1 || x > width)
    return 0;
  y = std::clamp<double>(y, 0, height - 1);
  x = std::clamp<double>(x, 0, width - 1);
  int64_t y0 = y, x0 = x, y1 = std::min(y0 + 1, height - 1), x1 = std::min(x0 + 1, width - 1);
  double ty = y - y0, tx = x - x0;
  return (1 - ty) * ((1 - tx) * image[y0 * width + x0] + tx * image[y0 * width + x1]) +
         ty * ((1 - tx) * image[y1 * width + x0] + tx * image[y1 * width + x1]);
}

void checkRoiAlign(int64_t opset, int64_t samples, bool halfPixel) {
  SCOPED_TRACE(std::to_string(opset) + " " + std::to_string(samples));
  std::vector<double> image = someNumbers(30, 5), roi = {0.5, 1, 4.5, 3.5};
  TestModel model(opset);
  addTensor(model, "x", ElementType::F64, {1, 1, 5, 6}, image);
  addTensor(model, "rois", ElementType::F64, {1, 4}, roi);
  model.ints("batch", {1}, {0}).node("RoiAlign", {"x", "rois", "batch"}, {"y"});
  model.attribute("output_height", int64_t(2)).attribute("output_width", int64_t(3));
  model.attribute("sampling_ratio", samples).attribute("spatial_scale", 1.0f);
  if (opset >= 16 && !halfPixel)
    model.attribute("coordinate_transformation_mode", "output_half_pixel");
  model.output("y");
  Tensor y = evaluatedOne(model);
  ASSERT_EQ(y.values.size(), 6u);
  double offset = halfPixel ? 0.5 : 0, h = (roi[3] - roi[1]) / 2, w = (roi[2] - roi[0]) / 3;
  int64_t rows = samples ? samples : std::ceil(h), columns = samples ? samples : std::ceil(w);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (int64_t a = 0; a < rows; ++a)
        for (int64_t c = 0; c < columns; ++c)
          sum += roiSample(image, 5, 6, roi[1] - offset + i * h + (a + 0.5) * h / rows,
                           roi[0] - offset + j * w + (c + 0.5) * w / columns);
      EXPECT_NEAR(y.values[i * 3 + j], sum / (rows * columns), 1e-9);
    }
}

TEST(RoiAlign, AveragesSamplesOfEachBin) {
  checkRoiAlign(10, 2, /*halfPixel=*/false);
  checkRoiAlign(16, 2, /*halfPixel=*/true);
  checkRoiAlign(16, 3, /*halfPixel=*/false);
  checkRoiAlign(22, 0, /*halfPixel=*/true);
}

TEST(RoiAlign, AdaptiveSamplingNeedsKnownBoxes) {
  TestModel model(16);
  model.input("x", {1, 1, 4, 4}).input("rois", {1, 4}).ints("batch", {1}, {0});
  model.node("RoiAlign", {"x", "rois", "batch"}, {"y"}).output("y");
  EXPECT_THAT(imported(model),
              testing::HasSubstr("RoiAlign_node' (RoiAlign): sampling_ratio is 0 and the boxes"));
}

TEST(MaxRoiPool, TakesTheGreatestOfEachBin) {
  TestModel model(13);
  addTensor(model, "x", ElementType::F32, {1, 1, 4, 4},
            {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  addTensor(model, "rois", ElementType::F32, {2, 5}, {0, 0, 0, 3, 3, 0, 1, 1, 2, 2});
  model.node("MaxRoiPool", {"x", "rois"}, {"y"}).integers("pooled_shape", {2, 2}).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(5, 7, 13, 15, 5, 6, 9, 10));
}

TEST(DeformConv, WithoutOffsetsIsAConvolution) {
  TestModel model(19);
  addTensor(model, "x", ElementType::F32, {1, 1, 3, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8});
  addTensor(model, "w", ElementType::F32, {1, 1, 2, 2}, {1, 1, 1, 1});
  addTensor(model, "offset", ElementType::F32, {1, 8, 2, 2}, std::vector<double>(32, 0));
  addTensor(model, "b", ElementType::F32, {1}, {1});
  model.node("DeformConv", {"x", "w", "offset", "b"}, {"y"}).integers("kernel_shape", {2, 2}).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(9, 13, 21, 25));
}

TEST(DeformConv, OffsetsAndMaskOfEachGroup) {
  // Two channels, each with offsets of its own; 1x1 windows make the expected values plain reads.
  TestModel model(22);
  std::vector<double> image = {0, 1, 2, 3, 10, 11, 12, 13};
  addTensor(model, "x", ElementType::F32, {1, 2, 2, 2}, image);
  addTensor(model, "w", ElementType::F32, {2, 1, 1, 1}, {1, 2});
  // Group 0: half a row down. Group 1: one column to the left.
  addTensor(model, "offset", ElementType::F32, {1, 4, 2, 2},
            {.5, .5, .5, .5, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1});
  addTensor(model, "mask", ElementType::F32, {1, 2, 2, 2}, {1, 1, 1, 1, 1, .5, 1, 1});
  model.node("DeformConv", {"x", "w", "offset", "", "mask"}, {"y"}).attribute("group", int64_t(2));
  model.attribute("offset_group", int64_t(2)).output("y");
  EXPECT_THAT(evaluatedOne(model).values, ElementsAre(1, 2, 1, 1.5, 0, 10, 0, 24));
}

} // namespace
