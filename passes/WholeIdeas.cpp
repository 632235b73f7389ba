// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses, describes and emits; one tile of each idea is in EmitRows.cpp, EmitAttention.cpp and
// EmitRecurrence.cpp.

#include "passes/WholeIdeas.h"

#include "dialect/Decompose.h"
#include "passes/Decompose.h"
#include "passes/IdeaTiles.h"
#include "passes/NestLoops.h"
#include "passes/OpRoles.h"
#include "passes/TileNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace autotune {
namespace {

/// Shorter rows do not fill vectors: in pieces, several of them share one.
constexpr int64_t kShortestRow = 16;
/// Lanes are rows of the query: with fewer of them most would be empty.
constexpr int64_t kFewestQueries = 8;

bool isSingle(Value tensor) { return elementOf(tensor).isF32() && !llvm::is_contained(shapeOf(tensor), 0); }

/// One number, or one for each position of the last axis of `shape`.
bool isParameterOfRow(Value tensor, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = shapeOf(tensor);
  bool isRow = own.empty() || llvm::all_of(own.drop_back(), [](int64_t extent) { return extent == 1; });
  return isRow && (own.empty() || own.back() == 1 || own.back() == shape.back());
}

bool isTakenWhole(LayerNormOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  if (op.getAxes().size() != 1 || op.getAxes()[0] + 1 != static_cast<int64_t>(shape.size()))
    return false;
  return isSingle(op.getInput()) && shape.back() >= kShortestRow &&
         (!op.getScale() || isParameterOfRow(op.getScale(), shape)) &&
         (!op.getBias() || isParameterOfRow(op.getBias(), shape));
}

bool isTakenWhole(linalg::SoftmaxOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getInput().getType());
  return type && type.hasStaticShape() && op.hasPureTensorSemantics() && isSingle(op.getInput()) &&
         static_cast<int64_t>(op.getDimension()) + 1 == type.getRank() &&
         type.getShape().back() >= kShortestRow;
}

/// What differs by row differs by column as well: then it is read along the columns.
bool isReadable(Value operand) {
  ArrayRef<int64_t> shape = shapeOf(operand);
  return shape.size() < 2 || shape[shape.size() - 2] == 1 || shape.back() != 1;
}

bool isTakenWhole(AttentionOp op) {
  SmallVector<int64_t> query = op.getQueryShape();
  int64_t last = static_cast<int64_t>(query.size()) - 1;
  // Vectors are read and written along the last axis.
  auto keepsLast = [&](std::optional<ArrayRef<int64_t>> order) { return !order || order->back() == last; };
  return isSingle(op.getQuery()) && isSingle(op.getKey()) && isSingle(op.getValue()) &&
         keepsLast(op.getQueryOrder()) && keepsLast(op.getResultOrder()) &&
         query[last - 1] >= kFewestQueries && (!op.getBias() || isReadable(op.getBias())) &&
         (!op.getMask() || isReadable(op.getMask()));
}

bool isTakenWhole(RecurrenceOp op) { return isSingle(op.getInput()); }

/// What may stand beside an idea in its kernel: slices, tensors without data of their own, numbers.
bool isReadAsItIs(Operation *op) {
  return isa<func::ReturnOp, tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::EmptyOp, linalg::FillOp,
             arith::ConstantOp>(op);
}

/// An array read at sums of loops, seen through the slice that a kernel argument is read as.
OperandInfo describeArray(Value value, std::vector<std::vector<IndexTerm>> index) {
  OperandInfo info;
  info.offsets.assign(shapeOf(value).size(), 0);
  info.index = std::move(index);
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
    llvm::copy(slice.getStaticOffsets(), info.offsets.begin());
    value = slice.getSource();
  }
  info.shape.assign(shapeOf(value).begin(), shapeOf(value).end());
  llvm::raw_string_ostream(info.dtype) << elementOf(value);
  return info;
}

/// Loop `first + axis` for each axis; nothing where the operand broadcasts.
std::vector<std::vector<IndexTerm>> alongLoops(Value operand, ArrayRef<int> loops) {
  ArrayRef<int64_t> shape = shapeOf(operand);
  std::vector<std::vector<IndexTerm>> index(shape.size());
  for (size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != 1)
      index[axis] = {{loops[loops.size() - shape.size() + axis], 1}};
  return index;
}

void describeRows(Operation *idea, Value input, ArrayRef<Value> parameters, Workload &workload) {
  workload.opClass = OpClass::Normalization;
  SmallVector<int> loops;
  for (int64_t extent : shapeOf(input)) {
    loops.push_back(static_cast<int>(loops.size()));
    workload.dims.push_back({extent, loops.size() == shapeOf(input).size()});
  }
  workload.inputs.push_back(describeArray(input, alongLoops(input, loops)));
  for (Value parameter : parameters)
    if (parameter)
      workload.inputs.push_back(describeArray(parameter, alongLoops(parameter, loops)));
  workload.output = describeArray(idea->getResult(0), alongLoops(input, loops));
}

void describeAttention(AttentionOp op, Workload &workload) {
  workload.opClass = OpClass::Attention;
  SmallVector<int64_t> query = op.getQueryShape(), value = op.getValueShape();
  SmallVector<int> batch;
  for (int64_t extent : ArrayRef<int64_t>(query).drop_back(2)) {
    batch.push_back(static_cast<int>(batch.size()));
    workload.dims.push_back({extent, false});
  }
  int rows = static_cast<int>(batch.size()), width = rows + 1, columns = rows + 2, depth = rows + 3;
  workload.dims.push_back({query[rows], false});
  workload.dims.push_back({value.back(), false});
  workload.dims.push_back({value[rows], true});
  workload.dims.push_back({query.back(), true});
  auto array = [&](Value tensor, std::optional<ArrayRef<int64_t>> order, int row, int element) {
    SmallVector<int> loops(batch);
    loops.append({row, element});
    std::vector<std::vector<IndexTerm>> index(loops.size());
    for (size_t axis = 0; axis < loops.size(); ++axis)
      index[order ? static_cast<size_t>((*order)[axis]) : axis] = {{loops[axis], 1}};
    return describeArray(tensor, std::move(index));
  };
  workload.inputs.push_back(array(op.getQuery(), op.getQueryOrder(), rows, depth));
  workload.inputs.push_back(array(op.getKey(), op.getKeyOrder(), columns, depth));
  workload.inputs.push_back(array(op.getValue(), op.getValueOrder(), columns, width));
  SmallVector<int> scores(batch);
  scores.append({rows, columns});
  for (Value operand : {op.getBias(), op.getMask()})
    if (operand)
      workload.inputs.push_back(describeArray(operand, alongLoops(operand, scores)));
  workload.output = array(op.getResult(), op.getResultOrder(), rows, width);
}

/// Loops (direction, row, unit | step, number of the state, gate).
void describeRecurrence(RecurrenceOp op, Workload &workload) {
  enum { Way, Row, Unit, Step, Depth, Gate };
  using Index = std::vector<std::vector<IndexTerm>>;
  workload.opClass = OpClass::Recurrence;
  int64_t hidden = op.getHidden();
  workload.dims = {{op.getDirections(), false}, {op.getBatch(), false}, {hidden, false},
                   {op.getSteps(), true},       {hidden, true},         {op.getGates(), true}};
  std::vector<IndexTerm> gateOfUnit = {{Gate, hidden}, {Unit, 1}};
  Index weight = {{{Way, 1}}, {{Depth, 1}}, gateOfUnit};
  if (op.getBlock() > 0)
    weight = {{{Way, 1}}, {{Unit, 1}}, {{Depth, 1}}, {{Gate, 1}}, {{Unit, 1}}};
  Index state = {{{Way, 1}}, {{Row, 1}}, {{Unit, 1}}};
  workload.inputs.push_back(describeArray(op.getInput(), {{{Step, 1}}, {{Row, 1}}, {{Way, 1}}, gateOfUnit}));
  workload.inputs.push_back(describeArray(op.getWeight(), weight));
  for (Value given : {op.getInitialHidden(), op.getInitialCell()})
    if (given)
      workload.inputs.push_back(describeArray(given, state));
  workload.output = describeArray(op.getResult(), {{{Step, 1}}, {{Way, 1}}, {{Row, 1}}, {{Unit, 1}}});
}

/// Where the kernel stores the result of its idea: the destination, or the part of it that the result
/// becomes.
Value destinationOf(OpBuilder &b, func::FuncOp kernel, Operation *idea) {
  Value dest = kernel.getArguments().back();
  SmallVector<tensor::InsertSliceOp> inserts;
  Value value = kernel.getBody().front().getTerminator()->getOperand(0);
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
    inserts.push_back(insert);
    value = insert.getSource();
  }
  for (tensor::InsertSliceOp insert : inserts)
    dest = b.create<tensor::ExtractSliceOp>(insert.getLoc(), insert.getSourceType(), dest,
                                            insert.getMixedOffsets(), insert.getMixedSizes(),
                                            insert.getMixedStrides());
  return dest;
}

Value valueOf(Builder &b, OpFoldResult index) {
  if (auto constant = getConstantIntValue(index))
    return constantIndex(b, *constant);
  return cast<Value>(index);
}

/// The step of the innermost loop over `dim`, or its extent.
int64_t innermostStep(const LoopNest &nest, int dim, int64_t extent) {
  for (const TileLoop &loop : nest.tiles)
    if (loop.dim == dim)
      extent = std::min(extent, loop.step);
  return extent;
}

int64_t widthOf(const LoopNest &nest, int dim, int64_t otherwise) {
  for (const ReductionLoop &loop : nest.reductions)
    if (loop.dim == dim)
      return loop.unroll;
  return otherwise;
}

FailureOr<Value> emitAttention(Builder &b, func::FuncOp kernel, AttentionOp op, const Workload &shape,
                               const LoopNest &nest, Value dest) {
  int width = static_cast<int>(shape.dims.size()) - 3, rows = width - 1;
  AttentionTiling tiling;
  tiling.rows = innermostStep(nest, rows, shape.dims[rows].extent);
  tiling.values = innermostStep(nest, width, shape.dims[width].extent);
  tiling.columns = widthOf(nest, width + 1, shape.dims[width + 1].extent);
  AttentionTile tile(b, op, tiling);
  LoopNest outer = nest;
  llvm::erase_if(outer.tiles, [&](const TileLoop &loop) { return loop.dim == width; });
  SmallVector<int64_t> sizes;
  for (int dim = 0; dim < width; ++dim)
    sizes.push_back(shape.dims[dim].extent);
  return emitNestLoops(b, kernel, outer, sizes, dest,
                       [&](OpBuilder &at, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> tileSizes,
                           Value into) -> FailureOr<Value> {
                         Builder inner(op.getLoc(), at);
                         Indices batch;
                         for (OpFoldResult offset : offsets.drop_back())
                           batch.push_back(valueOf(inner, offset));
                         return tile.emit(inner, batch, valueOf(inner, offsets.back()), tileSizes.back(),
                                          into);
                       });
}

/// The first loop may share directions or rows; tiles inside the steps are the emitter's.
FailureOr<Value> emitRecurrence(Builder &b, func::FuncOp kernel, RecurrenceOp op, const LoopNest &nest,
                                Value dest) {
  RecurrenceTiling tiling;
  tiling.rows = innermostStep(nest, 1, op.getBatch());
  tiling.units = innermostStep(nest, 2, op.getHidden());
  tiling.depth = widthOf(nest, 4, op.getHidden());
  LoopNest outer = nest;
  if (nest.parallel)
    outer.tiles.resize(1);
  else
    outer.tiles.clear();
  int64_t mostRows = op.getBatch();
  for (const TileLoop &loop : outer.tiles)
    if (loop.dim == 1)
      mostRows = loop.step;
  outer.tiles.push_back({0, 1});
  RecurrenceTile tile(b, op, mostRows, tiling);
  return emitNestLoops(b, kernel, outer, {op.getDirections(), op.getBatch()}, dest,
                       [&](OpBuilder &at, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> tileSizes,
                           Value into) -> FailureOr<Value> {
                         Builder inner(op.getLoc(), at);
                         return tile.emit(inner, valueOf(inner, offsets[0]), valueOf(inner, offsets[1]),
                                          tileSizes[1], into);
                       });
}

FailureOr<Value> emitRows(Builder &b, func::FuncOp kernel, Operation *idea, const Workload &shape,
                          const LoopNest &nest, Value dest) {
  int row = static_cast<int>(shape.dims.size()) - 1;
  int64_t lanes = widthOf(nest, row, kShortestRow);
  SmallVector<int64_t> sizes;
  for (int dim = 0; dim < row; ++dim)
    sizes.push_back(shape.dims[dim].extent);
  auto emitTile = [&](OpBuilder &at, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t>,
                      Value into) -> FailureOr<Value> {
    Builder inner(idea->getLoc(), at);
    Indices outer;
    for (OpFoldResult offset : offsets)
      outer.push_back(valueOf(inner, offset));
    if (auto softmax = dyn_cast<linalg::SoftmaxOp>(idea))
      return emitSoftmaxRow(inner, softmax, outer, lanes, into);
    return emitLayerNormRow(inner, cast<LayerNormOp>(idea), outer, lanes, into);
  };
  return emitNestLoops(b, kernel, nest, sizes, dest, emitTile);
}

LogicalResult verifyNest(func::FuncOp kernel, const Workload &shape, const LoopNest &nest) {
  std::string problem = llvm::toString(nest.verify(shape));
  if (!problem.empty())
    return kernel.emitError(problem);
  // Every row is an own tile, every batch position as well.
  size_t fixed = shape.opClass == OpClass::Attention    ? shape.dims.size() - 4
                 : shape.opClass == OpClass::Recurrence ? 1
                                                        : shape.dims.size() - 1;
  std::vector<int64_t> tile = nest.registerTile(shape);
  for (size_t dim = 0; dim < fixed; ++dim)
    if (tile[dim] != 1)
      return kernel.emitError("expected loops of step 1 over dim ") << dim << ", found " << tile[dim];
  return success();
}

} // namespace

bool isTakenWhole(Operation *op) {
  return TypeSwitch<Operation *, bool>(op)
      .Case<AttentionOp, LayerNormOp, RecurrenceOp, linalg::SoftmaxOp>(
          [](auto idea) { return isTakenWhole(idea); })
      .Default(false);
}

Operation *wholeIdea(func::FuncOp kernel) {
  Operation *found = nullptr;
  for (Operation &op : kernel.getBody().front()) {
    if (isTakenWhole(&op) && !found)
      found = &op;
    else if (!isReadAsItIs(&op))
      return nullptr;
  }
  return found;
}

bool holdsIdea(func::FuncOp kernel) {
  return llvm::any_of(kernel.getOps(), [](Operation &op) { return isIdea(&op); });
}

Workload describeIdea(Operation *idea) {
  Workload workload;
  workload.kind = operatorKind(idea);
  TypeSwitch<Operation *>(idea)
      .Case<AttentionOp>([&](AttentionOp op) { describeAttention(op, workload); })
      .Case<RecurrenceOp>([&](RecurrenceOp op) { describeRecurrence(op, workload); })
      .Case<LayerNormOp>(
          [&](LayerNormOp op) { describeRows(op, op.getInput(), {op.getScale(), op.getBias()}, workload); })
      .Case<linalg::SoftmaxOp>([&](linalg::SoftmaxOp op) { describeRows(op, op.getInput(), {}, workload); });
  return workload;
}

LogicalResult emitIdea(func::FuncOp kernel, Operation *idea, const LoopNest &nest) {
  Workload shape = describeIdea(idea);
  if (failed(verifyNest(kernel, shape, nest)))
    return failure();
  Builder b(idea->getLoc(), idea);
  Value dest = destinationOf(b, kernel, idea);
  addChunkArguments(kernel);
  FailureOr<Value> result =
      TypeSwitch<Operation *, FailureOr<Value>>(idea)
          .Case<AttentionOp>([&](AttentionOp op) { return emitAttention(b, kernel, op, shape, nest, dest); })
          .Case<RecurrenceOp>([&](RecurrenceOp op) { return emitRecurrence(b, kernel, op, nest, dest); })
          .Default([&](Operation *op) { return emitRows(b, kernel, op, shape, nest, dest); });
  if (failed(result))
    return failure();
  idea->getResult(0).replaceAllUsesWith(*result);
  idea->erase();
  return success();
}

LogicalResult emitInPieces(func::FuncOp kernel) {
  if (failed(decomposeIdeas(kernel, /*all=*/true)))
    return failure();
  addChunkArguments(kernel);
  return success();
}

} // namespace autotune
