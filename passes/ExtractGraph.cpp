// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One pass over @main: operators in order, tensors as they are met.

#include "passes/ExtractGraph.h"

#include "passes/OpRoles.h"

#include "llvm/ADT/DenseMap.h"
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
    for (Value operand : inputsOf(op))
      node.inputs.push_back(tensor(operand));
    node.output = tensor(op->getResult(0));
    graph.tensors[node.output].producer = node.id;
    graph.operators.push_back(std::move(node));
  }

private:
  /// Tensors that carry data into `op`: no inits, no scalars, no shape operands.
  static SmallVector<Value> inputsOf(Operation *op) {
    SmallVector<Value> inputs;
    OperandRange operands = op->getOperands();
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      operands = operands.take_front(linalgOp.getNumDpsInputs());
    for (Value operand : operands)
      if (isa<RankedTensorType>(operand.getType()) && !operand.getDefiningOp<tensor::EmptyOp>())
        inputs.push_back(operand);
    op->walk([&](tensor::ExtractOp extract) {
      if (extract.getTensor().getParentRegion() != extract->getParentRegion())
        inputs.push_back(extract.getTensor());
    });
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
