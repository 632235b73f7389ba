// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that move elements by plain rules: transpose, slice, concat, split, pad, tile, space and depth.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

void setTransposed(NodeContext &node, llvm::ArrayRef<int64_t> permutation) {
  if (const ConstantTensor *constant = node.constant(0))
    node.setResult(0, constant->transposed(permutation));
  else
    node.setResult(0, transposed(node.b, node.input(0), permutation));
}

mlir::LogicalResult buildTranspose(NodeContext &node) {
  int64_t rank = node.rank(0);
  auto reversed = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  std::vector<int64_t> permutation = node.intsAttribute("perm", reversed);
  std::vector<int64_t> axes = node.normalizedAxes(permutation, rank);
  if (node.failedAlready())
    return mlir::failure();
  if (static_cast<int64_t>(permutation.size()) != rank || static_cast<int64_t>(axes.size()) != rank)
    return node.fail("perm is no permutation of " + llvm::Twine(rank) + " dimensions");
  for (int64_t &axis : permutation)
    axis = axis < 0 ? axis + rank : axis;
  setTransposed(node, permutation);
  return mlir::success();
}

struct SliceBounds {
  Shape offset, size, step;
};

SliceBounds wholeTensor(llvm::ArrayRef<int64_t> shape) {
  return {Shape(shape.size(), 0), Shape(shape), Shape(shape.size(), 1)};
}

/// Restricts one axis to start, start + step, … before `end`, with ONNX's clamping.
void restrict(SliceBounds &bounds, int64_t axis, int64_t start, int64_t end, int64_t step) {
  int64_t dim = bounds.size[axis];
  auto fromFront = [&](int64_t i) { return i < 0 ? (i < -dim ? -1 : i + dim) : i; };
  if (step > 0) {
    start = std::clamp<int64_t>(fromFront(start), 0, dim);
    end = std::clamp<int64_t>(fromFront(end), 0, dim);
    bounds.size[axis] = start < end ? (end - start - 1) / step + 1 : 0;
  } else {
    start = std::clamp<int64_t>(fromFront(start), -1, dim - 1);
    end = std::clamp<int64_t>(fromFront(end), -1, dim - 1);
    // Divides before negating: the step may be the least integer.
    bounds.size[axis] = start > end ? (end - start + 1) / step + 1 : 0;
  }
  bounds.offset[axis] = bounds.size[axis] == 0 ? 0 : start;
  // One element needs no step, however large.
  bounds.step[axis] = bounds.size[axis] <= 1 ? 1 : step;
}

/// A slice; axes with a negative step are read through a reversing generic.
Value emitSlice(Builder &b, Value input, SliceBounds bounds) {
  llvm::SmallVector<bool> reversed;
  for (size_t axis = 0; axis < bounds.step.size(); ++axis) {
    reversed.push_back(bounds.step[axis] < 0);
    if (!reversed.back())
      continue;
    bounds.offset[axis] += (bounds.size[axis] - 1) * bounds.step[axis];
    bounds.step[axis] = -bounds.step[axis];
  }
  Value slice = sliceOf(b, input, bounds.offset, bounds.size, bounds.step);
  if (!llvm::is_contained(reversed, true))
    return slice;
  Shape size = bounds.size;
  return computedByIndex(b, size, elementOf(slice), [&](Builder &inner, mlir::ValueRange indices) -> Value {
    llvm::SmallVector<Value> at;
    for (auto [axis, index] : llvm::enumerate(indices)) {
      Value last = inner.create<arith::ConstantIndexOp>(size[axis] - 1);
      at.push_back(reversed[axis] ? Value(inner.create<arith::SubIOp>(last, index)) : index);
    }
    return inner.create<mlir::tensor::ExtractOp>(slice, at);
  });
}

void setSliced(NodeContext &node, size_t output, const SliceBounds &bounds) {
  if (const ConstantTensor *constant = node.constant(0))
    node.setResult(output, constant->sliced(bounds.offset, bounds.size, bounds.step));
  else
    node.setResult(output, emitSlice(node.b, node.input(0), bounds));
}

mlir::LogicalResult buildSlice(NodeContext &node) {
  std::optional<std::vector<int64_t>> starts = node.intsAttributeOrInput("starts", 1);
  std::optional<std::vector<int64_t>> ends = node.intsAttributeOrInput("ends", 2);
  std::optional<std::vector<int64_t>> axes = node.intsAttributeOrInput("axes", 3);
  std::optional<std::vector<int64_t>> steps = node.constantInts(4);
  if (node.failedAlready())
    return mlir::failure();
  if (!starts || !ends)
    return node.fail("starts or ends are missing");
  size_t count = starts->size();
  if (!axes)
    axes = firstIntegers(count);
  if (!steps)
    steps = std::vector<int64_t>(count, 1);
  if (ends->size() != count || axes->size() != count || steps->size() != count)
    return node.fail("starts, ends, axes and steps differ in length");
  SliceBounds bounds = wholeTensor(node.shape(0));
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = node.normalizedAxis((*axes)[i], node.rank(0));
    if ((*steps)[i] == 0)
      return node.fail("a step is 0");
    if (node.failedAlready())
      return mlir::failure();
    restrict(bounds, axis, (*starts)[i], (*ends)[i], (*steps)[i]);
  }
  setSliced(node, 0, bounds);
  return mlir::success();
}

mlir::LogicalResult buildConcat(NodeContext &node) {
  int64_t rank = node.rank(0);
  if (rank == 0)
    return node.fail("operands are scalars");
  int64_t axis = node.axisAttribute("axis", node.version() < 4 ? 1 : 0, rank);
  Shape shape(node.shape(0));
  shape[axis] = 0;
  llvm::SmallVector<Value> values;
  for (size_t i = 0; i < node.inputCount() && !node.failedAlready(); ++i) {
    Shape expected(shape);
    if (node.rank(i) == rank)
      expected[axis] = node.shape(i)[axis];
    if (node.shape(i) != llvm::ArrayRef<int64_t>(expected) || node.type(i) != node.type(0))
      return node.fail("operand " + llvm::Twine(i) + " is " + spelling(node.type(i)) + " of shape " +
                       shapeText(node.shape(i)) + ", which does not fit " + shapeText(node.shape(0)) + " of " +
                       spelling(node.type(0)) + " along axis " + llvm::Twine(axis));
    shape[axis] += node.shape(i)[axis];
    if (node.shape(i)[axis] != 0)
      values.push_back(node.input(i));
  }
  if (node.failedAlready())
    return mlir::failure();
  if (values.empty())
    node.forward(0, 0);
  else if (values.size() == 1)
    node.setResult(0, values[0]);
  else
    node.setResult(0, node.b.create<mlir::tensor::ConcatOp>(axis, values));
  return mlir::success();
}

mlir::LogicalResult buildSplit(NodeContext &node) {
  int64_t axis = node.axisAttribute("axis", 0, node.rank(0));
  std::optional<std::vector<int64_t>> sizes = node.intsAttributeOrInput("split", 1);
  if (node.failedAlready())
    return mlir::failure();
  int64_t dim = node.shape(0)[axis], parts = node.outputCount();
  if (!sizes) {
    if (node.intAttribute("num_outputs", parts) != parts)
      return node.fail("num_outputs is not the number of outputs, " + llvm::Twine(parts));
    // The last part is smaller when the division leaves a rest.
    int64_t each = (dim + parts - 1) / parts;
    sizes.emplace();
    for (int64_t i = 0; i < parts; ++i)
      sizes->push_back(std::clamp<int64_t>(dim - i * each, 0, each));
  }
  if (static_cast<int64_t>(sizes->size()) != parts)
    return node.fail(llvm::Twine(sizes->size()) + " sizes for " + llvm::Twine(parts) + " outputs");
  SliceBounds bounds = wholeTensor(node.shape(0));
  for (auto [output, size] : llvm::enumerate(*sizes)) {
    if (size < 0 || size > dim - bounds.offset[axis])
      return node.fail("the sizes " + shapeText(*sizes) + " do not add up to dimension " + llvm::Twine(dim));
    bounds.size[axis] = size;
    setSliced(node, output, bounds);
    bounds.offset[axis] += size;
  }
  if (bounds.offset[axis] != dim)
    return node.fail("the sizes " + shapeText(*sizes) + " do not add up to dimension " + llvm::Twine(dim));
  return mlir::success();
}

mlir::FailureOr<double> padValue(NodeContext &node) {
  if (node.version() < 11)
    return node.floatAttribute("value", 0);
  if (!node.hasInput(2))
    return 0.0;
  const ConstantTensor *value = node.constant(2);
  if (!value || value->size() != 1)
    return node.fail("the padding value must be a scalar known at import");
  return value->floatAt(0);
}

/// The position inside the input that padded position `i` copies, for the modes edge, reflect and wrap.
Value sourcePosition(Builder &b, llvm::StringRef mode, Value i, int64_t low, int64_t dim) {
  auto index = [&](int64_t value) -> Value { return b.create<arith::ConstantIndexOp>(value); };
  Value position = b.create<arith::SubIOp>(i, index(low));
  if (mode == "edge") {
    Value clamped = b.create<arith::MaxSIOp>(position, index(0));
    return b.create<arith::MinSIOp>(clamped, index(dim - 1));
  }
  int64_t period = mode == "wrap" ? dim : std::max<int64_t>(2 * (dim - 1), 1);
  // A multiple of the period that makes the remainder's operand positive.
  Value shifted = b.create<arith::AddIOp>(position, index((low / period + 1) * period));
  Value inPeriod = b.create<arith::RemUIOp>(shifted, index(period));
  if (mode == "wrap")
    return inPeriod;
  return b.create<arith::MinSIOp>(inPeriod, b.create<arith::SubIOp>(index(period), inPeriod));
}

Value padByCopy(Builder &b, Value input, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> shape,
                llvm::StringRef mode) {
  Shape from(shapeOf(input));
  return computedByIndex(b, shape, elementOf(input), [&](Builder &inner, mlir::ValueRange indices) -> Value {
    llvm::SmallVector<Value> at;
    for (auto [axis, i] : llvm::enumerate(indices))
      at.push_back(from[axis] == shape[axis] ? i : sourcePosition(inner, mode, i, low[axis], from[axis]));
    return inner.create<mlir::tensor::ExtractOp>(input, at);
  });
}

/// Pads of all axes, from the attribute or the operands pads and axes.
mlir::FailureOr<std::pair<Shape, Shape>> requestedPads(NodeContext &node) {
  std::optional<std::vector<int64_t>> pads = node.intsAttributeOrInput("pads", 1);
  std::optional<std::vector<int64_t>> axes = node.constantInts(3);
  if (node.failedAlready())
    return mlir::failure();
  int64_t rank = node.rank(0);
  if (!axes)
    axes = firstIntegers(rank);
  size_t count = axes->size();
  if (!pads || pads->size() != 2 * count)
    return node.fail("pads has not two values for each axis");
  Shape low(rank, 0), high(rank, 0);
  for (size_t i = 0; i < count; ++i) {
    int64_t axis = node.normalizedAxis((*axes)[i], rank);
    if (node.failedAlready())
      return mlir::failure();
    low[axis] = (*pads)[i];
    high[axis] = (*pads)[count + i];
    for (int64_t pad : {low[axis], high[axis]})
      if (pad < -kMaxTensorBytes || pad > kMaxTensorBytes)
        return node.fail("pads are too large");
  }
  return std::make_pair(low, high);
}

mlir::LogicalResult buildPad(NodeContext &node) {
  std::string mode = node.stringAttribute("mode", "constant");
  mlir::FailureOr<std::pair<Shape, Shape>> pads = requestedPads(node);
  if (failed(pads))
    return mlir::failure();
  auto [low, high] = *pads;
  // Negative pads cut elements off first.
  SliceBounds bounds = wholeTensor(node.shape(0));
  Shape shape;
  for (size_t axis = 0; axis < low.size(); ++axis) {
    int64_t cutLow = std::max<int64_t>(-low[axis], 0), cutHigh = std::max<int64_t>(-high[axis], 0);
    bounds.offset[axis] = cutLow;
    bounds.size[axis] -= cutLow + cutHigh;
    low[axis] = std::max<int64_t>(low[axis], 0);
    high[axis] = std::max<int64_t>(high[axis], 0);
    shape.push_back(bounds.size[axis] + low[axis] + high[axis]);
    bool empty = bounds.size[axis] < 0 || (mode != "constant" && bounds.size[axis] == 0 && shape.back() > 0);
    if (empty)
      return node.fail("pads cut off more than dimension " + llvm::Twine(axis) + " of " + shapeText(node.shape(0)));
  }
  if (!checkedByteCount(shape, node.type(0)))
    return node.fail("the padded shape " + shapeText(shape) + " is too large");
  Value input = sliceOf(node.b, node.input(0), bounds.offset, bounds.size, bounds.step);
  if (mode == "constant") {
    mlir::FailureOr<double> value = padValue(node);
    if (failed(value))
      return mlir::failure();
    node.setResult(0, padded(node.b, input, low, high, *value));
  } else if (mode == "edge" || mode == "reflect" || mode == "wrap") {
    node.setResult(0, padByCopy(node.b, input, low, shape, mode));
  } else {
    return node.fail("mode '" + mode + "' is not one of constant, edge, reflect, wrap");
  }
  return mlir::success();
}

/// Cuts off or adds zeros at both ends of the axes, until they have the size that is asked for.
mlir::LogicalResult buildCenterCropPad(NodeContext &node) {
  std::optional<std::vector<int64_t>> wanted = node.constantInts(1);
  int64_t rank = node.rank(0);
  std::vector<int64_t> axes = node.intsAttribute("axes", firstIntegers(rank));
  if (node.failedAlready())
    return mlir::failure();
  if (wanted->size() != axes.size())
    return node.fail(llvm::Twine(wanted->size()) + " sizes for " + llvm::Twine(axes.size()) + " axes");
  SliceBounds bounds = wholeTensor(node.shape(0));
  Shape low(rank, 0), high(rank, 0), shape(node.shape(0));
  for (auto [axis, size] : llvm::zip(axes, *wanted)) {
    int64_t at = node.normalizedAxis(axis, rank);
    if (node.failedAlready() || size < 0 || size > kMaxTensorBytes)
      return node.fail("size " + llvm::Twine(size) + " is not valid");
    int64_t dim = node.shape(0)[at];
    // Where the difference is odd, the end takes the larger half.
    bounds.offset[at] = std::max<int64_t>(dim - size, 0) / 2;
    bounds.size[at] = std::min(dim, size);
    low[at] = std::max<int64_t>(size - dim, 0) / 2;
    high[at] = std::max<int64_t>(size - dim, 0) - low[at];
    shape[at] = size;
  }
  if (!checkedByteCount(shape, node.type(0)))
    return node.fail("the result " + shapeText(shape) + " is too large");
  Value cut = sliceOf(node.b, node.input(0), bounds.offset, bounds.size, bounds.step);
  node.setResult(0, padded(node.b, cut, low, high, 0));
  return mlir::success();
}

mlir::LogicalResult buildExpand(NodeContext &node) {
  std::optional<std::vector<int64_t>> wanted = node.constantInts(1);
  if (node.failedAlready())
    return mlir::failure();
  std::optional<Shape> shape = broadcastShape(node.shape(0), *wanted);
  if (!shape || !checkedByteCount(*shape, node.type(0)))
    return node.fail("cannot expand " + shapeText(node.shape(0)) + " to " + shapeText(*wanted));
  if (node.shape(0) == llvm::ArrayRef<int64_t>(*shape)) {
    node.forward(0, 0);
    return mlir::success();
  }
  const ConstantTensor *constant = node.constant(0);
  if (constant && constant->isSplat())
    node.setResult(0, ConstantTensor::splat(constant->type(), *shape, constant->rawData()));
  else
    node.setResult(0, elementwise(node.b, *shape, node.elementType(0), broadcastOperand(node, 0, *shape),
                                  [](Builder &, mlir::ValueRange v) { return v[0]; }));
  return mlir::success();
}

/// Each dimension d becomes (repeat, d) in a broadcast, then the pairs are collapsed.
mlir::LogicalResult buildTile(NodeContext &node) {
  std::optional<std::vector<int64_t>> repeats = node.constantInts(1);
  if (node.failedAlready())
    return mlir::failure();
  if (static_cast<int64_t>(repeats->size()) != node.rank(0))
    return node.fail(llvm::Twine(repeats->size()) + " repeats for an input of shape " + shapeText(node.shape(0)));
  Shape spread, pairs, shape;
  for (auto [dim, repeat] : llvm::zip(node.shape(0), *repeats)) {
    if (repeat < 0 || repeat > kMaxTensorBytes || (dim > 0 && repeat > kMaxTensorBytes / dim))
      return node.fail("repeats " + shapeText(*repeats) + " are not valid");
    spread.append({1, dim});
    pairs.append({repeat, dim});
    shape.push_back(repeat * dim);
  }
  if (!checkedByteCount(shape, node.type(0)))
    return node.fail("the result " + shapeText(shape) + " is too large");
  Value view = reshapeTo(node.b, node.input(0), spread);
  Value tiled = elementwise(node.b, pairs, node.elementType(0), broadcastOperand(node.b, view, pairs),
                            [](Builder &, mlir::ValueRange v) { return v[0]; });
  node.setResult(0, reshapeTo(node.b, tiled, shape));
  return mlir::success();
}

mlir::LogicalResult buildDepthToSpace(NodeContext &node) {
  llvm::ArrayRef<int64_t> s = node.shape(0);
  int64_t block = node.intAttribute("blocksize", 0);
  std::string mode = node.stringAttribute("mode", "DCR");
  if (s.size() != 4 || block < 1 || block > 1 << 15 || s[1] % (block * block) != 0)
    return node.fail("input " + shapeText(s) + " does not fit blocksize " + llvm::Twine(block));
  if (mode != "DCR" && mode != "CRD")
    return node.fail("mode '" + mode + "' is not DCR or CRD");
  int64_t depth = s[1] / (block * block);
  Builder &b = node.b;
  Value moved = mode == "DCR"
                    ? transposed(b, reshapeTo(b, node.input(0), {s[0], block, block, depth, s[2], s[3]}),
                                 {0, 3, 4, 1, 5, 2})
                    : transposed(b, reshapeTo(b, node.input(0), {s[0], depth, block, block, s[2], s[3]}),
                                 {0, 1, 4, 2, 5, 3});
  node.setResult(0, reshapeTo(b, moved, {s[0], depth, s[2] * block, s[3] * block}));
  return mlir::success();
}

mlir::LogicalResult buildSpaceToDepth(NodeContext &node) {
  llvm::ArrayRef<int64_t> s = node.shape(0);
  int64_t block = node.intAttribute("blocksize", 0);
  if (s.size() != 4 || block < 1 || block > 1 << 15 || s[2] % block != 0 || s[3] % block != 0)
    return node.fail("input " + shapeText(s) + " does not fit blocksize " + llvm::Twine(block));
  Builder &b = node.b;
  Value view = reshapeTo(b, node.input(0), {s[0], s[1], s[2] / block, block, s[3] / block, block});
  Value moved = transposed(b, view, {0, 3, 5, 1, 2, 4});
  node.setResult(0, reshapeTo(b, moved, {s[0], s[1] * block * block, s[2] / block, s[3] / block}));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "CenterCropPad", 18, 2, 2, buildCenterCropPad},
    {"", "Concat", 1, 1, kAnyInputs, buildConcat},
    {"", "DepthToSpace", 1, 1, 1, buildDepthToSpace},
    {"", "Expand", 8, 2, 2, buildExpand},
    {"", "Pad", 2, 1, 4, buildPad},
    {"", "Slice", 1, 1, 5, buildSlice},
    {"", "SpaceToDepth", 1, 1, 1, buildSpaceToDepth},
    {"", "Split", 2, 1, 2, buildSplit},
    {"", "Tile", 6, 2, 2, buildTile},
    {"", "Transpose", 1, 1, 1, buildTranspose},
};

} // namespace

llvm::ArrayRef<OperatorEntry> movementOperators() { return kOperators; }

} // namespace autotune
