// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates tensors op by op: data movement natively, linalg ops by running their body.
#include "frontend/ConstantEvaluator.h"

#include "dialect/Decompose.h"
#include "frontend/ImportContext.h"
#include "frontend/ScalarProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace autotune {

namespace {

// A folded tensor becomes part of the artifact: larger ones are better computed at run time.
constexpr int64_t kMaxFoldedBytes = int64_t(256) << 20;

class Evaluator {
public:
  explicit Evaluator(int64_t &budget) : budget(budget) {}

  std::map<const void *, ConstantTensor> values;

  bool evaluate(mlir::Operation &op);
  const ConstantTensor *find(mlir::Value value) const {
    auto it = values.find(value.getAsOpaquePointer());
    return it == values.end() ? nullptr : &it->second;
  }

private:
  bool set(mlir::Value value, ConstantTensor tensor) {
    values.insert_or_assign(value.getAsOpaquePointer(), std::move(tensor));
    return true;
  }
  bool spend(int64_t amount) { return (budget -= amount) >= 0; }
  bool constant(mlir::arith::ConstantOp op);
  bool concat(mlir::tensor::ConcatOp op);
  bool pad(mlir::tensor::PadOp op);
  bool structured(mlir::linalg::LinalgOp op);
  bool idea(mlir::Operation &op);

  int64_t &budget;
};

llvm::ArrayRef<int64_t> shapeOfType(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Writes `source` into `target` (of `shape`) with its first element at `offset`.
void copyInto(const ConstantTensor &source, std::vector<char> &target, llvm::ArrayRef<int64_t> shape,
              llvm::ArrayRef<int64_t> offset) {
  unsigned width = byteSize(source.type());
  Shape strides = rowMajorStrides(shape), index(shape.size(), 0);
  for (int64_t i = 0, e = source.size(); i < e; ++i) {
    int64_t position = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis)
      position += (offset[axis] + index[axis]) * strides[axis];
    std::memcpy(target.data() + position * width, source.element(i), width);
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 1;
         axis >= 0 && ++index[axis] == source.shape()[axis]; --axis)
      index[axis] = 0;
  }
}

/// The tensor refers to the bytes of the attribute, which live as long as the context.
ConstantTensor fromAttribute(mlir::DenseElementsAttr attribute) {
  llvm::ArrayRef<int64_t> shape = attribute.getType().getShape();
  ElementType type = fromMlirType(attribute.getElementType());
  if (type == ElementType::Bool) {
    auto bits = attribute.getValues<bool>();
    return ConstantTensor::own(type, shape, std::vector<char>(bits.begin(), bits.end()));
  }
  llvm::ArrayRef<char> bytes = attribute.getRawData();
  return attribute.isSplat() ? ConstantTensor::splat(type, shape, bytes) : ConstantTensor::view(type, shape, bytes);
}

bool Evaluator::constant(mlir::arith::ConstantOp op) {
  mlir::Type type = op.getType();
  if (auto dense = mlir::dyn_cast<mlir::DenseElementsAttr>(op.getValue()))
    return set(op, fromAttribute(dense));
  if (!type.isIntOrFloat())
    return true; // an index, used inside bodies only
  ElementType element = fromMlirType(type);
  std::vector<char> bytes(byteSize(element));
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(op.getValue()))
    storeFloat(bytes.data(), element, number.getValueAsDouble());
  else
    storeInt(bytes.data(), element, mlir::cast<mlir::IntegerAttr>(op.getValue()).getValue().getSExtValue());
  return set(op, ConstantTensor::own(element, {}, std::move(bytes)));
}

bool Evaluator::concat(mlir::tensor::ConcatOp op) {
  llvm::ArrayRef<int64_t> shape = shapeOfType(op.getResult());
  ElementType type = find(op.getOperand(0))->type();
  if (!spend(elementCount(shape)))
    return false;
  std::vector<char> bytes(elementCount(shape) * byteSize(type));
  Shape offset(shape.size(), 0);
  for (mlir::Value operand : op.getInputs()) {
    copyInto(*find(operand), bytes, shape, offset);
    offset[op.getDim()] += shapeOfType(operand)[op.getDim()];
  }
  return set(op, ConstantTensor::own(type, shape, std::move(bytes)));
}

bool Evaluator::pad(mlir::tensor::PadOp op) {
  llvm::ArrayRef<int64_t> shape = shapeOfType(op.getResult());
  mlir::Value padding = op.getConstantPaddingValue();
  const ConstantTensor *number = padding ? find(padding) : nullptr;
  if (!number || !spend(elementCount(shape)))
    return false;
  unsigned width = byteSize(number->type());
  std::vector<char> bytes(elementCount(shape) * width);
  for (size_t i = 0; i < bytes.size(); i += width)
    std::memcpy(bytes.data() + i, number->element(0), width);
  copyInto(*find(op.getSource()), bytes, shape, op.getStaticLow());
  return set(op.getResult(), ConstantTensor::own(number->type(), shape, std::move(bytes)));
}

/// How the position in an operand changes with each loop: its indexing map is linear.
struct Access {
  Shape strides;
  int64_t position = 0;
};

std::optional<Access> accessOf(mlir::AffineMap map, llvm::ArrayRef<int64_t> shape, size_t loops) {
  bool linear = true;
  map.walkExprs([&](mlir::AffineExpr e) {
    using K = mlir::AffineExprKind;
    linear &= e.getKind() != K::Mod && e.getKind() != K::FloorDiv && e.getKind() != K::CeilDiv;
  });
  if (!linear)
    return std::nullopt;
  Shape tensorStrides = rowMajorStrides(shape);
  auto positionAt = [&](llvm::ArrayRef<int64_t> point) {
    int64_t position = 0;
    for (auto [index, stride] : llvm::zip(map.compose(point), tensorStrides))
      position += index * stride;
    return position;
  };
  Access access;
  Shape point(loops, 0);
  access.position = positionAt(point);
  for (size_t loop = 0; loop < loops; ++loop) {
    point[loop] = 1;
    access.strides.push_back(positionAt(point) - access.position);
    point[loop] = 0;
  }
  return access;
}

bool Evaluator::structured(mlir::linalg::LinalgOp op) {
  llvm::SmallVector<int64_t, 4> ranges = op.getStaticLoopRanges();
  auto program = ScalarProgram::compile(*op.getBlock(), [&](mlir::Value value) { return find(value); });
  int64_t iterations = 1;
  for (int64_t range : ranges)
    if (llvm::MulOverflow(iterations, range, iterations))
      return false;
  if (!program || iterations > budget || !spend(iterations * (program->stepCount() + 2)))
    return false;
  llvm::SmallVector<Access> accesses;
  for (mlir::OpOperand &operand : op->getOpOperands()) {
    bool scalar = op.isScalar(&operand);
    auto access = accessOf(op.getMatchingIndexingMap(&operand),
                           scalar ? llvm::ArrayRef<int64_t>() : shapeOfType(operand.get()), ranges.size());
    if (!access || !find(operand.get()))
      return false;
    accesses.push_back(*access);
  }
  size_t inputs = op.getNumDpsInputs(), outputs = op.getNumDpsInits();
  std::vector<std::vector<char>> buffers;
  llvm::SmallVector<unsigned> widths;
  for (mlir::Value init : op.getDpsInits()) {
    const ConstantTensor &start = *find(init);
    widths.push_back(byteSize(start.type()));
    std::vector<char> &buffer = buffers.emplace_back(start.size() * widths.back());
    copyInto(start, buffer, start.shape(), Shape(start.rank(), 0));
  }
  llvm::SmallVector<const ConstantTensor *> sources;
  for (mlir::Value input : op.getDpsInputs())
    sources.push_back(find(input));
  Shape index(ranges.size(), 0);
  for (int64_t i = 0; i < iterations; ++i) {
    for (size_t k = 0; k < inputs; ++k)
      program->setArgument(k, sources[k]->element(accesses[k].position));
    for (size_t k = 0; k < outputs; ++k)
      program->setArgument(inputs + k, buffers[k].data() + accesses[inputs + k].position * widths[k]);
    program->run(index);
    for (size_t k = 0; k < outputs; ++k)
      program->storeResult(k, buffers[k].data() + accesses[inputs + k].position * widths[k]);
    for (int64_t loop = static_cast<int64_t>(ranges.size()) - 1; loop >= 0; --loop) {
      bool wraps = ++index[loop] == ranges[loop];
      for (Access &access : accesses)
        access.position += access.strides[loop] * (wraps ? 1 - ranges[loop] : 1);
      if (!wraps)
        break;
      index[loop] = 0;
    }
  }
  for (size_t k = 0; k < outputs; ++k) {
    const ConstantTensor &start = *find(op.getDpsInits()[k]);
    set(op->getResult(k), ConstantTensor::own(start.type(), start.shape(), std::move(buffers[k])));
  }
  return true;
}

/// Its pieces are put before it and evaluated.
bool Evaluator::idea(mlir::Operation &op) {
  mlir::OpBuilder builder(&op);
  mlir::Operation *before = op.getPrevNode();
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> pieces = decomposeIdea(builder, &op);
  if (failed(pieces))
    return false;
  mlir::Operation *piece = before ? before->getNextNode() : &op.getBlock()->front();
  for (; piece != &op; piece = piece->getNextNode())
    if (!evaluate(*piece))
      return false;
  for (auto [result, value] : llvm::zip_equal(op.getResults(), *pieces))
    set(result, *find(value));
  return true;
}

bool Evaluator::evaluate(mlir::Operation &op) {
  for (mlir::Value result : op.getResults())
    if (auto type = mlir::dyn_cast<mlir::RankedTensorType>(result.getType())) {
      auto bytes = checkedByteCount(type.getShape(), fromMlirType(type.getElementType()));
      if (!bytes || *bytes > kMaxFoldedBytes)
        return false;
    }
  if (mlir::isa<mlir::arith::ConstantOp>(op))
    return constant(mlir::cast<mlir::arith::ConstantOp>(op));
  for (mlir::Value operand : op.getOperands())
    if (!find(operand))
      return false;
  return llvm::TypeSwitch<mlir::Operation *, bool>(&op)
      .Case([&](mlir::tensor::EmptyOp empty) {
        ElementType type = fromMlirType(empty.getType().getElementType());
        const char zero[8] = {};
        return set(empty, ConstantTensor::splat(type, empty.getType().getShape(), {zero, byteSize(type)}));
      })
      .Case([&](mlir::linalg::FillOp fill) {
        const ConstantTensor &value = *find(fill.getInputs()[0]);
        return set(fill.getResult(0),
                   ConstantTensor::splat(value.type(), shapeOfType(fill.getResult(0)), value.rawData()));
      })
      .Case<mlir::tensor::CollapseShapeOp, mlir::tensor::ExpandShapeOp>([&](auto view) {
        return set(view.getResult(), find(view.getSrc())->reshaped(shapeOfType(view.getResult())));
      })
      .Case([&](mlir::tensor::ExtractSliceOp slice) {
        return spend(elementCount(slice.getType().getShape())) &&
               set(slice,
                   find(slice.getSource())
                       ->sliced(slice.getStaticOffsets(), slice.getStaticSizes(), slice.getStaticStrides()));
      })
      .Case([&](mlir::linalg::TransposeOp transpose) {
        const ConstantTensor &source = *find(transpose.getInput());
        return spend(source.size()) &&
               set(transpose->getResult(0), source.transposed(transpose.getPermutation()));
      })
      .Case([&](mlir::tensor::ConcatOp op) { return concat(op); })
      .Case([&](mlir::tensor::PadOp op) { return pad(op); })
      .Case([&](mlir::linalg::LinalgOp op) { return structured(op); })
      .Default([&](mlir::Operation *other) { return isIdea(other) && idea(*other); });
}

} // namespace

bool evaluateResults(NodeContext &node, mlir::Block &scratch) {
  Evaluator evaluator(node.importContext().budget.foldingSteps);
  for (mlir::BlockArgument argument : scratch.getArguments())
    evaluator.values.emplace(argument.getAsOpaquePointer(),
                             node.scratchArguments().at(argument.getArgNumber()));
  for (mlir::Operation &op : scratch)
    if (!evaluator.evaluate(op))
      return false;
  for (auto &result : node.results) {
    if (!result || result->constant)
      continue;
    const ConstantTensor *value = evaluator.find(result->value);
    if (!value || value->byteCount() > node.importContext().budget.constantBytesLeft())
      return false;
    result->constant = value->withType(result->type);
    result->value = nullptr;
  }
  return true;
}

std::optional<std::vector<ConstantTensor>> evaluateFunction(mlir::func::FuncOp function,
                                                            llvm::ArrayRef<ConstantTensor> arguments) {
  int64_t budget = int64_t(1) << 30;
  Evaluator evaluator(budget);
  for (auto [argument, value] : llvm::zip_equal(function.getArguments(), arguments))
    evaluator.values.emplace(argument.getAsOpaquePointer(), value);
  for (mlir::Operation &op : function.front().without_terminator())
    if (!evaluator.evaluate(op))
      return std::nullopt;
  std::vector<ConstantTensor> results;
  for (mlir::Value result : function.front().getTerminator()->getOperands())
    results.push_back(*evaluator.find(result));
  return results;
}

} // namespace autotune
