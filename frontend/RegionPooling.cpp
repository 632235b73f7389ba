// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RoiAlign and MaxRoiPool: boxes of an image, given at run time, pooled to one size.
#include "frontend/OperatorTable.h"
#include "frontend/Sampling.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

namespace autotune {

namespace arith = mlir::arith;
namespace math = mlir::math;
using mlir::Value;
using mlir::utils::IteratorType;
using scalar::constantLike;

namespace {

mlir::Type numberType(NodeContext &node) { return accumulatorType(node.elementType(0)); }

Value read(Builder &b, Value tensor, llvm::ArrayRef<Value> at) {
  return b.create<mlir::tensor::ExtractOp>(tensor, at);
}
Value position(Builder &b, int64_t value) { return b.create<arith::ConstantIndexOp>(value); }

/// A whole number in a loop as a float.
Value asNumber(Builder &b, Value index, mlir::Type type) {
  return b.create<arith::SIToFPOp>(type, b.create<arith::IndexCastOp>(b.getI64Type(), index));
}

/// An index from the model's data, limited to the dimension.
Value boundedIndex(Builder &b, Value raw, int64_t dim) {
  Value index = b.create<arith::IndexCastOp>(b.getIndexType(), raw);
  return b.create<arith::MinSIOp>(b.create<arith::MaxSIOp>(index, position(b, 0)), position(b, dim - 1));
}

struct RoiAlign {
  int64_t height, width, samples;
  double scale, offset;
  bool average, sizeAtLeastOne;
};

mlir::FailureOr<RoiAlign> readRoiAlign(NodeContext &node) {
  RoiAlign roi;
  roi.height = node.intAttribute("output_height", 1);
  roi.width = node.intAttribute("output_width", 1);
  roi.samples = node.intAttribute("sampling_ratio", 0);
  roi.scale = node.floatAttribute("spatial_scale", 1);
  std::string mode = node.stringAttribute("mode", "avg");
  roi.average = mode == "avg";
  // Before opset 16 the corner of an element is where its centre is.
  std::string coordinates = node.version() < 16
                                ? std::string("output_half_pixel")
                                : node.stringAttribute("coordinate_transformation_mode", "half_pixel");
  bool halfPixel = coordinates == "half_pixel";
  roi.offset = halfPixel ? 0.5 : 0;
  roi.sizeAtLeastOne = !halfPixel;
  if ((mode != "avg" && mode != "max") || (!halfPixel && coordinates != "output_half_pixel"))
    return node.fail("mode '" + mode + "' or coordinate_transformation_mode '" + coordinates +
                     "' is not known");
  llvm::ArrayRef<int64_t> x = node.shape(0), rois = node.shape(1);
  if (x.size() != 4 || rois.size() != 2 || rois[1] != 4 || node.shape(2) != rois.take_front() ||
      !isFloat(node.type(0)) || node.type(1) != node.type(0) || isFloat(node.type(2)) || elementCount(x) == 0)
    return node.fail("X " + shapeText(x) + ", rois " + shapeText(rois) + " and batch_indices " +
                     shapeText(node.shape(2)) + " do not fit");
  Shape shape = {rois[0], x[1], roi.height, roi.width};
  if (roi.height < 1 || roi.width < 1 || roi.samples < 0 || roi.samples > 1 << 12 ||
      !checkedByteCount(shape, node.type(0)))
    return node.fail("output_height, output_width or sampling_ratio is not valid");
  return roi;
}

/// The number of samples of the largest bin, when each box chooses its own: as many as its bins have
/// elements.
mlir::FailureOr<std::pair<int64_t, int64_t>> sampleCounts(NodeContext &node, const RoiAlign &roi) {
  if (roi.samples > 0)
    return std::make_pair(roi.samples, roi.samples);
  const ConstantTensor *rois = node.constant(1);
  if (!rois)
    return node.fail(
        "sampling_ratio is 0 and the boxes (input 1) are not known at import: the number of samples "
        "depends on them");
  double height = 1, width = 1;
  for (int64_t i = 0; i < rois->shape()[0]; ++i) {
    width = std::max(width, (rois->floatAt(4 * i + 2) - rois->floatAt(4 * i)) * roi.scale);
    height = std::max(height, (rois->floatAt(4 * i + 3) - rois->floatAt(4 * i + 1)) * roi.scale);
  }
  double rows = std::ceil(height / static_cast<double>(roi.height));
  double columns = std::ceil(width / static_cast<double>(roi.width));
  if (!(rows <= 1 << 12 && columns <= 1 << 12))
    return node.fail("a box is too large");
  return std::make_pair(static_cast<int64_t>(rows), static_cast<int64_t>(columns));
}

/// One dimension of one bin: where sample `s` of bin `bin` is, and whether there is one.
struct Sample {
  sampling::Taps taps;
  Value counts; // the number of samples of the bin, a float
  Value exists; // i1
};

Sample sampleAlong(Builder &b, const RoiAlign &roi, Value start, Value end, Value bin, Value s, int64_t bins,
                   int64_t size) {
  mlir::Type type = start.getType();
  auto number = [&](double value) { return scalarConstant(b, type, value); };
  start = scalar::sub(b, scalar::mul(b, start, number(roi.scale)), number(roi.offset));
  end = scalar::sub(b, scalar::mul(b, end, number(roi.scale)), number(roi.offset));
  Value extent = scalar::sub(b, end, start);
  if (roi.sizeAtLeastOne)
    extent = b.create<arith::MaximumFOp>(extent, number(1));
  Value binSize = b.create<arith::DivFOp>(extent, number(static_cast<double>(bins)));
  Sample sample;
  sample.counts =
      roi.samples > 0 ? number(static_cast<double>(roi.samples)) : Value(b.create<math::CeilOp>(binSize));
  Value at = asNumber(b, s, type);
  Value inBin =
      b.create<arith::DivFOp>(scalar::mul(b, scalar::add(b, at, number(0.5)), binSize), sample.counts);
  Value x = scalar::add(b, scalar::add(b, start, scalar::mul(b, asNumber(b, bin, type), binSize)), inBin);
  using scalar::Relation;
  Value exists = scalar::compare(b, Relation::Less, ElementType::F32, at, sample.counts);
  Value low = scalar::compare(b, Relation::GreaterOrEqual, ElementType::F32, x, number(-1));
  Value high =
      scalar::compare(b, Relation::LessOrEqual, ElementType::F32, x, number(static_cast<double>(size)));
  sample.exists = exists;
  // Up to one element outside the image still reads its border; beyond that there is nothing.
  Value inside = b.create<arith::AndIOp>(low, high);
  x = sampling::limited(b, x, 0, static_cast<double>(size - 1));
  sample.taps = sampling::linear(b, {size, sampling::Padding::Border}, x);
  for (sampling::Tap &tap : sample.taps)
    tap.inside = inside;
  return sample;
}

/// The greatest of the four weighted elements around a sample, as ONNX defines the mode.
Value greatestTerm(Builder &b, Value image, llvm::ArrayRef<Value> leading, const Sample &y, const Sample &x,
                   mlir::Type type) {
  Value greatest;
  for (const sampling::Tap &row : y.taps)
    for (const sampling::Tap &column : x.taps) {
      Value term =
          sampling::weightedSum(b, image, leading, {sampling::Taps{row}, sampling::Taps{column}}, type);
      greatest = greatest ? b.create<arith::MaximumFOp>(greatest, term).getResult() : term;
    }
  return greatest;
}

mlir::LogicalResult buildRoiAlign(NodeContext &node) {
  mlir::FailureOr<RoiAlign> roi = readRoiAlign(node);
  if (failed(roi))
    return mlir::failure();
  auto counts = sampleCounts(node, *roi);
  if (failed(counts))
    return mlir::failure();
  auto [rows, columns] = *counts;
  Builder &b = node.b;
  Shape image(node.shape(0)), shape = {node.shape(1)[0], image[1], roi->height, roi->width};
  mlir::Type type = numberType(node), element = node.elementType(0);
  Value source = node.input(0), boxes = floatCast(b, node.input(1), type), batches = node.input(2);
  // One term for each sample, then their sum or maximum.
  Shape terms = shape;
  terms.append({rows, columns});
  auto body = [&](Builder &inner, mlir::ValueRange i) -> Value {
    auto corner = [&](int64_t k) { return read(inner, boxes, {i[0], position(inner, k)}); };
    Sample y = sampleAlong(inner, *roi, corner(1), corner(3), i[2], i[4], roi->height, image[2]);
    Sample x = sampleAlong(inner, *roi, corner(0), corner(2), i[3], i[5], roi->width, image[3]);
    Value batch = boundedIndex(inner, read(inner, batches, i[0]), image[0]);
    Value exists = inner.create<arith::AndIOp>(y.exists, x.exists);
    if (!roi->average) {
      Value term = greatestTerm(inner, source, {batch, i[1]}, y, x, type);
      Value least = inner.create<arith::ConstantOp>(scalar::lowest(inner, type, ElementType::F32));
      return inner.create<arith::SelectOp>(exists, term, least);
    }
    Value sum = sampling::weightedSum(inner, source, {batch, i[1]}, {y.taps, x.taps}, type);
    Value count =
        inner.create<arith::MaximumFOp>(scalar::mul(inner, y.counts, x.counts), constantLike(inner, sum, 1));
    return inner.create<arith::SelectOp>(exists, inner.create<arith::DivFOp>(sum, count),
                                         constantLike(inner, sum, 0));
  };
  Value all = computedByIndex(b, terms, type, body);
  Value init = roi->average
                   ? scalarConstant(b, type, 0)
                   : b.create<arith::ConstantOp>(scalar::lowest(b, type, ElementType::F32)).getResult();
  Value result = reduced(b, all, {4, 5}, init, [&](Builder &inner, mlir::ValueRange v) {
    return roi->average ? scalar::add(inner, v[0], v[1]) : scalar::max(inner, ElementType::F32, v[0], v[1]);
  });
  node.setResult(0, floatCast(b, result, element));
  return mlir::success();
}

/// First element and end of a bin of MaxRoiPool along one dimension.
std::pair<Value, Value> binBounds(Builder &b, Value start, Value end, Value bin, double scale, int64_t bins,
                                  int64_t size) {
  mlir::Type type = start.getType();
  auto rounded = [&](Value x) {
    // Half away from zero, as C's round.
    Value scaled = scalar::mul(b, x, scalarConstant(b, type, scale));
    Value half = scalarConstant(b, type, 0.5);
    Value up = b.create<math::FloorOp>(scalar::add(b, scaled, half));
    Value down = b.create<math::CeilOp>(scalar::sub(b, scaled, half));
    Value positive = scalar::compare(b, scalar::Relation::GreaterOrEqual, ElementType::F32, scaled,
                                     scalarConstant(b, type, 0));
    return Value(b.create<arith::SelectOp>(positive, up, down));
  };
  Value first = rounded(start), one = scalarConstant(b, type, 1);
  Value extent = scalar::add(b, scalar::sub(b, rounded(end), first), one);
  extent = b.create<arith::MaximumFOp>(extent, one);
  Value binSize = b.create<arith::DivFOp>(extent, scalarConstant(b, type, static_cast<double>(bins)));
  Value at = asNumber(b, bin, type);
  Value low = b.create<math::FloorOp>(scalar::mul(b, at, binSize));
  Value high = b.create<math::CeilOp>(scalar::mul(b, scalar::add(b, at, one), binSize));
  double limit = static_cast<double>(size);
  return {sampling::limited(b, scalar::add(b, low, first), 0, limit),
          sampling::limited(b, scalar::add(b, high, first), 0, limit)};
}

/// A reduction over the image, of which each bin takes its part; an empty bin gives 0.
mlir::LogicalResult buildMaxRoiPool(NodeContext &node) {
  std::vector<int64_t> pooled = node.intsAttribute("pooled_shape");
  double scale = node.floatAttribute("spatial_scale", 1);
  llvm::ArrayRef<int64_t> x = node.shape(0), rois = node.shape(1);
  if (x.size() != 4 || rois.size() != 2 || rois[1] != 5 || pooled.size() != 2 || pooled[0] < 1 ||
      pooled[1] < 1 || !isFloat(node.type(0)) || node.type(1) != node.type(0) || elementCount(x) == 0)
    return node.fail("X " + shapeText(x) + ", rois " + shapeText(rois) + " and pooled_shape " +
                     shapeText(pooled) + " do not fit");
  Builder &b = node.b;
  Shape image(x), shape = {rois[0], x[1], pooled[0], pooled[1]};
  if (!checkedByteCount(shape, node.type(0)))
    return node.fail("the result " + shapeText(shape) + " is too large");
  mlir::Type element = node.elementType(0), type = numberType(node);
  Value boxes = floatCast(b, node.input(1), type), source = node.input(0);
  Value least = b.create<arith::ConstantOp>(scalar::lowest(b, element, node.type(0)));
  Shape terms = shape;
  terms.append({image[2], image[3]});
  auto body = [&](Builder &inner, mlir::ValueRange i) -> Value {
    auto corner = [&](int64_t k) { return read(inner, boxes, {i[0], position(inner, k)}); };
    Value inBin;
    for (int64_t d = 0; d < 2; ++d) {
      auto [low, high] =
          binBounds(inner, corner(2 - d), corner(4 - d), i[2 + d], scale, pooled[d], image[2 + d]);
      Value at = asNumber(inner, i[4 + d], type);
      Value after = scalar::compare(inner, scalar::Relation::GreaterOrEqual, ElementType::F32, at, low);
      Value before = scalar::compare(inner, scalar::Relation::Less, ElementType::F32, at, high);
      Value here = inner.create<arith::AndIOp>(after, before);
      inBin = inBin ? inner.create<arith::AndIOp>(inBin, here).getResult() : here;
    }
    Value batch = boundedIndex(inner, sampling::boundedInteger(inner, corner(0)), image[0]);
    Value none = inner.create<arith::ConstantOp>(scalar::lowest(inner, element, node.type(0)));
    return inner.create<arith::SelectOp>(inBin, read(inner, source, {batch, i[1], i[4], i[5]}), none);
  };
  Value greatest = reduced(
      b, computedByIndex(b, terms, element, body), {4, 5}, least,
      [&](Builder &inner, mlir::ValueRange v) { return scalar::max(inner, node.type(0), v[0], v[1]); });
  node.setResult(
      0, elementwise(b, shape, element, broadcastOperand(b, greatest, shape),
                     [&](Builder &inner, mlir::ValueRange v) -> Value {
                       Value none =
                           inner.create<arith::ConstantOp>(scalar::lowest(inner, element, node.type(0)));
                       Value empty =
                           scalar::compare(inner, scalar::Relation::Equal, node.type(0), v[0], none);
                       return inner.create<arith::SelectOp>(empty, constantLike(inner, v[0], 0), v[0]);
                     }));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "MaxRoiPool", 1, 2, 2, buildMaxRoiPool},
    {"", "RoiAlign", 10, 3, 3, buildRoiAlign, "boxes known at import where sampling_ratio is 0"},
};

} // namespace

llvm::ArrayRef<OperatorEntry> regionPoolingOperators() { return kOperators; }

} // namespace autotune
