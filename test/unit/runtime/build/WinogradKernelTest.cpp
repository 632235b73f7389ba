// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Winograd kernels compute the convolution, on images that tiles do not divide and under every kind of nest.
#include "TestKernel.h"
#include "passes/WinogradFilter.h"
#include "test/unit/Results.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace autotune;
using namespace autotune::test;

namespace {

constexpr int64_t kBlock = 8;

/// A convolution with bias, a residual and max(x, 0): the result stands in the interior of a larger buffer.
struct Convolution {
  int64_t outputs, images, inBlocks, outBlocks, height, width;

  int64_t points() const { return (outputs + 2) * (outputs + 2); }
  int64_t tiles() const {
    return images * int64_t(llvm::divideCeil(height, outputs) * llvm::divideCeil(width, outputs));
  }
  size_t imageSize() const { return size_t(images * inBlocks * (height + 2) * (width + 2) * kBlock); }
  size_t resultSize() const { return size_t(images * outBlocks * height * width * kBlock); }
  size_t bufferSize() const { return size_t(images * outBlocks * (height + 3) * (width + 3) * kBlock); }

  std::string text() const;
  std::vector<float> transformed(const std::vector<float> &filters) const;
  std::vector<double> compute(const std::vector<float> &image, const std::vector<float> &filters,
                              const std::vector<float> &bias, const std::vector<float> &residual) const;
  /// Of [n, o, y, x, v] in the result, and in the buffer around it.
  size_t at(int64_t n, int64_t o, int64_t y, int64_t x) const {
    return size_t((((n * outBlocks + o / kBlock) * height + y) * width + x) * kBlock + o % kBlock);
  }
  size_t inBuffer(int64_t n, int64_t o, int64_t y, int64_t x) const {
    return size_t((((n * outBlocks + o / kBlock) * (height + 3) + y + 1) * (width + 3) + x + 2) * kBlock + o % kBlock);
  }
};

std::string Convolution::text() const {
  auto dims = [](std::initializer_list<int64_t> extents) {
    std::string text;
    for (int64_t extent : extents)
      text += std::to_string(extent) + "x";
    return text + "f32";
  };
  std::string image = dims({images, inBlocks, height + 2, width + 2, kBlock});
  std::string u = dims({outBlocks, points(), inBlocks * kBlock, kBlock});
  std::string w = dims({outBlocks, inBlocks, 3, 3, kBlock, kBlock}), bias = dims({outBlocks, kBlock});
  std::string result = dims({images, outBlocks, height, width, kBlock});
  std::string buffer = dims({images, outBlocks, height + 3, width + 3, kBlock});
  return llvm::formatv(R"(
#x = affine_map<(n, y, x, o, v, i, h, w, c) -> (n, i, y + h, x + w, c)>
#w = affine_map<(n, y, x, o, v, i, h, w, c) -> (o, i, h, w, c, v)>
#y = affine_map<(n, y, x, o, v, i, h, w, c) -> (n, o, y, x, v)>
#r = affine_map<(n, y, x, o, v) -> (n, o, y, x, v)>
#b = affine_map<(n, y, x, o, v) -> (o, v)>
func.func @kernel(%x: tensor<{0}>, %u: tensor<{1}>, %b: tensor<{2}>, %s: tensor<{3}>, %d: tensor<{4}>) -> tensor<{4}> {{
  %zero = arith.constant 0.0 : f32
  %w = autotune.winograd_filter %u outputs {6} : tensor<{1}> -> tensor<{5}>
  %e = tensor.empty() : tensor<{3}>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<{3}>) -> tensor<{3}>
  %c = linalg.generic {{indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel",
      "parallel", "reduction", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<{7}>, tensor<{5}>) outs(%f : tensor<{3}>) {{
  ^bb0(%p: f32, %q: f32, %a: f32):
    %m = arith.mulf %p, %q : f32
    %t = arith.addf %a, %m : f32
    linalg.yield %t : f32
  } -> tensor<{3}>
  %i = tensor.extract_slice %d[0, 0, 1, 2, 0] [{8}, {9}, {10}, {11}, 8] [1, 1, 1, 1, 1] : tensor<{4}> to tensor<{3}>
  %t = linalg.generic {{indexing_maps = [#r, #b, #r, #r], iterator_types = ["parallel", "parallel", "parallel", "parallel",
      "parallel"]} ins(%c, %b, %s : tensor<{3}>, tensor<{2}>, tensor<{3}>) outs(%i : tensor<{3}>) {{
  ^bb0(%p: f32, %q: f32, %k: f32, %o: f32):
    %1 = arith.addf %p, %q : f32
    %2 = arith.addf %1, %k : f32
    %3 = arith.maximumf %2, %zero : f32
    linalg.yield %3 : f32
  } -> tensor<{3}>
  %r = tensor.insert_slice %t into %d[0, 0, 1, 2, 0] [{8}, {9}, {10}, {11}, 8] [1, 1, 1, 1, 1] : tensor<{3}> into tensor<{4}>
  return %r : tensor<{4}>
})",
                       image, u, bias, result, buffer, w, outputs, image, images, outBlocks, height, width);
}

std::vector<float> Convolution::transformed(const std::vector<float> &filters) const {
  mlir::MLIRContext context;
  auto type = mlir::RankedTensorType::get({outBlocks * kBlock, inBlocks * kBlock, 3, 3}, mlir::Float32Type::get(&context));
  auto values = transformFilters(mlir::DenseElementsAttr::get(type, llvm::ArrayRef(filters)), outputs, kBlock);
  return {values.getValues<float>().begin(), values.getValues<float>().end()};
}

std::vector<double> Convolution::compute(const std::vector<float> &image, const std::vector<float> &filters,
                                         const std::vector<float> &bias, const std::vector<float> &residual) const {
  std::vector<double> result(resultSize());
  int64_t channels = inBlocks * kBlock;
  for (int64_t n = 0; n < images; ++n)
    for (int64_t o = 0; o < outBlocks * kBlock; ++o)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x) {
          double sum = bias[o] + residual[at(n, o, y, x)];
          for (int64_t i = 0; i < channels; ++i)
            for (int64_t tap = 0; tap < 9; ++tap) {
              int64_t row = (n * inBlocks + i / kBlock) * (height + 2) + y + tap / 3;
              sum += double(image[size_t((row * (width + 2) + x + tap % 3) * kBlock + i % kBlock)]) *
                     filters[size_t((o * channels + i) * 9 + tap)];
            }
          result[at(n, o, y, x)] = std::max(sum, 0.0);
        }
  return result;
}

/// Runs the kernel chunk by chunk, the last ones first; checks every element and everything around the result.
void expectConvolves(const Convolution &conv, const std::optional<LoopNest> &nest, int64_t chunks) {
  LoadedKernel kernel(conv.text(), nest);
  ASSERT_TRUE(kernel);
  std::vector<float> image = numbers(conv.imageSize(), 1), bias = numbers(size_t(conv.outBlocks * kBlock), 3);
  std::vector<float> filters = numbers(size_t(conv.outBlocks * conv.inBlocks * kBlock * kBlock * 9), 2);
  std::vector<float> residual = numbers(conv.resultSize(), 4), u = conv.transformed(filters);
  std::vector<float> buffer(conv.bufferSize(), -77);
  for (int64_t chunk = chunks - 1; chunk >= 0; --chunk)
    kernel.run({image.data(), u.data(), bias.data(), residual.data(), buffer.data()}, chunk, chunk + 1);
  std::vector<double> expected = conv.compute(image, filters, bias, residual);
  for (int64_t n = 0; n < conv.images; ++n)
    for (int64_t o = 0; o < conv.outBlocks * kBlock; ++o)
      for (int64_t y = 0; y < conv.height; ++y)
        for (int64_t x = 0; x < conv.width; ++x) {
          float &found = buffer[conv.inBuffer(n, o, y, x)];
          ASSERT_NEAR(found, expected[conv.at(n, o, y, x)], 2e-4) << n << " " << o << " " << y << " " << x;
          found = -77;
        }
  for (float value : buffer)
    ASSERT_EQ(value, -77) << "written outside of the result";
}

/// Blocks of `tiles`, register tiles of `rows` x `planes`.
LoopNest nestOf(int64_t tiles, int64_t planes, int64_t rows, int64_t unroll) {
  return {{{1, tiles}, {2, planes}, {0, 1}, {1, rows}}, {{4, unroll}}, false};
}

} // namespace

TEST(WinogradKernel, AnyImageUnderAnyNest) {
  for (int64_t outputs : {2, 4})
    for (auto [height, width] : {std::pair(8, 8), std::pair(5, 7), std::pair(9, 6)}) {
      Convolution conv = {outputs, 2, 2, 3, height, width};
      for (const LoopNest &nest : {nestOf(4, 1, 2, 1), nestOf(5, 2, 3, 4), nestOf(3, 2, 3, 8)}) {
        SCOPED_TRACE(llvm::formatv("F({0}), {1} x {2}, blocks of {3}", outputs, height, width, nest.tiles[0].step).str());
        expectConvolves(conv, nest, 1);
      }
    }
}

TEST(WinogradKernel, ChunksOfTilesAndOfChannels) {
  Convolution conv = {4, 1, 1, 5, 11, 10}; // 9 tiles
  LoopNest tiles = {{{1, 4}, {2, 2}, {0, 1}, {1, 2}}, {{4, 1}}, true};
  expectConvolves(conv, tiles, 3);
  LoopNest channels = {{{2, 4}, {1, 6}, {2, 2}, {0, 1}, {1, 3}}, {{4, 2}}, true};
  expectConvolves(conv, channels, 2);
}

TEST(WinogradKernel, WithoutANestFiltersComeFirst) { expectConvolves({4, 1, 2, 1, 6, 5}, std::nullopt, 1); }

TEST(WinogradKernel, ANestWithoutPointsIsRefused) {
  Convolution conv = {2, 1, 1, 1, 6, 6};
  LoopNest nest = {{{1, 2}}, {{4, 1}}, false};
  auto object = compiler().compile(conv.text(), nest, "kernel", true);
  ASSERT_FALSE(bool(object));
  EXPECT_NE(messageOf(object.takeError()).find("expected a nest with a loop over the points"), std::string::npos);
}

TEST(WinogradKernel, NaNSpreadsOverItsTileOnly) {
  Convolution conv = {4, 1, 1, 1, 8, 8};
  LoadedKernel kernel(conv.text(), nestOf(4, 1, 2, 1));
  ASSERT_TRUE(kernel);
  std::vector<float> image = numbers(conv.imageSize(), 1), u = conv.transformed(numbers(kBlock * kBlock * 9, 2));
  std::vector<float> bias(kBlock), residual(conv.resultSize()), buffer(conv.bufferSize(), -77);
  image[0] = std::nanf(""); // the corner: read by the first output only
  kernel.run({image.data(), u.data(), bias.data(), residual.data(), buffer.data()});
  EXPECT_TRUE(std::isnan(buffer[conv.inBuffer(0, 0, 0, 0)]));
  for (int64_t y = 0; y < 8; ++y)
    for (int64_t x = 0; x < 8; ++x)
      if (y >= 4 || x >= 4)
        EXPECT_FALSE(std::isnan(buffer[conv.inBuffer(0, 0, y, x)])) << y << " " << x;
}
