// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over @main: operators in order, tensors as they are met.

#include "passes/ExtractGraph.h"

#include "passes/OpRoles.h"
#include "passes/WinogradFilter.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace autotune {
namespace {

class GraphBuilder {
public:
  Graph graph;

  int tensor(Value value) {
    auto [entry, isNew] = tensors.try_emplace(value, int(graph.tensors.size()));
    if (isNew) {
      auto type = cast<RankedTensorType>(value.getType());
      GraphTensor tensor;
      tensor.shape.assign(type.getShape().begin(), type.getShape().end());
      llvm::raw_string_ostream(tensor.dtype) << type.getElementType();
      tensor.constant = bool(constantValue(value));
      graph.tensors.push_back(std::move(tensor));
    }
    return entry->second;
  }

  void add(Operation *op) {
    GraphOperator node;
    node.id = int(graph.operators.size());
    op->setAttr(kOperatorIdAttr, Builder(op->getContext()).getI64IntegerAttr(node.id));
    node.label = operatorLabel(op);
    node.kind = operatorKind(op);
    node.layout = layoutRole(op);
    node.fusion = fusionRole(op);
    node.flops = operatorFlops(op);
    if (auto conv = dyn_cast<linalg::Conv2DNchwFchwOp>(op))
      node.minimalFiltering = canFilterMinimally(conv);
    for (Value operand : inputsOf(op))
      node.inputs.push_back(tensor(operand));
    node.output = tensor(operatorResult(op));
    graph.tensors[node.output].producer = node.id;
    graph.operators.push_back(std::move(node));
  }

private:
  /// Tensors that carry data into `op`, directly or through scalars computed from them: operands, then what
  /// its regions read of the surrounding function.
  static SmallVector<Value> inputsOf(Operation *op) {
    llvm::SetVector<Value> values(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), values);
    SmallVector<Value> inputs;
    for (size_t i = 0; i < values.size(); ++i) {
      Value value = values[i];
      Operation *maker = value.getDefiningOp();
      bool isData =
          isa<RankedTensorType>(value.getType()) && !isa_and_nonnull<tensor::EmptyOp, linalg::FillOp>(maker);
      if (isData)
        inputs.push_back(value);
      else if (maker)
        values.insert(maker->operand_begin(), maker->operand_end());
    }
    return inputs;
  }

  llvm::DenseMap<Value, int> tensors;
};

} // namespace

std::string operatorLabel(Operation *op) {
  std::string label;
  op->getLoc()->walk([&](Location loc) {
    if (auto name = dyn_cast<NameLoc>(loc)) {
      label = name.getName().str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return label;
}

Graph extractGraph(func::FuncOp main) {
  GraphBuilder builder;
  for (Operation &op : main.getBody().front())
    if (isOperator(&op))
      builder.add(&op);
  for (Value result : main.getBody().front().getTerminator()->getOperands())
    builder.graph.outputs.push_back(builder.tensor(result));
  return std::move(builder.graph);
}

} // namespace autotune
