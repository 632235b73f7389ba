// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels under many loop nests compute what plain C++ loops compute.
#include "TestKernel.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace autotune;
using namespace autotune::test;

namespace {

/// Runs `text` under `nest` with `chunks` chunks, the last ones first, and compares with `expected`.
void expectComputes(const std::string &text, const std::optional<LoopNest> &nest,
                    std::vector<std::vector<float>> inputs, const std::vector<float> &expected,
                    int64_t chunks = 1) {
  LoadedKernel kernel(text, nest);
  ASSERT_TRUE(kernel);
  std::vector<float> output(expected.size() + 16, -77);
  std::vector<float *> buffers;
  for (std::vector<float> &input : inputs)
    buffers.push_back(input.data());
  buffers.push_back(output.data());
  for (int64_t chunk = chunks - 1; chunk >= 0; --chunk)
    kernel.run(buffers, chunk, chunk + 1);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(output[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << "element " << i;
  for (size_t i = expected.size(); i < output.size(); ++i)
    ASSERT_EQ(output[i], -77) << "written behind the end";
  // All chunks in one call.
  std::fill(output.begin(), output.end(), -77);
  kernel.run(buffers, 0, chunks);
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(output[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << "element " << i;
}

std::vector<float> multiply(const std::vector<float> &a, const std::vector<float> &b, int64_t m, int64_t n,
                            int64_t k, bool relu) {
  std::vector<float> c(m * n);
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += double(a[i * k + p]) * b[p * n + j];
      c[i * n + j] = float(relu ? std::max(sum, 0.0) : sum);
    }
  return c;
}

struct MatmulCase {
  LoopNest nest;
  int64_t m = 12, n = 24, k = 8, chunks = 1;
};

/// Blocked NCHW8c with a 3x3 window, two blocks in and out.
struct Window {
  int64_t size, stride;
  int64_t padded() const { return (size - 1) * stride + 3; }
  std::string image(int64_t blocks, int64_t extent) const {
    return "1x" + std::to_string(blocks) + "x" + std::to_string(extent) + "x" + std::to_string(extent) +
           "x8xf32";
  }
  std::string at(const char *dim, const char *offset) const {
    return std::string(dim) + " * " + std::to_string(stride) + " + " + offset;
  }
  size_t index(int64_t block, int64_t h, int64_t w, int64_t v) const {
    return size_t((((block * padded() + h) * padded()) + w) * 8 + v);
  }
};

} // namespace

TEST(KernelCompiler, MatmulIsRightUnderAnyNest) {
  std::vector<MatmulCase> cases = {
      {{{{0, 4}, {1, 8}}, {{2, 1}}, false}},
      {{{{0, 6}, {1, 16}}, {{2, 4}}, false}},                      // 24 = 16 + 8
      {{{{1, 16}, {0, 12}, {0, 5}, {1, 8}}, {{2, 2}}, false}},     // 12 = 5 + 5 + 2, blocked
      {{{{0, 5}, {1, 8}}, {{2, 1}}, true}, 12, 24, 8, 3},          // a smaller last chunk
      {{{{1, 16}, {0, 4}, {1, 8}}, {{2, 8}}, true}, 12, 24, 8, 2}, // chunks over columns
      {{{{0, 3}, {1, 7}}, {{2, 1}}, false}, 7, 13, 5},             // nothing divides anything
      {{{{0, 1}, {1, 8}}, {{2, 3}}, false}, 1, 11, 7},             // the reduction does not divide either
      {{{{0, 1}}, {{2, 1}}, true}, 5, 3, 9, 5},
  };
  for (auto [i, item] : llvm::enumerate(cases)) {
    SCOPED_TRACE("case " + std::to_string(i));
    std::vector<float> a = numbers(item.m * item.k, 1), b = numbers(item.k * item.n, 2);
    for (bool relu : {false, true})
      expectComputes(matmulText(item.m, item.n, item.k, relu), item.nest, {a, b},
                     multiply(a, b, item.m, item.n, item.k, relu), item.chunks);
  }
}

TEST(KernelCompiler, WithoutANestTheReferenceIsRight) {
  std::vector<float> a = numbers(7 * 5, 1), b = numbers(5 * 13, 2);
  expectComputes(matmulText(7, 13, 5, true), std::nullopt, {a, b}, multiply(a, b, 7, 13, 5, true));
}

TEST(KernelCompiler, ConvolutionsWithStridesAreRight) {
  for (int64_t stride : {1, 2}) {
    SCOPED_TRACE("stride " + std::to_string(stride));
    Window w{5, stride};
    GenericKernel kernel{
        {w.image(2, w.padded()), "2x2x3x3x8x8xf32", w.image(2, w.size)},
        {"(n, h, w, o, v, i, kh, kw, c) -> (n, i, " + w.at("h", "kh") + ", " + w.at("w", "kw") + ", c)",
         "(n, h, w, o, v, i, kh, kw, c) -> (o, i, kh, kw, c, v)",
         "(n, h, w, o, v, i, kh, kw, c) -> (n, o, h, w, v)"},
        "ppppprrrr",
        "0.0",
        "%p = arith.mulf %in0, %in1 : f32\n%s = arith.addf %out, %p : f32\nlinalg.yield %s : f32"};
    std::vector<float> x = numbers(2 * w.padded() * w.padded() * 8, 3), f = numbers(2 * 2 * 9 * 64, 4);
    std::vector<float> expected;
    for (int64_t o = 0; o < 2; ++o)
      for (int64_t h = 0; h < w.size; ++h)
        for (int64_t col = 0; col < w.size; ++col)
          for (int64_t v = 0; v < 8; ++v) {
            double sum = 0;
            for (int64_t i = 0; i < 2; ++i)
              for (int64_t kh = 0; kh < 3; ++kh)
                for (int64_t kw = 0; kw < 3; ++kw)
                  for (int64_t c = 0; c < 8; ++c)
                    sum += double(x[w.index(i, h * stride + kh, col * stride + kw, c)]) *
                           f[((((o * 2 + i) * 3 + kh) * 3 + kw) * 8 + c) * 8 + v];
            expected.push_back(float(sum));
          }
    std::vector<ReductionLoop> reductions = {{5, 1}, {6, 1}, {7, 1}, {8, 2}};
    // Five columns in tiles of four and of three; rows as chunks of two, two and one.
    expectComputes(kernel.text(), LoopNest{{{0, 1}, {3, 1}, {1, 1}, {2, 4}}, reductions, false}, {x, f},
                   expected);
    expectComputes(kernel.text(), LoopNest{{{1, 2}, {0, 1}, {3, 2}, {1, 1}, {2, 3}}, reductions, true},
                   {x, f}, expected, 3);
  }
}

TEST(KernelCompiler, PoolingIsRight) {
  Window w{5, 2};
  GenericKernel kernel{
      {w.image(2, w.padded()), "3x3xf32", w.image(2, w.size)},
      {"(n, c, h, w, v, kh, kw) -> (n, c, " + w.at("h", "kh") + ", " + w.at("w", "kw") + ", v)",
       "(n, c, h, w, v, kh, kw) -> (kh, kw)", "(n, c, h, w, v, kh, kw) -> (n, c, h, w, v)"},
      "ppppprr",
      "0xFF800000",
      "%m = arith.maximumf %out, %in0 : f32\nlinalg.yield %m : f32"};
  std::vector<float> x = numbers(2 * w.padded() * w.padded() * 8, 5), expected;
  for (int64_t c = 0; c < 2; ++c)
    for (int64_t h = 0; h < w.size; ++h)
      for (int64_t col = 0; col < w.size; ++col)
        for (int64_t v = 0; v < 8; ++v) {
          float best = -INFINITY;
          for (int64_t kh = 0; kh < 3; ++kh)
            for (int64_t kw = 0; kw < 3; ++kw)
              best = std::max(best, x[w.index(c, h * 2 + kh, col * 2 + kw, v)]);
          expected.push_back(best);
        }
  std::vector<float> window(9);
  for (int64_t columns : {1, 2, 5})
    expectComputes(kernel.text(), LoopNest{{{1, 1}, {0, 1}, {2, 1}, {3, columns}}, {{5, 1}, {6, 3}}, true},
                   {x, window}, expected, 2);
}

TEST(KernelCompiler, RowsOfExponentialsAreSummed) {
  constexpr int64_t rows = 6;
  for (int64_t columns : {32, 19}) {
    SCOPED_TRACE(columns);
    std::string row = std::to_string(rows) + "x" + std::to_string(columns) + "xf32";
    GenericKernel kernel{
        {row, std::to_string(rows) + "xf32", std::to_string(rows) + "xf32"},
        {"(m, n) -> (m, n)", "(m, n) -> (m)", "(m, n) -> (m)"},
        "pr",
        "0.0",
        "%d = arith.subf %in0, %in1 : f32\n%e = math.exp %d : f32\n%s = arith.addf %out, %e : "
        "f32\nlinalg.yield %s : f32"};
    std::vector<float> x = numbers(rows * columns, 6), top = numbers(rows, 7), expected(rows);
    for (int64_t i = 0; i < rows; ++i) {
      double sum = 0;
      for (int64_t j = 0; j < columns; ++j)
        sum += std::exp(double(x[i * columns + j]) - top[i]);
      expected[i] = float(sum);
    }
    expectComputes(kernel.text(), LoopNest{{{0, 1}}, {}, false}, {x, top}, expected);
    expectComputes(kernel.text(), LoopNest{{{0, 4}, {0, 1}}, {}, true}, {x, top}, expected, 2);
    expectComputes(kernel.text(), LoopNest{{{0, 2}}, {{1, 1}}, false}, {x, top}, expected);
    expectComputes(kernel.text(), std::nullopt, {x, top}, expected);
  }
}

TEST(KernelCompiler, TranspositionsAreExact) {
  GenericKernel kernel{{"2x5x9xf32", "9x2x5xf32"},
                       {"(k, b, i) -> (b, i, k)", "(k, b, i) -> (k, b, i)"},
                       "ppp",
                       "",
                       "linalg.yield %in0 : f32"};
  std::vector<float> x = numbers(90, 8), expected;
  for (int64_t k = 0; k < 9; ++k)
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t i = 0; i < 5; ++i)
        expected.push_back(x[(b * 5 + i) * 9 + k]);
  expectComputes(kernel.text(), LoopNest{{{0, 1}, {1, 1}}, {}, false}, {x}, expected);
  expectComputes(kernel.text(), LoopNest{{{0, 4}, {1, 1}, {2, 3}}, {}, true}, {x}, expected, 3);
  expectComputes(kernel.text(), LoopNest{}, {x}, expected);
}

TEST(KernelCompiler, CopiesReachTheirDestination) {
  // Nothing is left of such a kernel but the data that it reads.
  GenericKernel kernel{
      {"3x5xf32", "3x5xf32"}, {"(m, n) -> (m, n)", "(m, n) -> (m, n)"}, "pp", "", "linalg.yield %in0 : f32"};
  std::vector<float> x = numbers(15, 9);
  expectComputes(kernel.text(), std::nullopt, {x}, x);
  expectComputes(kernel.text(), LoopNest{}, {x}, x);
  expectComputes(kernel.text(), LoopNest{{{0, 1}}, {}, true}, {x}, x, 3);
  expectComputes(kernel.text(), LoopNest{{{0, 3}}, {}, true}, {x}, x, 1);
  expectComputes(kernel.text(), LoopNest{{{0, 2}, {1, 4}}, {}, true}, {x}, x, 2);
}

TEST(KernelCompiler, TheSameKernelGivesTheSameCode) {
  LoopNest nest{{{0, 4}, {1, 8}}, {{2, 1}}, false};
  auto bytes = [&] { return llvm::cantFail(compiler().compile(matmulText(12, 24, 8), nest, "entry")).bytes; };
  EXPECT_EQ(bytes(), bytes());
}

TEST(KernelCompiler, AccumulatorsStayInRegisters) {
  LoopNest nest{{{0, 4}, {1, 8}}, {{2, 1}}, false};
  std::string ir = llvm::cantFail(compiler().printVectorized(matmulText(12, 24, 8), nest));
  size_t loop = ir.find("-> (vector<4x8xf32>)");
  ASSERT_NE(loop, std::string::npos) << ir;
  std::string body = ir.substr(loop, ir.find("scf.yield", loop) - loop);
  EXPECT_EQ(body.find("transfer_write"), std::string::npos) << body;
}
