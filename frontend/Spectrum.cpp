// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signals: DFT and STFT as products with a matrix of cosines and sines; windows and mel filters as constants.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;

namespace {

// The matrix is a constant of the model.
constexpr int64_t kMaxMatrixElements = int64_t(1) << 26;

struct Transform {
  int64_t length; // of the signal
  int64_t bins;   // of the result
  int64_t parts;  // 1: real, 2: complex
  bool inverse;
};

/// [length * parts, bins * 2]: what each part of each sample adds to each part of each bin.
ConstantTensor transformMatrix(const Transform &t, ElementType type) {
  unsigned width = byteSize(type);
  std::vector<char> bytes(t.length * t.parts * t.bins * 2 * width);
  double scale = t.inverse ? 1.0 / static_cast<double>(t.length) : 1, sign = t.inverse ? 1 : -1;
  char *out = bytes.data();
  for (int64_t n = 0; n < t.length; ++n)
    for (int64_t part = 0; part < t.parts; ++part)
      for (int64_t k = 0; k < t.bins; ++k) {
        // Only the rest of a whole turn counts, and keeps the angle exact.
        double angle = 2 * M_PI * static_cast<double>(n * k % t.length) / static_cast<double>(t.length);
        double cosine = std::cos(angle) * scale, sine = sign * std::sin(angle) * scale;
        storeFloat(out, type, part == 0 ? cosine : -sine);
        storeFloat(out + width, type, part == 0 ? sine : cosine);
        out += 2 * width;
      }
  return ConstantTensor::own(type, {t.length * t.parts, t.bins * 2}, std::move(bytes));
}

/// [rows, length * parts] to [rows, bins * 2].
mlir::FailureOr<Value> transformed(NodeContext &node, Value rows, const Transform &t) {
  if (t.length < 1 || t.length > kMaxMatrixElements ||
      t.length * t.parts > kMaxMatrixElements / std::max<int64_t>(2 * t.bins, 1))
    return node.fail("a transform of length " + llvm::Twine(t.length) + " is not possible");
  Builder &b = node.b;
  mlir::Type type = elementOf(rows);
  Value matrix = node.materialize(transformMatrix(t, type.isF64() ? ElementType::F64 : ElementType::F32));
  Value init = zeroTensor(b, {shapeOf(rows)[0], 2 * t.bins}, type);
  return b.create<mlir::linalg::MatmulOp>(mlir::ValueRange{rows, matrix}, mlir::ValueRange{init})
      .getResult(0);
}

/// A known scalar; nothing when the operand is absent.
mlir::FailureOr<std::optional<int64_t>> knownInteger(NodeContext &node, size_t index) {
  std::optional<std::vector<int64_t>> values = node.constantInts(index);
  if (node.failedAlready())
    return mlir::failure();
  if (!values)
    return std::optional<int64_t>();
  if (values->size() != 1)
    return node.fail("input " + llvm::Twine(index) + " has " + llvm::Twine(values->size()) +
                     " elements, expected 1");
  return std::optional(values->front());
}

/// The dimension `axis` with exactly `length` elements: cut off, or followed by zeros.
Value withLength(Builder &b, Value tensor, int64_t axis, int64_t length) {
  Shape size(shapeOf(tensor)), zeros(size.size(), 0), ones(size.size(), 1), high = zeros;
  high[axis] = std::max<int64_t>(length - size[axis], 0);
  size[axis] = std::min(length, size[axis]);
  return padded(b, sliceOf(b, tensor, zeros, size, ones), zeros, high, 0);
}

mlir::LogicalResult buildDft(NodeContext &node) {
  int64_t rank = node.rank(0);
  bool inverse = node.intAttribute("inverse", 0) != 0, onesided = node.intAttribute("onesided", 0) != 0;
  if (!isFloat(node.type(0)) || rank < 2 || (node.shape(0).back() != 1 && node.shape(0).back() != 2))
    return node.fail("input is " + spelling(node.type(0)) + " of shape " + shapeText(node.shape(0)) +
                     ", expected floats whose last dimension is 1 (real) or 2 (complex)");
  auto length = knownInteger(node, 1), wantedAxis = knownInteger(node, 2);
  if (failed(length) || failed(wantedAxis))
    return mlir::failure();
  int64_t axis = node.version() < 20 ? node.axisAttribute("axis", 1, rank)
                                     : node.normalizedAxis(wantedAxis->value_or(-2), rank);
  if (node.failedAlready())
    return mlir::failure();
  if (axis == rank - 1 || (inverse && onesided))
    return node.fail(inverse && onesided ? "an inverse transform of one side is not supported"
                                         : "the axis is that of real and imaginary parts");
  Builder &b = node.b;
  Transform t{length->value_or(node.shape(0)[axis]), 0, node.shape(0).back(), inverse};
  t.bins = onesided ? t.length / 2 + 1 : t.length;
  if (t.length < 1 || t.length > kMaxMatrixElements)
    return node.fail("dft_length is " + llvm::Twine(t.length));
  mlir::Type element = node.elementType(0);
  Value signal = withLength(b, floatCast(b, node.input(0), accumulatorType(element)), axis, t.length);
  Shape shape(shapeOf(signal));
  int64_t outer = elementCount(llvm::ArrayRef<int64_t>(shape).take_front(axis));
  int64_t inner = elementCount(llvm::ArrayRef<int64_t>(shape).slice(axis + 1, rank - axis - 2));
  Value moved = transposed(b, reshapeTo(b, signal, {outer, t.length, inner, t.parts}), {0, 2, 1, 3});
  auto bins = transformed(node, reshapeTo(b, moved, {outer * inner, t.length * t.parts}), t);
  if (failed(bins))
    return mlir::failure();
  Value back = transposed(b, reshapeTo(b, *bins, {outer, inner, t.bins, 2}), {0, 2, 1, 3});
  shape[axis] = t.bins;
  shape.back() = 2;
  node.setResult(0, floatCast(b, reshapeTo(b, back, shape), element));
  return mlir::success();
}

mlir::LogicalResult buildStft(NodeContext &node) {
  llvm::ArrayRef<int64_t> signal = node.shape(0);
  if (!isFloat(node.type(0)) || signal.size() < 2 || signal.size() > 3 ||
      (signal.size() == 3 && signal[2] != 1 && signal[2] != 2))
    return node.fail("signal is " + spelling(node.type(0)) + " of shape " + shapeText(signal) +
                     ", expected floats [batch, length, 1 or 2]");
  auto step = knownInteger(node, 1), length = knownInteger(node, 3);
  if (failed(step) || failed(length))
    return mlir::failure();
  bool hasWindow = node.hasInput(2);
  if (!*length)
    length = std::optional(hasWindow && node.rank(2) == 1 ? node.shape(2)[0] : signal[1]);
  int64_t parts = signal.size() == 3 ? signal[2] : 1;
  Transform t{**length, 0, parts, /*inverse=*/false};
  t.bins = node.intAttribute("onesided", 1) ? t.length / 2 + 1 : t.length;
  if (t.length < 1 || t.length > signal[1] || **step < 1 ||
      (hasWindow && (node.shape(2) != llvm::ArrayRef<int64_t>(t.length) || node.type(2) != node.type(0))))
    return node.fail("frames of length " + llvm::Twine(t.length) + " and step " + llvm::Twine(**step) +
                     " do not fit the signal " + shapeText(signal) + " or the window");
  Builder &b = node.b;
  int64_t batch = signal[0], frames = (signal[1] - t.length) / **step + 1, hop = **step;
  mlir::Type element = node.elementType(0), type = accumulatorType(element);
  Value samples = reshapeTo(b, floatCast(b, node.input(0), type), {batch, signal[1], parts});
  Shape framed = {batch, frames, t.length, parts};
  if (!checkedByteCount(framed, ElementType::F64))
    return node.fail("the frames " + shapeText(framed) + " are too large");
  llvm::SmallVector<ElementwiseOperand> operands;
  if (hasWindow)
    operands.push_back(alongAxis(b, floatCast(b, node.input(2), type), 2, 4));
  Value rows = elementwise(b, framed, type, operands, [&](Builder &inner, mlir::ValueRange v) -> Value {
    auto loop = [&](int64_t i) -> Value { return inner.create<mlir::linalg::IndexOp>(i); };
    Value start = inner.create<arith::MulIOp>(loop(1), inner.create<arith::ConstantIndexOp>(hop));
    Value at = inner.create<arith::AddIOp>(start, loop(2));
    Value sample = inner.create<mlir::tensor::ExtractOp>(samples, mlir::ValueRange{loop(0), at, loop(3)});
    return hasWindow ? scalar::mul(inner, sample, v[0]) : sample;
  });
  auto bins = transformed(node, reshapeTo(b, rows, {batch * frames, t.length * parts}), t);
  if (failed(bins))
    return mlir::failure();
  node.setResult(0, floatCast(b, reshapeTo(b, *bins, {batch, frames, t.bins, 2}), element));
  return mlir::success();
}

/// The attribute output_datatype.
mlir::FailureOr<ElementType> outputType(NodeContext &node) {
  int64_t code = node.intAttribute("output_datatype", 1);
  std::optional<ElementType> type = elementTypeFromOnnx(code);
  if (!type || *type == ElementType::Bool)
    return node.fail("output_datatype " + onnxDataTypeName(code) + " is not supported");
  return *type;
}

void storeNumber(char *bytes, ElementType type, double value) {
  if (isFloat(type))
    storeFloat(bytes, type, value);
  else
    storeInt(bytes, type, static_cast<int64_t>(value));
}

/// c0 - c1 * cos(x) + c2 * cos(2x), with x from 0 to a whole turn.
mlir::LogicalResult buildWindow(NodeContext &node, double c0, double c1, double c2) {
  auto size = knownInteger(node, 0);
  mlir::FailureOr<ElementType> type = outputType(node);
  if (failed(size) || failed(type))
    return mlir::failure();
  if (**size < 0 || **size > kMaxMatrixElements)
    return node.fail("the size is " + llvm::Twine(**size));
  int64_t turn = **size - (node.intAttribute("periodic", 1) ? 0 : 1);
  std::vector<char> bytes(**size * byteSize(*type));
  for (int64_t i = 0; i < **size; ++i) {
    double x = turn == 0 ? M_PI : 2 * M_PI * static_cast<double>(i) / static_cast<double>(turn);
    storeNumber(bytes.data() + i * byteSize(*type), *type, c0 - c1 * std::cos(x) + c2 * std::cos(2 * x));
  }
  node.setResult(0, ConstantTensor::own(*type, {**size}, std::move(bytes)));
  return mlir::success();
}

mlir::LogicalResult buildHann(NodeContext &node) { return buildWindow(node, 0.5, 0.5, 0); }
mlir::LogicalResult buildHamming(NodeContext &node) { return buildWindow(node, 25.0 / 46, 21.0 / 46, 0); }
mlir::LogicalResult buildBlackman(NodeContext &node) { return buildWindow(node, 0.42, 0.5, 0.08); }

/// Triangles on the mel scale, one for each column.
mlir::LogicalResult buildMelWeightMatrix(NodeContext &node) {
  auto melBins = knownInteger(node, 0), length = knownInteger(node, 1), rate = knownInteger(node, 2);
  mlir::FailureOr<ElementType> type = outputType(node);
  if (failed(melBins) || failed(length) || failed(rate) || failed(type))
    return mlir::failure();
  const ConstantTensor *lower = node.constant(3), *upper = node.constant(4);
  if (!lower || !upper || lower->size() != 1 || upper->size() != 1)
    return node.fail("the edges (inputs 3 and 4) are not scalars known at import");
  int64_t columns = **melBins, rows = **length / 2 + 1;
  if (columns < 1 || columns > 1 << 20 || **length < 1 || **rate < 1 || rows > kMaxMatrixElements / columns)
    return node.fail("num_mel_bins, dft_length or sample_rate is not valid");
  auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  double low = mel(lower->floatAt(0)),
         step = (mel(upper->floatAt(0)) - low) / static_cast<double>(columns + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < columns + 2; ++i) {
    double hertz = 700 * (std::pow(10, (static_cast<double>(i) * step + low) / 2595) - 1);
    double bin = std::floor(static_cast<double>(**length + 1) * hertz / static_cast<double>(**rate));
    if (!(bin >= 0 && bin < static_cast<double>(rows)))
      return node.fail("a mel bin is outside the spectrum of " + llvm::Twine(rows) + " bins");
    edges.push_back(static_cast<int64_t>(bin));
  }
  std::vector<char> bytes(rows * columns * byteSize(*type));
  for (int64_t column = 0; column < columns; ++column) {
    int64_t left = edges[column], centre = edges[column + 1], right = edges[column + 2];
    auto set = [&](int64_t row, int64_t part, int64_t whole) {
      double value = whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
      storeNumber(bytes.data() + (row * columns + column) * byteSize(*type), *type, value);
    };
    for (int64_t row = left; row <= centre; ++row)
      set(row, row - left, centre - left);
    for (int64_t row = centre; row < right; ++row)
      set(row, right - row, right - centre);
  }
  node.setResult(0, ConstantTensor::own(*type, {rows, columns}, std::move(bytes)));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "BlackmanWindow", 17, 1, 1, buildBlackman},
    {"", "DFT", 17, 1, 3, buildDft, "no inverse of one side"},
    {"", "HammingWindow", 17, 1, 1, buildHamming},
    {"", "HannWindow", 17, 1, 1, buildHann},
    {"", "MelWeightMatrix", 17, 5, 5, buildMelWeightMatrix},
    {"", "STFT", 17, 2, 4, buildStft},
};

} // namespace

llvm::ArrayRef<OperatorEntry> spectrumOperators() { return kOperators; }

} // namespace autotune
