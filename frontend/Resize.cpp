// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize and Upsample: axis by axis through tables computed at import; whole-number repeats as a broadcast.
#include "frontend/OperatorTable.h"
#include "frontend/Resample.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

struct ResizePlan {
  ResampleOptions options;
  std::vector<ResampleAxis> axes;  // all axes of the input
  double extrapolation = 0;
};

/// Numbers of an operand that must be known; nothing when it is absent or empty.
mlir::FailureOr<std::optional<std::vector<float>>> knownFloats(NodeContext &node, size_t index) {
  std::optional<std::vector<float>> none;
  if (!node.hasInput(index) || elementCount(node.shape(index)) == 0)
    return none;
  const ConstantTensor *constant = node.constant(index);
  if (!constant || constant->size() > 64)
    return node.fail("input " + llvm::Twine(index) + " must be known at import: the shape of the result depends on it");
  return std::optional(constant->toFloats());
}

mlir::LogicalResult readOptions(NodeContext &node, ResizePlan &plan) {
  ResampleOptions &options = plan.options;
  options.mode = node.stringAttribute("mode", "nearest");
  if (options.mode == "bilinear")
    options.mode = "linear";
  if (node.version() < 11 || node.opType() == "Upsample") {
    options.coordinates = "asymmetric";
    options.nearest = "floor";
  } else {
    options.coordinates = node.stringAttribute("coordinate_transformation_mode", "half_pixel");
    options.nearest = node.stringAttribute("nearest_mode", "round_prefer_floor");
  }
  options.cubicCoefficient = node.floatAttribute("cubic_coeff_a", -0.75);
  options.excludeOutside = node.intAttribute("exclude_outside", 0) != 0;
  options.antialias = node.intAttribute("antialias", 0) != 0;
  plan.extrapolation = node.floatAttribute("extrapolation_value", 0);
  if (options.mode != "nearest" && options.mode != "linear" && options.mode != "cubic")
    return node.fail("mode '" + options.mode + "' is not nearest, linear or cubic");
  if (!isCoordinateMode(options.coordinates))
    return node.fail("coordinate_transformation_mode '" + options.coordinates + "' is not known");
  if (!isNearestMode(options.nearest))
    return node.fail("nearest_mode '" + options.nearest + "' is not known");
  return mlir::success();
}

/// Output sizes from `sizes`, which may have to keep the aspect ratio.
void applySizes(NodeContext &node, llvm::ArrayRef<int64_t> axes, llvm::ArrayRef<int64_t> sizes, ResizePlan &plan) {
  std::string policy = node.stringAttribute("keep_aspect_ratio_policy", "stretch");
  auto ratio = [&](size_t i) { return static_cast<double>(sizes[i]) / plan.axes[axes[i]].input; };
  double common = ratio(0);
  for (size_t i = 1; i < axes.size(); ++i)
    common = policy == "not_larger" ? std::min(common, ratio(i)) : std::max(common, ratio(i));
  for (size_t i = 0; i < axes.size(); ++i) {
    ResampleAxis &axis = plan.axes[axes[i]];
    axis.output = policy == "stretch" ? sizes[i] : static_cast<int64_t>(std::floor(common * axis.input + 0.5));
    axis.scale = policy == "stretch" ? ratio(i) : common;
  }
}

mlir::LogicalResult readSizes(NodeContext &node, ResizePlan &plan) {
  for (int64_t dim : node.shape(0))
    plan.axes.push_back({dim, dim});
  std::vector<int64_t> axes = node.intsAttribute("axes", firstIntegers(node.rank(0)));
  for (int64_t &axis : axes)
    axis = node.normalizedAxis(axis, node.rank(0));
  bool old = node.version() < 11 || node.opType() == "Upsample";
  auto scales = node.hasAttribute("scales") ? std::optional(node.floatsAttribute("scales"))
                                            : std::optional<std::vector<float>>();
  std::optional<std::vector<int64_t>> sizes;
  if (!scales) {
    auto operand = knownFloats(node, old ? 1 : 2);
    if (failed(operand))
      return mlir::failure();
    scales = *operand;
  }
  if (!scales && !old)
    sizes = node.constantInts(3);
  if (node.failedAlready())
    return mlir::failure();
  if (axes.empty() || (scales ? scales->size() : sizes ? sizes->size() : 0) != axes.size())
    return node.fail("scales or sizes do not have one value for each of " + llvm::Twine(axes.size()) + " axes");
  for (size_t i = 0; scales && i < axes.size(); ++i) {
    ResampleAxis &axis = plan.axes[axes[i]];
    axis.scale = (*scales)[i];
    // In single precision, where 10 times 0.7 is 7.
    axis.output = static_cast<int64_t>(std::floor(static_cast<float>(axis.input) * (*scales)[i]));
  }
  if (sizes)
    applySizes(node, axes, *sizes, plan);
  auto roi = node.inputCount() > 1 && !old ? knownFloats(node, 1) : mlir::FailureOr(std::optional<std::vector<float>>());
  if (failed(roi))
    return mlir::failure();
  if (plan.options.coordinates == "tf_crop_and_resize") {
    if (!*roi || (*roi)->size() != 2 * axes.size())
      return node.fail("roi has not two values for each axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      plan.axes[axes[i]].roiStart = (**roi)[i];
      plan.axes[axes[i]].roiEnd = (**roi)[axes.size() + i];
    }
  }
  return mlir::success();
}

bool isIdentity(const ResampleTable &table, const ResampleAxis &axis) {
  return table.taps == 1 && axis.input == axis.output && llvm::equal(table.positions, llvm::seq<int64_t>(0, axis.input)) &&
         !llvm::is_contained(table.outside, true);
}

/// Each input position is repeated `factor` times.
std::optional<int64_t> repeatFactor(const ResampleTable &table, const ResampleAxis &axis) {
  if (table.taps != 1 || axis.input == 0 || axis.output % axis.input != 0 || llvm::is_contained(table.outside, true))
    return std::nullopt;
  int64_t factor = axis.output / axis.input;
  for (auto [o, position] : llvm::enumerate(table.positions))
    if (position != static_cast<int64_t>(o) / factor)
      return std::nullopt;
  return factor;
}

/// All repeats at once: [h, w] becomes [h, 1, w, 1], is broadcast, and collapsed.
Value repeated(Builder &b, Value tensor, llvm::ArrayRef<int64_t> factors) {
  Shape split, spread, result;
  for (auto [dim, factor] : llvm::zip_equal(shapeOf(tensor), factors)) {
    split.push_back(dim);
    spread.push_back(dim);
    if (factor > 1) {
      split.push_back(1);
      spread.push_back(factor);
    }
    result.push_back(dim * factor);
  }
  Value view = reshapeTo(b, tensor, split);
  Value broadcast = elementwise(b, spread, elementOf(tensor), broadcastOperand(b, view, spread),
                                [](Builder &, mlir::ValueRange v) { return v[0]; });
  return reshapeTo(b, broadcast, result);
}

/// Weights in the type they are multiplied in.
ConstantTensor tapWeights(llvm::ArrayRef<float> weights, mlir::Type element) {
  ElementType type = element.isF64() ? ElementType::F64 : ElementType::F32;
  std::vector<char> bytes(weights.size() * byteSize(type));
  for (size_t i = 0; i < weights.size(); ++i)
    storeFloat(bytes.data() + i * byteSize(type), type, weights[i]);
  return ConstantTensor::own(type, {static_cast<int64_t>(weights.size())}, std::move(bytes));
}

/// One axis through its table.
Value resampled(NodeContext &node, Value tensor, int64_t axis, const ResampleTable &table, double extrapolation) {
  Builder &b = node.b;
  Shape shape(shapeOf(tensor));
  int64_t output = table.outside.size(), rank = shape.size();
  shape[axis] = output;
  llvm::SmallVector<ElementwiseOperand> operands;
  for (int64_t t = 0; t < table.taps; ++t) {
    std::vector<int64_t> positions;
    std::vector<float> weights;
    for (int64_t o = 0; o < output; ++o) {
      positions.push_back(table.positions[o * table.taps + t]);
      weights.push_back(table.weights[o * table.taps + t]);
    }
    operands.push_back(alongAxis(b, node.materialize(ConstantTensor::ints(positions)), axis, rank));
    if (table.taps > 1)
      operands.push_back(alongAxis(b, node.materialize(tapWeights(weights, elementOf(tensor))), axis, rank));
  }
  bool extrapolates = llvm::is_contained(table.outside, true);
  if (extrapolates) {
    std::vector<char> flags(table.outside.begin(), table.outside.end());
    auto outside = ConstantTensor::own(ElementType::Bool, {output}, std::move(flags));
    operands.push_back(alongAxis(b, node.materialize(outside), axis, rank));
  }
  mlir::Type element = elementOf(tensor);
  return elementwise(b, shape, element, operands, [&](Builder &inner, mlir::ValueRange v) -> Value {
    llvm::SmallVector<Value> at;
    for (int64_t i = 0; i < rank; ++i)
      at.push_back(inner.create<mlir::linalg::IndexOp>(i));
    Value sum;
    for (int64_t t = 0; t < table.taps; ++t) {
      Value position = v[table.taps > 1 ? 2 * t : t];
      at[axis] = inner.create<arith::IndexCastOp>(inner.getIndexType(), position);
      Value tap = inner.create<mlir::tensor::ExtractOp>(tensor, at);
      if (table.taps > 1)
        tap = scalar::mul(inner, tap, v[2 * t + 1]);
      sum = sum ? scalar::add(inner, sum, tap) : tap;
    }
    if (!extrapolates)
      return sum;
    return inner.create<arith::SelectOp>(v.back(), scalar::constantLike(inner, sum, extrapolation), sum);
  });
}

/// Tables take time and memory, and each tap is code of its own.
mlir::LogicalResult checkWork(NodeContext &node, const ResizePlan &plan) {
  constexpr double kMostTaps = 1024;
  for (const ResampleAxis &axis : plan.axes) {
    if (!(axis.scale > 0) || !std::isfinite(axis.scale))
      return node.fail("a scale is " + std::to_string(axis.scale) + ", expected a positive number");
    double taps = tapCount(axis, plan.options);
    if (taps > kMostTaps)
      return node.fail("a scale of " + std::to_string(axis.scale) + " needs too many elements for each output");
    if (failed(node.spend(axis.output * static_cast<int64_t>(taps))))
      return mlir::failure();
  }
  return mlir::success();
}

mlir::LogicalResult buildResize(NodeContext &node) {
  ResizePlan plan;
  if (failed(readOptions(node, plan)) || failed(readSizes(node, plan)))
    return mlir::failure();
  Shape shape;
  for (const ResampleAxis &axis : plan.axes)
    shape.push_back(axis.output);
  if (!checkedByteCount(shape, node.type(0)) || elementCount(shape) == 0 || elementCount(node.shape(0)) == 0)
    return node.fail("cannot resize " + shapeText(node.shape(0)) + " to " + shapeText(shape));
  if (failed(checkWork(node, plan)))
    return mlir::failure();
  Builder &b = node.b;
  // Filters need f32; nearest moves elements of any type.
  bool filters = plan.options.mode != "nearest";
  ElementType type = node.type(0);
  bool converts = filters && type != ElementType::F32 && type != ElementType::F64;
  Value value = node.input(0);
  if (converts)
    value = casted(b, value, type, ElementType::F32);
  llvm::SmallVector<int64_t> factors(plan.axes.size(), 1);
  for (auto [i, axis] : llvm::enumerate(plan.axes)) {
    // An axis that keeps its size takes no part, whatever the mode.
    if (axis.scale == 1 && axis.input == axis.output && plan.options.coordinates != "tf_crop_and_resize")
      continue;
    ResampleTable table = resampleTable(axis, plan.options);
    if (isIdentity(table, axis))
      continue;
    if (std::optional<int64_t> factor = repeatFactor(table, axis))
      factors[i] = *factor;
    else
      value = resampled(node, value, i, table, plan.extrapolation);
  }
  if (llvm::any_of(factors, [](int64_t f) { return f > 1; }))
    value = repeated(b, value, factors);
  if (converts)
    value = casted(b, value, ElementType::F32, type);
  node.setResult(0, value, type);
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Resize", 10, 1, 4, buildResize},
    {"", "Upsample", 7, 1, 2, buildResize},
};

} // namespace

llvm::ArrayRef<OperatorEntry> resizeOperators() { return kOperators; }

} // namespace autotune
