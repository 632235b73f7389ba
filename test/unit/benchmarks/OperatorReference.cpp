// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/unit/benchmarks/OperatorReference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace autotune::test {
namespace {

using namespace autotune::benchmarks;

double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }

double finished(double x, Tail tail, double bias) {
  switch (tail) {
  case Tail::None:
    return x;
  case Tail::Bias:
    return x + bias;
  case Tail::Relu:
    return std::max(x + bias, 0.0);
  case Tail::Relu6:
    return std::clamp(x + bias, 0.0, 6.0);
  case Tail::HardSwish:
    return (x + bias) * std::clamp(x + bias + 3, 0.0, 6.0) / 6;
  case Tail::Gelu:
    return gelu(x + bias);
  }
  return x;
}

/// Calls `visit(row, column)` for each place of a window on the image that is not padding.
template <typename Visit>
void forWindow(const Convolution &window, int64_t row, int64_t column, const Visit &visit) {
  for (int64_t i = 0; i < window.kernel[0]; ++i)
    for (int64_t j = 0; j < window.kernel[1]; ++j) {
      int64_t h = row * window.stride[0] + i - window.padding[0];
      int64_t w = column * window.stride[1] + j - window.padding[1];
      if (h >= 0 && h < window.height && w >= 0 && w < window.width)
        visit(h * window.width + w, i * window.kernel[1] + j);
    }
}

class Reference {
public:
  explicit Reference(const OperatorData &data) : data(data) {}

  std::vector<double> operator()(const Gemm &gemm) const {
    const std::vector<float> &left = data.inputs[0];
    const std::vector<float> &right = gemm.constantRight ? data.constants[0] : data.inputs[1];
    std::vector<double> result;
    for (int64_t n = 0; n < gemm.batch; ++n)
      for (int64_t i = 0; i < gemm.rows; ++i)
        for (int64_t j = 0; j < gemm.columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < gemm.inner; ++k)
            sum += double(left[(n * gemm.rows + i) * gemm.inner + k]) *
                   right[(n * gemm.inner + k) * gemm.columns + j];
          result.push_back(finished(sum, gemm.tail, bias(gemm.tail, j)));
        }
    return result;
  }

  std::vector<double> operator()(const Convolution &conv) const {
    std::vector<double> result;
    int64_t window = conv.kernel[0] * conv.kernel[1], channels = conv.depthwise ? 1 : conv.channels;
    for (int64_t f = 0; f < conv.filters; ++f)
      for (int64_t i = 0; i < conv.outputHeight(); ++i)
        for (int64_t j = 0; j < conv.outputWidth(); ++j) {
          double sum = 0;
          for (int64_t c = 0; c < channels; ++c) {
            const float *image = &data.inputs[0][(conv.depthwise ? f : c) * conv.height * conv.width];
            const float *weights = &data.constants[0][(f * channels + c) * window];
            forWindow(conv, i, j,
                      [&](int64_t place, int64_t weight) { sum += double(image[place]) * weights[weight]; });
          }
          result.push_back(finished(sum, conv.tail, bias(conv.tail, f)));
        }
    return result;
  }

  std::vector<double> operator()(const Pooling &pool) const {
    Convolution window{pool.channels, pool.height, pool.width, pool.channels};
    window.kernel = {pool.kernel, pool.kernel};
    window.stride = {pool.stride, pool.stride};
    window.padding = {pool.padding, pool.padding};
    bool average = pool.function == Pooling::Function::GlobalAverage;
    if (average)
      window.kernel = {pool.height, pool.width};
    std::vector<double> result;
    for (int64_t c = 0; c < pool.channels; ++c)
      for (int64_t i = 0; i < window.outputHeight(); ++i)
        for (int64_t j = 0; j < window.outputWidth(); ++j) {
          double sum = 0, greatest = -std::numeric_limits<double>::infinity();
          forWindow(window, i, j, [&](int64_t place, int64_t) {
            double value = data.inputs[0][c * pool.height * pool.width + place];
            sum += value;
            greatest = std::max(greatest, value);
          });
          result.push_back(average ? sum / double(pool.height * pool.width) : greatest);
        }
    return result;
  }

  std::vector<double> operator()(const RowWise &rowWise) const {
    std::vector<double> result;
    for (int64_t i = 0; i < rowWise.rows; ++i) {
      const float *begin = &data.inputs[0][i * rowWise.columns];
      std::vector<double> row(begin, begin + rowWise.columns);
      std::vector<double> values = rowWise.function == RowWise::Function::Softmax ? softmax(row) : norm(row);
      result.insert(result.end(), values.begin(), values.end());
    }
    return result;
  }

  std::vector<double> operator()(const Elementwise &elementwise) const {
    std::vector<double> result;
    for (size_t i = 0; i < data.inputs[0].size(); ++i)
      result.push_back(elementwise.function == Elementwise::Function::Add
                           ? double(data.inputs[0][i]) + data.inputs[1][i]
                           : gelu(data.inputs[0][i]));
    return result;
  }

private:
  double bias(Tail tail, int64_t index) const { return tail == Tail::None ? 0 : data.constants[1][index]; }

  static std::vector<double> softmax(std::vector<double> row) {
    double sum = 0;
    for (double &value : row)
      sum += value = std::exp(value);
    for (double &value : row)
      value /= sum;
    return row;
  }

  std::vector<double> norm(std::vector<double> row) const {
    double mean = 0, variance = 0, count = double(row.size());
    for (double value : row)
      mean += value / count;
    for (double value : row)
      variance += (value - mean) * (value - mean) / count;
    for (size_t i = 0; i < row.size(); ++i)
      row[i] = (row[i] - mean) / std::sqrt(variance + kLayerNormEpsilon) * data.constants[0][i] +
               data.constants[1][i];
    return row;
  }

  const OperatorData &data;
};

} // namespace

std::vector<double> referenceResult(const Operator &op, const OperatorData &data) {
  return std::visit(Reference(data), op);
}

} // namespace autotune::test
