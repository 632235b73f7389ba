// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// com.microsoft's normalisations with what exporters fuse into them: added skips, embeddings, group
// activations.
#include "dialect/AutotuneDialect.h"
#include "frontend/ImportContext.h"
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"
#include "frontend/Statistics.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

mlir::LogicalResult requireVector(NodeContext &node, size_t index, int64_t count) {
  if (!node.hasInput(index) ||
      (node.shape(index) == llvm::ArrayRef<int64_t>(count) && isFloat(node.type(index))))
    return mlir::success();
  return node.fail("input " + llvm::Twine(index) + " is " + spelling(node.type(index)) + " of shape " +
                   shapeText(node.shape(index)) + ", expected " + llvm::Twine(count) + " floats");
}

/// The sum of these operands (those that are present) over `shape`, in the type that sums are kept in.
Value sumOf(NodeContext &node, llvm::ArrayRef<size_t> operands, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<ElementwiseOperand> reads;
  llvm::SmallVector<ElementType> types;
  for (size_t index : operands) {
    if (!node.hasInput(index))
      continue;
    reads.push_back(broadcastOperand(node, index, shape));
    types.push_back(node.type(index));
  }
  ElementType wide = accumulatorType(node.type(operands[0]));
  return elementwise(node.b, shape, node.mlirType(wide), reads, [&](Builder &b, mlir::ValueRange v) {
    Value sum = scalar::cast(b, v[0], types[0], wide);
    for (size_t i = 1; i < v.size(); ++i)
      sum = scalar::add(b, sum, scalar::cast(b, v[i], types[i], wide));
    return sum;
  });
}

/// normal * operand `scale` (+ operand `shift`), as elements of `result`; both are seen in the shape `as`.
Value scaledBy(NodeContext &node, Value normal, ElementType wide, size_t scale, std::optional<size_t> shift,
               llvm::ArrayRef<int64_t> as, ElementType result,
               llvm::function_ref<Value(Builder &, Value)> finish = nullptr) {
  Shape shape(shapeOf(normal));
  bool shifts = shift && node.hasInput(*shift);
  llvm::SmallVector<ElementwiseOperand> reads = {broadcastOperand(node.b, normal, shape),
                                                 broadcastOperand(node, scale, as, shape)};
  if (shifts)
    reads.push_back(broadcastOperand(node, *shift, as, shape));
  return elementwise(node.b, shape, node.mlirType(result), reads, [&](Builder &b, mlir::ValueRange v) {
    Value value = scalar::mul(b, v[0], scalar::cast(b, v[1], node.type(scale), wide));
    if (shifts)
      value = scalar::add(b, value, scalar::cast(b, v[2], node.type(*shift), wide));
    if (finish)
      value = finish(b, value);
    return scalar::cast(b, value, wide, result);
  });
}

/// `input` normalised over `axes`, then scaled and shifted by operands of those axes: one op where all are of
/// one type.
Value normalizedAndScaled(NodeContext &node, Value input, const Standardized &parts,
                          llvm::ArrayRef<int64_t> axes, double epsilon, size_t scale,
                          std::optional<size_t> shift, ElementType result) {
  ElementType wide = fromMlirType(elementOf(input));
  bool shifts = shift && node.hasInput(*shift);
  if (result != wide || node.type(scale) != wide || (shifts && node.type(*shift) != wide))
    return scaledBy(node, parts.normal, wide, scale, shift, node.shape(scale), result);
  return node.b.create<LayerNormOp>(input.getType(), input, node.input(scale),
                                    shifts ? node.input(*shift) : Value(), axes, llvm::APFloat(epsilon),
                                    /*rms=*/!parts.mean);
}

void setStatistic(NodeContext &node, size_t output, Value rows, llvm::ArrayRef<int64_t> shape) {
  if (node.isOutputUsed(output))
    node.setResult(output, reshapeTo(node.b, floatCast(node.b, rows, node.b.getF32Type()), shape),
                   ElementType::F32);
}

/// X, scale: x / sqrt(mean of squares + epsilon) * scale over the dimensions from `axis` on.
mlir::LogicalResult buildSimplifiedLayerNormalization(NodeContext &node) {
  Shape shape(node.shape(0));
  int64_t rank = shape.size(), axis = node.axisAttribute("axis", -1, rank);
  if (node.failedAlready())
    return mlir::failure();
  Shape scaled(llvm::ArrayRef<int64_t>(shape).drop_front(axis));
  if (!isFloat(node.type(0)) || !isFloat(node.type(1)) || node.shape(1) != llvm::ArrayRef<int64_t>(scaled))
    return node.fail("scale is " + spelling(node.type(1)) + " of shape " + shapeText(node.shape(1)) +
                     ", expected floats of shape " + shapeText(scaled));
  auto axes = llvm::to_vector(llvm::seq<int64_t>(axis, rank));
  Value input = floatCast(node.b, node.input(0), accumulatorType(node.elementType(0)));
  double epsilon = node.floatAttribute("epsilon", 1e-5f);
  Standardized parts = standardized(node.b, input, axes, epsilon, /*centers=*/false);
  node.setResult(0, normalizedAndScaled(node, input, parts, axes, epsilon, 1, std::nullopt, node.type(1)),
                 node.type(1));
  setStatistic(node, 1, parts.inverseDeviation, reducedShape(shape, axes, /*keepDims=*/true));
  return mlir::success();
}

/// input, skip, gamma, (beta,) bias: the normalised sum of input, skip and bias.
template <bool simplified> mlir::LogicalResult buildSkipLayerNormalization(NodeContext &node) {
  Shape shape(node.shape(0));
  if (!isFloat(node.type(0)) || shape.size() < 2)
    return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(shape) +
                     ", expected floats of rank 2 or 3");
  std::optional<Shape> joined = broadcastShape(shape, node.shape(1));
  if (!joined || *joined != shape || node.type(1) != node.type(0))
    return node.fail("skip is " + spelling(node.type(1)) + " of shape " + shapeText(node.shape(1)) +
                     ", which does not fit " + shapeText(shape) + " of " + spelling(node.type(0)));
  size_t bias = simplified ? 3 : 4;
  int64_t hidden = shape.back(), last = static_cast<int64_t>(shape.size()) - 1;
  for (size_t index = 2; index <= bias; ++index)
    if (failed(requireVector(node, index, hidden)))
      return mlir::failure();
  Value sum = sumOf(node, {0, 1, bias}, shape);
  double epsilon = node.floatAttribute("epsilon", 1e-12f);
  Standardized parts = standardized(node.b, sum, last, epsilon, !simplified);
  std::optional<size_t> shift = simplified ? std::nullopt : std::optional<size_t>(3);
  node.setResult(0, normalizedAndScaled(node, sum, parts, last, epsilon, 2, shift, node.type(0)));
  Shape kept = reducedShape(shape, last, /*keepDims=*/true);
  if (!simplified)
    setStatistic(node, 1, parts.mean, kept);
  setStatistic(node, 2, parts.inverseDeviation, kept);
  node.setResult(3, floatCast(node.b, sum, node.elementType(0)));
  return mlir::success();
}

/// Rows of a table at i32 or i64 positions [batch, sequence]; positions outside are clamped.
ElementwiseOperand rowsAt(NodeContext &node, size_t index, llvm::ArrayRef<int64_t> shape) {
  return broadcastOperand(node, index, Shape{node.shape(index)[0], node.shape(index)[1], 1}, shape);
}

Value rowElement(Builder &b, Value table, Value position, ElementType positionType) {
  Value wide = scalar::cast(b, position, positionType, ElementType::I64);
  Value row = b.create<arith::IndexCastOp>(b.getIndexType(), wide);
  Value zero = b.create<arith::ConstantIndexOp>(0),
        last = b.create<arith::ConstantIndexOp>(shapeOf(table)[0] - 1);
  Value inside = b.create<arith::MinSIOp>(b.create<arith::MaxSIOp>(row, zero), last);
  return b.create<mlir::tensor::ExtractOp>(table,
                                           mlir::ValueRange{inside, b.create<mlir::linalg::IndexOp>(2)});
}

mlir::LogicalResult checkEmbedding(NodeContext &node) {
  constexpr size_t kIds[] = {0, 1, 7, 8}, kTables[] = {2, 3, 4};
  for (size_t index : {2, 3, 5, 6})
    if (!node.hasInput(index))
      return node.fail("input " + llvm::Twine(index) + " is missing");
  if (node.rank(0) != 2 || node.rank(2) != 2)
    return node.fail("ids " + shapeText(node.shape(0)) + " and table " + shapeText(node.shape(2)) +
                     ", expected both of rank 2");
  for (size_t index : kIds) {
    if (!node.hasInput(index))
      continue;
    std::optional<Shape> joined = broadcastShape(node.shape(0), node.shape(index));
    bool integers = node.type(index) == ElementType::I32 || node.type(index) == ElementType::I64;
    if (!integers || node.rank(index) != 2 || !joined || llvm::ArrayRef<int64_t>(*joined) != node.shape(0))
      return node.fail("input " + llvm::Twine(index) + " is " + spelling(node.type(index)) + " of shape " +
                       shapeText(node.shape(index)) + ", expected integers of shape " +
                       shapeText(node.shape(0)));
  }
  for (size_t index : kTables)
    if (node.hasInput(index) &&
        (node.rank(index) != 2 || node.shape(index)[1] != node.shape(2)[1] || node.shape(index)[0] < 1 ||
         !isFloat(node.type(index)) || node.type(index) != node.type(2)))
      return node.fail("table (input " + llvm::Twine(index) + ") is " + spelling(node.type(index)) +
                       " of shape " + shapeText(node.shape(index)) + ", expected rows like those of " +
                       shapeText(node.shape(2)));
  if (node.hasInput(1) != node.hasInput(4))
    return node.fail("segment ids and segment table are given only together");
  if (!node.hasInput(8) && node.shape(3)[0] < node.shape(0)[1])
    return node.fail("the position table " + shapeText(node.shape(3)) + " has too few rows for " +
                     shapeText(node.shape(0)));
  for (size_t index : {5, 6})
    if (failed(requireVector(node, index, node.shape(2)[1])))
      return mlir::failure();
  return mlir::success();
}

/// ids, segment ids, word, position and segment tables, gamma, beta, mask, position ids
mlir::LogicalResult buildEmbedLayerNormalization(NodeContext &node) {
  if (failed(checkEmbedding(node)))
    return mlir::failure();
  Builder &b = node.b;
  int64_t batch = node.shape(0)[0], sequence = node.shape(0)[1], hidden = node.shape(2)[1];
  Shape shape = {batch, sequence, hidden};
  ElementType type = node.type(2), wide = accumulatorType(node.type(2));
  // Which table each gathered row comes from, and the operand that says where.
  llvm::SmallVector<std::pair<Value, size_t>> gathers = {{node.input(2), 0}};
  if (node.hasInput(1))
    gathers.push_back({node.input(4), 1});
  if (node.hasInput(8))
    gathers.push_back({node.input(3), 8});
  llvm::SmallVector<ElementwiseOperand> reads;
  for (auto [table, ids] : gathers)
    reads.push_back(rowsAt(node, ids, shape));
  bool plainPositions = !node.hasInput(8);
  if (plainPositions)
    reads.push_back(
        broadcastOperand(b, sliceOf(b, node.input(3), {0, 0}, {sequence, hidden}, {1, 1}), shape));
  Value sum = elementwise(b, shape, node.mlirType(wide), reads, [&](Builder &inner, mlir::ValueRange v) {
    Value total = plainPositions ? scalar::cast(inner, v.back(), type, wide) : Value();
    for (auto [gather, position] : llvm::zip(gathers, v)) {
      Value row = scalar::cast(inner, rowElement(inner, gather.first, position, node.type(gather.second)),
                               type, wide);
      total = total ? scalar::add(inner, total, row) : row;
    }
    return total;
  });
  double epsilon = node.floatAttribute("epsilon", 1e-12f);
  Standardized parts = standardized(b, sum, 2, epsilon);
  node.setResult(0, normalizedAndScaled(node, sum, parts, 2, epsilon, 5, 6, type), type);
  node.setResult(2, floatCast(b, sum, node.elementType(2)), type);
  if (!node.isOutputUsed(1))
    return mlir::success();
  // The number of tokens that the mask keeps.
  if (!node.hasInput(7)) {
    node.setResult(1, ConstantTensor::splat(ElementType::I32, batch, {0, 0, 0, 0}));
    return mlir::success();
  }
  ElementType maskType = node.type(7);
  Value zero = scalarConstant(b, b.getI32Type(), 0);
  node.setResult(1,
                 reduced(b, casted(b, node.input(7), maskType, ElementType::I32), 1, zero,
                         [](Builder &inner, mlir::ValueRange v) {
                           Value kept = scalar::compare(inner, scalar::Relation::Equal, ElementType::I32,
                                                        v[0], scalar::constantLike(inner, v[0], 1));
                           return scalar::add(inner, v[1],
                                              scalar::cast(inner, kept, ElementType::Bool, ElementType::I32));
                         }),
                 ElementType::I32);
  return mlir::success();
}

/// X + skip + bias; the skip may be one value for each channel of each image.
mlir::FailureOr<Value> addedSkip(NodeContext &node, bool channelsLast) {
  Shape shape(node.shape(0)), as(node.shape(3)), biasAs(1, node.shape(1)[0]);
  size_t spatial = shape.size() - 2;
  if (as.size() == 2)
    as.insert(channelsLast ? as.begin() + 1 : as.end(), spatial, 1);
  if (!channelsLast)
    biasAs.append(spatial, 1);
  std::optional<Shape> joined = broadcastShape(shape, as);
  if (!joined || *joined != shape || node.type(3) != node.type(0))
    return node.fail("skip is " + spelling(node.type(3)) + " of shape " + shapeText(node.shape(3)) +
                     ", which does not fit " + shapeText(shape) + " of " + spelling(node.type(0)));
  bool hasBias = node.hasInput(4);
  ElementType type = node.type(0), wide = accumulatorType(type);
  llvm::SmallVector<ElementwiseOperand> reads = {broadcastOperand(node, 0, shape),
                                                 broadcastOperand(node, 3, as, shape)};
  if (hasBias)
    reads.push_back(broadcastOperand(node, 4, biasAs, shape));
  return elementwise(node.b, shape, node.mlirType(wide), reads, [&](Builder &b, mlir::ValueRange v) {
    Value sum = scalar::add(b, scalar::cast(b, v[0], type, wide), scalar::cast(b, v[1], type, wide));
    return hasBias ? scalar::add(b, sum, scalar::cast(b, v[2], node.type(4), wide)) : sum;
  });
}

/// X, gamma, beta (, skip, bias): groups of channels are normalised together; optionally SiLU after it.
template <bool skips> mlir::LogicalResult buildGroupNorm(NodeContext &node) {
  Shape shape(node.shape(0));
  int64_t groups = node.intAttribute("groups", 0), activation = node.intAttribute("activation", 0);
  bool channelsLast = node.intAttribute("channels_last", 1) != 0;
  if (node.failedAlready())
    return mlir::failure();
  if (!isFloat(node.type(0)) || shape.size() < 3)
    return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(shape) +
                     ", expected floats of rank 3 or more");
  int64_t channels = channelsLast ? shape.back() : shape[1];
  if (groups < 1 || channels % groups != 0 || (activation != 0 && activation != 1))
    return node.fail(llvm::Twine(groups) + " groups of " + llvm::Twine(channels) +
                     " channels with activation " + llvm::Twine(activation));
  for (size_t index : {1, 2, 4})
    if (failed(requireVector(node, index, channels)))
      return mlir::failure();
  Value sum = floatCast(node.b, node.input(0), accumulatorType(node.elementType(0)));
  if (skips) {
    mlir::FailureOr<Value> added = addedSkip(node, channelsLast);
    if (failed(added))
      return mlir::failure();
    sum = *added;
    node.setResult(1, floatCast(node.b, sum, node.elementType(0)));
  }
  int64_t each = channels / groups, spatial = elementCount(shape) / std::max<int64_t>(shape[0] * channels, 1);
  Shape view = channelsLast ? Shape{shape[0], spatial, groups, each} : Shape{shape[0], groups, each, spatial};
  Shape parameters = channelsLast ? Shape{groups, each} : Shape{groups, each, 1};
  llvm::SmallVector<int64_t> axes =
      channelsLast ? llvm::SmallVector<int64_t>{1, 3} : llvm::SmallVector<int64_t>{2, 3};
  Value normal =
      standardized(node.b, reshapeTo(node.b, sum, view), axes, node.floatAttribute("epsilon", 1e-5f)).normal;
  auto finish = [&](Builder &b, Value x) {
    return activation ? scalar::mul(b, x, scalar::sigmoid(b, x)) : x;
  };
  node.setResult(0, reshapeTo(node.b,
                              scaledBy(node, normal, accumulatorType(node.type(0)), 1, 2, parameters,
                                       node.type(0), finish),
                              shape));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "SimplifiedLayerNormalization", 1, 2, 2, buildSimplifiedLayerNormalization},
    {"com.microsoft", "EmbedLayerNormalization", 1, 1, 9, buildEmbedLayerNormalization},
    {"com.microsoft", "GroupNorm", 1, 3, 3, buildGroupNorm<false>},
    {"com.microsoft", "SimplifiedLayerNormalization", 1, 2, 2, buildSimplifiedLayerNormalization},
    {"com.microsoft", "SkipGroupNorm", 1, 4, 5, buildGroupNorm<true>},
    {"com.microsoft", "SkipLayerNormalization", 1, 3, 5, buildSkipLayerNormalization<false>},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", 1, 3, 4, buildSkipLayerNormalization<true>,
     "no output of means"},
};

} // namespace

llvm::ArrayRef<OperatorEntry> skipNormalizationOperators() { return kOperators; }

} // namespace autotune
