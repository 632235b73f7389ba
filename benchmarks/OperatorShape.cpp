// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/OperatorShape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace autotune::benchmarks {
namespace {

template <typename... Cases> struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases> Overloaded(Cases...) -> Overloaded<Cases...>;

double count(const Sizes &shape) {
  double product = 1;
  for (int64_t size : shape)
    product *= double(size);
  return product;
}

std::string joined(const Sizes &shape) {
  return llvm::join(llvm::map_range(shape, [](int64_t size) { return std::to_string(size); }), "x");
}

Sizes matrix(const Gemm &gemm, int64_t rows, int64_t columns) {
  return gemm.batch == 1 ? Sizes{rows, columns} : Sizes{gemm.batch, rows, columns};
}

void addBias(std::vector<Sizes> &constants, Tail tail, int64_t size) {
  if (tail != Tail::None)
    constants.push_back({size});
}

std::string windowText(const Convolution &conv) {
  std::string text = joined({conv.kernel[0], conv.kernel[1]});
  if (conv.stride != std::array<int64_t, 2>{1, 1})
    text += " stride " + (conv.stride[0] == conv.stride[1] ? std::to_string(conv.stride[0])
                                                           : joined({conv.stride[0], conv.stride[1]}));
  return text;
}

} // namespace

Sizes Convolution::weightShape() const {
  return depthwise ? Sizes{filters, kernel[0], kernel[1]} : Sizes{filters, channels, kernel[0], kernel[1]};
}

int64_t Pooling::outputHeight() const {
  return function == Function::GlobalAverage ? 1 : (height + 2 * padding - kernel) / stride + 1;
}

int64_t Pooling::outputWidth() const {
  return function == Function::GlobalAverage ? 1 : (width + 2 * padding - kernel) / stride + 1;
}

std::vector<Sizes> inputShapes(const Operator &op) {
  return std::visit(
      Overloaded{
          [](const Gemm &gemm) {
            std::vector<Sizes> shapes = {matrix(gemm, gemm.rows, gemm.inner)};
            if (!gemm.constantRight)
              shapes.push_back(matrix(gemm, gemm.inner, gemm.columns));
            return shapes;
          },
          [](const Convolution &conv) {
            return std::vector<Sizes>{{1, conv.channels, conv.height, conv.width}};
          },
          [](const Pooling &pool) { return std::vector<Sizes>{{1, pool.channels, pool.height, pool.width}}; },
          [](const RowWise &rowWise) { return std::vector<Sizes>{{rowWise.rows, rowWise.columns}}; },
          [](const Elementwise &elementwise) {
            size_t operands = elementwise.function == Elementwise::Function::Add ? 2 : 1;
            return std::vector<Sizes>(operands, elementwise.shape);
          }},
      op);
}

std::vector<Sizes> constantShapes(const Operator &op) {
  std::vector<Sizes> shapes;
  if (auto *gemm = std::get_if<Gemm>(&op)) {
    if (gemm->constantRight)
      shapes.push_back(matrix(*gemm, gemm->inner, gemm->columns));
    addBias(shapes, gemm->tail, gemm->columns);
  } else if (auto *conv = std::get_if<Convolution>(&op)) {
    shapes.push_back(conv->weightShape());
    addBias(shapes, conv->tail, conv->filters);
  } else if (auto *rowWise = std::get_if<RowWise>(&op);
             rowWise && rowWise->function == RowWise::Function::LayerNorm) {
    shapes.assign(2, {rowWise->columns});
  }
  return shapes;
}

Sizes outputShape(const Operator &op) {
  return std::visit(Overloaded{[](const Gemm &gemm) { return matrix(gemm, gemm.rows, gemm.columns); },
                               [](const Convolution &conv) {
                                 return Sizes{1, conv.filters, conv.outputHeight(), conv.outputWidth()};
                               },
                               [](const Pooling &pool) {
                                 return Sizes{1, pool.channels, pool.outputHeight(), pool.outputWidth()};
                               },
                               [](const RowWise &rowWise) { return Sizes{rowWise.rows, rowWise.columns}; },
                               [](const Elementwise &elementwise) { return elementwise.shape; }},
                    op);
}

int64_t sumLength(const Operator &op) {
  if (auto *gemm = std::get_if<Gemm>(&op))
    return gemm->inner;
  if (auto *conv = std::get_if<Convolution>(&op))
    return int64_t(count(conv->weightShape())) / conv->filters;
  return 1;
}

double flops(const Operator &op) {
  bool contracts = std::holds_alternative<Gemm>(op) || std::holds_alternative<Convolution>(op);
  return contracts ? 2 * count(outputShape(op)) * double(sumLength(op)) : 0;
}

double bytes(const Operator &op) {
  double elements = count(outputShape(op));
  for (const Sizes &shape : inputShapes(op))
    elements += count(shape);
  for (const Sizes &shape : constantShapes(op))
    elements += count(shape);
  return elements * sizeof(float);
}

std::string operatorGroup(const Operator &op) {
  if (std::holds_alternative<Gemm>(op))
    return "gemm";
  return std::holds_alternative<Convolution>(op) ? "convolution" : "other";
}

std::string tailName(Tail tail) {
  static const char *names[] = {"", "bias", "relu", "relu6", "hard_swish", "gelu"};
  return names[size_t(tail)];
}

std::string sizesText(const Operator &op) {
  std::string text = std::visit(
      Overloaded{
          [](const Gemm &gemm) {
            std::string batch = gemm.batch == 1 ? "" : std::to_string(gemm.batch) + " of ";
            return batch + joined({gemm.rows, gemm.inner, gemm.columns}) + " " + tailName(gemm.tail);
          },
          [](const Convolution &conv) {
            std::string target = conv.depthwise ? "depthwise" : "-> " + std::to_string(conv.filters);
            return llvm::formatv("{0} {1}, {2} {3}", joined({conv.channels, conv.height, conv.width}), target,
                                 windowText(conv), tailName(conv.tail))
                .str();
          },
          [](const Pooling &pool) {
            std::string sizes = joined({pool.channels, pool.height, pool.width});
            if (pool.function == Pooling::Function::GlobalAverage)
              return sizes + " global average";
            return llvm::formatv("{0} maximum, {1}x{1} stride {2}", sizes, pool.kernel, pool.stride).str();
          },
          [](const RowWise &rowWise) {
            bool softmax = rowWise.function == RowWise::Function::Softmax;
            return joined({rowWise.rows, rowWise.columns}) + (softmax ? " softmax" : " layer norm");
          },
          [](const Elementwise &elementwise) {
            bool add = elementwise.function == Elementwise::Function::Add;
            return joined(elementwise.shape) + (add ? " add" : " gelu");
          }},
      op);
  return llvm::StringRef(text).rtrim().str();
}

} // namespace autotune::benchmarks
