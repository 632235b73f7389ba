// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks @main once; rewritten operators stay until the end, when plain users have been given their
// conversions.

#include "passes/ApplyLayout.h"

#include "passes/BlockedOps.h"
#include "passes/OpRoles.h"
#include "schedule/Algorithm.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace autotune {
namespace {

/// Width of a panel of the right side of a matrix product, in elements: two vectors where that needs no
/// padding.
int64_t panelWidth(int64_t columns, const Device &device, unsigned elementBits) {
  int64_t lanes = device.vectorBytes() * 8 / std::max(8u, elementBits);
  return columns % (2 * lanes) == 0 ? 2 * lanes : lanes;
}

class LayoutRewriter {
public:
  LayoutRewriter(func::FuncOp main, const Partition &partition, const Device &device)
      : main(main), partition(partition), device(device), builder(main.getContext()) {}

  LogicalResult run() {
    indexSubgraphs();
    SmallVector<Operation *> operators;
    for (Operation &op : main.getBody().front())
      if (op.hasAttr(kOperatorIdAttr))
        operators.push_back(&op);
    for (Operation *op : operators)
      if (failed(visit(op)))
        return failure();
    return finish();
  }

private:
  void indexSubgraphs() {
    for (auto [index, subgraph] : llvm::enumerate(partition.subgraphs))
      for (int id : subgraph.operators)
        subgraphOf[id] = int(index);
  }

  LogicalResult visit(Operation *op) {
    auto id = op->getAttrOfType<IntegerAttr>(kOperatorIdAttr).getInt();
    auto found = subgraphOf.find(int(id));
    if (found == subgraphOf.end())
      return op->emitError("expected operator ") << id << " in the partition";
    index = found->second;
    tag(op);
    const Subgraph &subgraph = partition.subgraphs[index];
    builder.setInsertionPoint(op);
    if (subgraph.channelBlock > 0)
      return visitBlocked(op, subgraph);
    if (winogradOutputs(subgraph.algorithm) > 0)
      return op->emitError("expected channels in blocks under algorithm ") << subgraph.algorithm;
    if (auto matmul = dyn_cast<linalg::MatmulOp>(op);
        matmul && constantValue(matmul.getInputs()[1]) && !updatedValue(cast<linalg::LinalgOp>(op))) {
      auto type = cast<RankedTensorType>(matmul.getResult(0).getType());
      int64_t panel = panelWidth(type.getDimSize(1), device, type.getElementTypeBitWidth());
      panels[index] = panel;
      record(op, blockMatmul(builder, matmul, panel), {1, panel});
      return success();
    }
    if (auto panel = panels.find(index); panel != panels.end())
      return visitPanelTail(op, panel->second);
    return success();
  }

  /// m of F(m x m, 3 x 3) for a convolution of `subgraph`; 0: direct.
  FailureOr<int64_t> winogradOutputsOf(linalg::Conv2DNchwFchwOp conv, const Subgraph &subgraph) {
    int64_t outputs = winogradOutputs(subgraph.algorithm), block = subgraph.channelBlock;
    if (outputs == 0)
      return outputs;
    ArrayRef<int64_t> filters = cast<ShapedType>(conv.getInputs()[1].getType()).getShape();
    if (filters[0] < block || filters[1] < block)
      return conv.emitError("expected at least ")
             << block << " channels in and out under algorithm " << subgraph.algorithm;
    return outputs;
  }

  LogicalResult visitBlocked(Operation *op, const Subgraph &subgraph) {
    int64_t block = subgraph.channelBlock;
    ChannelSplit split{1, block};
    if (layoutRole(op) == LayoutRole::Plain)
      return op->emitError("expected an operator that can compute on blocked channels, found ")
             << operatorKind(op);
    if (auto conv = dyn_cast<linalg::Conv2DNchwFchwOp>(op)) {
      FailureOr<int64_t> outputs = winogradOutputsOf(conv, subgraph);
      if (failed(outputs))
        return failure();
      record(op, blockConv2d(builder, conv, values, block, *outputs), split);
    } else if (isImageOfFewChannels(op, block))
      return success();
    else if (auto depthwise = dyn_cast<linalg::DepthwiseConv2DNchwChwOp>(op))
      record(op, blockDepthwise(builder, depthwise, values, block), split);
    else if (isa<linalg::PoolingNchwMaxOp, linalg::PoolingNchwSumOp>(op))
      record(op, blockPooling(builder, cast<linalg::LinalgOp>(op), values, block), split);
    else if (auto pad = dyn_cast<tensor::PadOp>(op))
      record(op, blockPad(builder, pad, values, block), split);
    else
      record(op, blockGeneric(builder, cast<linalg::GenericOp>(op), values, split), split);
    return success();
  }

  /// An image of a few channels stays plain until its first convolution, which reads it so: blocks would be
  /// mostly zeros.
  bool isImageOfFewChannels(Operation *op, int64_t block) {
    auto isFewPlain = [&](Value input) {
      auto type = dyn_cast<RankedTensorType>(input.getType());
      return !type || (!values.contains(input) && (type.getRank() != 4 || type.getDimSize(1) < block));
    };
    return cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(1) < block &&
           llvm::all_of(op->getOperands(), isFewPlain);
  }

  /// An elementwise tail of a product in panels works on the same panels; other members stay plain.
  LogicalResult visitPanelTail(Operation *op, int64_t panel) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumLoops() != 2 || generic.getNumReductionLoops() != 0)
      return success();
    ChannelSplit split{1, panel};
    if (llvm::none_of(generic.getInputs(), [&](Value input) { return values.contains(input); }))
      return success();
    record(op, blockGeneric(builder, generic, values, split), split);
    return success();
  }

  void tag(Operation *op) { op->setAttr(kSubgraphAttr, builder.getI64IntegerAttr(index)); }

  void record(Operation *op, Operation *blocked, ChannelSplit split) {
    tag(blocked);
    blocked->setAttr(kOperatorIdAttr, op->getAttr(kOperatorIdAttr));
    values.set(op->getResult(0), blocked->getResult(0), split);
    replaced.insert(op);
    replacements.emplace_back(op, blocked->getResult(0), split);
  }

  /// Gives plain users a plain value, then erases what was rewritten.
  LogicalResult finish() {
    for (auto &[op, blocked, split] : replacements) {
      Value plain = op->getResult(0);
      bool needed = llvm::any_of(plain.getUsers(), [&](Operation *user) { return !replaced.contains(user); });
      if (!needed)
        continue;
      builder.setInsertionPointAfterValue(blocked);
      plain.replaceUsesWithIf(
          BlockedValues::unpack(builder, blocked, cast<RankedTensorType>(plain.getType()), split),
          [&](OpOperand &use) { return !replaced.contains(use.getOwner()); });
    }
    for (Operation *op : llvm::reverse(replaced))
      op->erase();
    return success();
  }

  func::FuncOp main;
  const Partition &partition;
  const Device &device;
  OpBuilder builder;
  llvm::DenseMap<int, int> subgraphOf;
  llvm::DenseMap<int, int64_t> panels; // panel width of a subgraph's matrix product
  int index = 0;                       // subgraph of the operator being visited
  BlockedValues values;
  llvm::SetVector<Operation *> replaced;
  SmallVector<std::tuple<Operation *, Value, ChannelSplit>> replacements;
};

} // namespace

LogicalResult applyLayout(func::FuncOp main, const Partition &partition, const Device &device) {
  return LayoutRewriter(main, partition, device).run();
}

} // namespace autotune
