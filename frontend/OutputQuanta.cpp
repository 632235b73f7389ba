// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the scales of quantised outputs in the graph.
#include "frontend/OutputQuanta.h"

#include "frontend/ConstantTensor.h"
#include "frontend/OnnxModel.h"
#include "frontend/OnnxProto.h"
#include "frontend/TensorProto.h"

#include "llvm/Support/MemoryBuffer.h"

namespace autotune {

namespace {

bool movesElements(llvm::StringRef op) {
  constexpr llvm::StringLiteral kMoves[] = {"Flatten", "Identity",  "Reshape",  "Slice",
                                            "Squeeze", "Transpose", "Unsqueeze"};
  return llvm::is_contained(kMoves, op);
}

class QuantumFinder {
public:
  explicit QuantumFinder(const onnx::GraphProto &graph) {
    for (const onnx::TensorProto &tensor : graph.initializer())
      initializers[tensor.name()] = &tensor;
    for (const onnx::NodeProto &node : graph.node()) {
      for (const std::string &output : node.output())
        producers[output] = &node;
      if (node.op_type() == "QuantizeLinear" && node.input_size() > 1)
        quantizers[node.input(0)] = &node;
    }
  }

  std::optional<double> quantumOf(llvm::StringRef name) const {
    if (const onnx::NodeProto *reader = quantizers.lookup(name))
      return scaleOf(*reader);
    const onnx::NodeProto *node = producers.lookup(name);
    // Broken models have cycles; no chain is longer than the graph.
    for (size_t steps = 0; node && steps < producers.size(); ++steps) {
      if (node->op_type() == "DequantizeLinear" && node->input_size() > 1)
        return scaleOf(*node);
      if (!movesElements(node->op_type()) || node->input_size() == 0)
        return std::nullopt;
      node = producers.lookup(node->input(0));
    }
    return std::nullopt;
  }

private:
  std::optional<double> scaleOf(const onnx::NodeProto &node) const {
    const onnx::TensorProto *proto = initializers.lookup(node.input(1));
    if (!proto)
      return std::nullopt;
    llvm::Expected<ConstantTensor> scale = toConstant(*proto, /*external=*/nullptr);
    if (!scale) {
      llvm::consumeError(scale.takeError());
      return std::nullopt;
    }
    if (scale->size() != 1 || !isFloat(scale->type()) || !(scale->floatAt(0) > 0))
      return std::nullopt;
    return scale->floatAt(0);
  }

  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringMap<const onnx::NodeProto *> producers, quantizers;
};

} // namespace

llvm::StringMap<double> outputQuanta(const onnx::ModelProto &model) {
  QuantumFinder finder(model.graph());
  llvm::StringMap<double> quanta;
  for (const onnx::ValueInfoProto &output : model.graph().output())
    if (std::optional<double> quantum = finder.quantumOf(output.name()))
      quanta[output.name()] = *quantum;
  return quanta;
}

llvm::StringMap<double> readOutputQuanta(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return {};
  auto model = parseOnnxModel((*buffer)->getBuffer());
  if (!model) {
    llvm::consumeError(model.takeError());
    return {};
  }
  return outputQuanta(**model);
}

} // namespace autotune
