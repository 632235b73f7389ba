// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One operator of a network with its sizes: what both sides of a comparison compute. Everything is f32.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace autotune::benchmarks {

using Sizes = std::vector<int64_t>;

/// Added to the variance in layer normalisation.
inline constexpr double kLayerNormEpsilon = 1e-5;

/// What follows a contraction in the same kernel; each but None adds a bias for each column or filter first.
enum class Tail { None, Bias, Relu, Relu6, HardSwish, Gelu };

/// [batch, rows, inner] x [batch, inner, columns]; a batch of 1 has no dimension.
struct Gemm {
  int64_t batch = 1, rows = 1, inner = 1, columns = 1;
  bool constantRight = true; // a weight; otherwise computed by the network
  Tail tail = Tail::None;
};

/// A batch of one image [1, channels, height, width]; height and width come first in pairs.
struct Convolution {
  int64_t channels = 1, height = 1, width = 1, filters = 1;
  std::array<int64_t, 2> kernel = {1, 1}, stride = {1, 1}, padding = {0, 0};
  bool depthwise = false; // filters == channels
  Tail tail = Tail::Relu;

  int64_t outputHeight() const { return (height + 2 * padding[0] - kernel[0]) / stride[0] + 1; }
  int64_t outputWidth() const { return (width + 2 * padding[1] - kernel[1]) / stride[1] + 1; }
  Sizes weightShape() const;
};

/// Of an image; the global average has a window of the whole image.
struct Pooling {
  enum class Function { Maximum, GlobalAverage };
  Function function = Function::Maximum;
  int64_t channels = 1, height = 1, width = 1;
  int64_t kernel = 1, stride = 1, padding = 0; // of the maximum

  int64_t outputHeight() const;
  int64_t outputWidth() const;
};

/// Of each row of a matrix; the layer norm has constant scale and bias.
struct RowWise {
  enum class Function { Softmax, LayerNorm };
  Function function = Function::Softmax;
  int64_t rows = 1, columns = 1;
};

struct Elementwise {
  enum class Function { Add, Gelu };
  Function function = Function::Add;
  Sizes shape;
};

using Operator = std::variant<Gemm, Convolution, Pooling, RowWise, Elementwise>;

struct OperatorShape {
  std::string name;
  Operator op;
};

/// Shapes of what the network computes, then of constants: weights, bias or scale and bias.
std::vector<Sizes> inputShapes(const Operator &op);
std::vector<Sizes> constantShapes(const Operator &op);
Sizes outputShape(const Operator &op);

/// 2 per multiply-accumulate of contractions; 0 for what bandwidth bounds.
double flops(const Operator &op);
/// Of all operands and the result, each once.
double bytes(const Operator &op);
/// How many products each element of a contraction sums; 1 for all else.
int64_t sumLength(const Operator &op);

/// "gemm", "convolution" or "other": what geometric means are taken over.
std::string operatorGroup(const Operator &op);
/// "128x768x3072 gelu", "64x56x56 -> 64, 3x3 relu": sizes for people.
std::string sizesText(const Operator &op);
std::string tailName(Tail tail);

} // namespace autotune::benchmarks
