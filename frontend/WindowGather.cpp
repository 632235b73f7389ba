// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators over sliding windows that need to know where an element came from: MaxPool with indices,
// MaxUnpool, Col2Im.
#include "frontend/WindowGather.h"

#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace arith = mlir::arith;
using mlir::Value;
using mlir::utils::IteratorType;

namespace {

Value whole(Builder &b, int64_t value) { return b.create<arith::ConstantOp>(b.getI64IntegerAttr(value)); }
Value toIndex(Builder &b, Value integer) { return b.create<arith::IndexCastOp>(b.getIndexType(), integer); }

/// [output, kernel]: the element that each place of each window reads along one dimension; -1 outside the
/// input.
ConstantTensor readTable(const Window &window, size_t dim, int64_t size) {
  std::vector<int64_t> table;
  for (int64_t o = 0; o < window.output[dim]; ++o)
    for (int64_t k = 0; k < window.kernel[dim]; ++k) {
      int64_t at = o * window.strides[dim] - window.padLow[dim] + k * window.dilations[dim];
      table.push_back(at >= 0 && at < size ? at : -1);
    }
  return ConstantTensor::ints(table).reshaped({window.output[dim], window.kernel[dim]});
}

/// [image, kernel]: the window that reads an element with that place of its kernel; -1 when there is none.
ConstantTensor writeTable(const Window &window, size_t dim, int64_t size) {
  std::vector<int64_t> table;
  for (int64_t i = 0; i < size; ++i)
    for (int64_t k = 0; k < window.kernel[dim]; ++k) {
      int64_t start = i + window.padLow[dim] - k * window.dilations[dim], stride = window.strides[dim];
      bool hit = start >= 0 && start % stride == 0 && start / stride < window.output[dim];
      table.push_back(hit ? start / stride : -1);
    }
  return ConstantTensor::ints(table).reshaped({size, window.kernel[dim]});
}

/// Loops: two leading dimensions, one for each spatial dimension of the result, one for each of the kernel.
struct TableLoops {
  llvm::SmallVector<Value> tables;
  llvm::SmallVector<mlir::AffineMap> maps; // of the tables
  mlir::AffineMap result;
  llvm::SmallVector<IteratorType> iterators;
};

TableLoops tableLoops(NodeContext &node, llvm::ArrayRef<ConstantTensor> tables) {
  Builder &b = node.b;
  size_t dims = tables.size(), rank = 2 + 2 * dims;
  TableLoops loops;
  for (size_t d = 0; d < dims; ++d) {
    loops.tables.push_back(node.materialize(tables[d]));
    loops.maps.push_back(mlir::AffineMap::get(
        rank, 0, {b.getAffineDimExpr(2 + d), b.getAffineDimExpr(2 + dims + d)}, b.getContext()));
  }
  loops.result = mlir::AffineMap::getMultiDimIdentityMap(rank, b.getContext()).getMajorSubMap(2 + dims);
  loops.iterators.assign(2 + dims, IteratorType::parallel);
  loops.iterators.append(dims, IteratorType::reduction);
  return loops;
}

/// Whether every table entry is a position, and the positions as numbers in their dimensions.
Value allInside(Builder &b, mlir::ValueRange entries) {
  Value inside;
  for (Value entry : entries) {
    Value here = b.create<arith::CmpIOp>(arith::CmpIPredicate::sge, entry, whole(b, 0));
    inside = inside ? b.create<arith::AndIOp>(inside, here).getResult() : here;
  }
  return inside;
}

llvm::SmallVector<Value> positions(Builder &b, mlir::ValueRange entries) {
  llvm::SmallVector<Value> at;
  for (Value entry : entries)
    at.push_back(toIndex(b, b.create<arith::MaxSIOp>(entry, whole(b, 0))));
  return at;
}

/// ((n * C + c) * d0 + i0) * d1 + … ; with column-major order the spatial dimensions count from the first.
Value flatPosition(Builder &b, llvm::ArrayRef<Value> spatial, llvm::ArrayRef<int64_t> input,
                   bool columnMajor) {
  auto loop = [&](int64_t i) {
    return b.create<arith::IndexCastOp>(b.getI64Type(), b.create<mlir::linalg::IndexOp>(i)).getResult();
  };
  Value flat = b.create<arith::AddIOp>(b.create<arith::MulIOp>(loop(0), whole(b, input[1])), loop(1));
  size_t dims = spatial.size();
  for (size_t i = 0; i < dims; ++i) {
    size_t d = columnMajor ? dims - 1 - i : i;
    Value scaled = b.create<arith::MulIOp>(flat, whole(b, input[2 + d]));
    flat = b.create<arith::AddIOp>(scaled, b.create<arith::IndexCastOp>(b.getI64Type(), spatial[d]));
  }
  return flat;
}

/// What one place of a window reads.
struct Reading {
  Value element, inside, flat;
};

Reading readingOf(Builder &b, Value source, mlir::ValueRange entries, llvm::ArrayRef<int64_t> input,
                  bool columnMajor) {
  llvm::SmallVector<Value> spatial = positions(b, entries);
  llvm::SmallVector<Value> at = {b.create<mlir::linalg::IndexOp>(0), b.create<mlir::linalg::IndexOp>(1)};
  llvm::append_range(at, spatial);
  return {b.create<mlir::tensor::ExtractOp>(source, at), allInside(b, entries),
          flatPosition(b, spatial, input, columnMajor)};
}

Value reducedOverWindows(Builder &b, const TableLoops &loops, llvm::ArrayRef<Value> operands, Value init,
                         ScalarBody body) {
  llvm::SmallVector<Value> inputs(loops.tables);
  inputs.append(operands.begin(), operands.end());
  llvm::SmallVector<mlir::AffineMap> maps = loops.maps;
  maps.append(operands.size() + 1, loops.result);
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    inner.create<mlir::linalg::YieldOp>(body(inner, v));
  };
  return b
      .create<mlir::linalg::GenericOp>(mlir::TypeRange{init.getType()}, inputs, mlir::ValueRange{init}, maps,
                                       loops.iterators, build)
      .getResult(0);
}

} // namespace

std::pair<Value, Value> maximaWithIndices(NodeContext &node, const Window &window, bool columnMajor) {
  Builder &b = node.b;
  Shape input(node.shape(0)), shape(node.shape(0).take_front(2));
  shape.append(window.output.begin(), window.output.end());
  std::vector<ConstantTensor> tables;
  for (size_t d = 0; d < window.kernel.size(); ++d)
    tables.push_back(readTable(window, d, input[2 + d]));
  TableLoops loops = tableLoops(node, tables);
  ElementType type = node.type(0);
  Value source = node.input(0);
  size_t dims = tables.size();
  Value least = b.create<arith::ConstantOp>(scalar::lowest(b, node.elementType(0), type));
  Value maxima = reducedOverWindows(
      b, loops, {}, filledTensor(b, shape, least), [&](Builder &inner, mlir::ValueRange v) -> Value {
        Reading read = readingOf(inner, source, v.take_front(dims), input, columnMajor);
        Value greater = scalar::max(inner, type, read.element, v[dims]);
        return inner.create<arith::SelectOp>(read.inside, greater, v[dims]);
      });
  // The first place that has the maximum.
  Value indices = reducedOverWindows(
      b, loops, maxima, filledTensor(b, shape, whole(b, -1)),
      [&](Builder &inner, mlir::ValueRange v) -> Value {
        Reading read = readingOf(inner, source, v.take_front(dims), input, columnMajor);
        Value hit = scalar::compare(inner, scalar::Relation::Equal, type, read.element, v[dims]);
        Value first = inner.create<arith::CmpIOp>(arith::CmpIPredicate::slt, v[dims + 1], whole(inner, 0));
        Value take = inner.create<arith::AndIOp>(inner.create<arith::AndIOp>(hit, first), read.inside);
        return inner.create<arith::SelectOp>(take, read.flat, v[dims + 1]);
      });
  return {maxima, indices};
}

namespace {

/// Windows of an operator whose result is the image they came from.
mlir::FailureOr<Window> unpoolingWindow(NodeContext &node, llvm::ArrayRef<int64_t> input) {
  std::vector<int64_t> kernel = node.intsAttribute("kernel_shape");
  size_t dims = kernel.size();
  if (input.size() != dims + 2 || dims < 1 || dims > 3)
    return node.fail("input " + shapeText(input) + " does not fit a kernel_shape of " + llvm::Twine(dims) +
                     " values");
  std::vector<int64_t> strides = node.intsAttribute("strides", llvm::SmallVector<int64_t>(dims, 1));
  std::vector<int64_t> pads = node.intsAttribute("pads", llvm::SmallVector<int64_t>(2 * dims, 0));
  auto valid = [](llvm::ArrayRef<int64_t> values, int64_t least) {
    return llvm::all_of(values, [&](int64_t v) { return v >= least && v <= 1 << 24; });
  };
  if (strides.size() != dims || pads.size() != 2 * dims || !valid(kernel, 1) || !valid(strides, 1) ||
      !valid(pads, 0))
    return node.fail("kernel_shape, strides or pads are not valid");
  Window window;
  window.kernel.assign(kernel.begin(), kernel.end());
  for (size_t d = 0; d < dims; ++d)
    window.output.push_back((input[2 + d] - 1) * strides[d] - pads[d] - pads[dims + d] + kernel[d]);
  return window;
}

/// Each element of a plane looks for the inputs that belong there; what no input names is 0.
mlir::LogicalResult buildMaxUnpool(NodeContext &node) {
  Shape input(node.shape(0));
  mlir::FailureOr<Window> window = unpoolingWindow(node, input);
  std::optional<std::vector<int64_t>> wanted = node.constantInts(2);
  if (failed(window) || node.failedAlready())
    return mlir::failure();
  if (node.shape(1) != llvm::ArrayRef<int64_t>(input) || node.type(1) != ElementType::I64)
    return node.fail("indices are " + spelling(node.type(1)) + " of shape " + shapeText(node.shape(1)) +
                     ", expected i64 of shape " + shapeText(input));
  Shape shape = {input[0], input[1]};
  shape.append(window->output.begin(), window->output.end());
  Shape high(shape.size(), 0), low(shape.size(), 0);
  // Indices always count in the size that follows from the windows; a larger output_shape adds zeros behind
  // it.
  for (size_t i = 0; wanted && i < shape.size(); ++i) {
    high[i] = wanted->size() == shape.size() ? (*wanted)[i] - shape[i] : -1;
    if (high[i] < 0)
      return node.fail("output_shape " + shapeText(*wanted) + " is smaller than " + shapeText(shape));
  }
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 0; }) ||
      !checkedByteCount(wanted ? Shape(llvm::ArrayRef<int64_t>(*wanted)) : shape, node.type(0)))
    return node.fail("the result " + shapeText(shape) + " is not possible");
  Builder &b = node.b;
  int64_t planes = input[0] * input[1], count = elementCount(input) / std::max<int64_t>(planes, 1);
  int64_t size = elementCount(llvm::ArrayRef<int64_t>(shape).drop_front(2));
  Value values = reshapeTo(b, node.input(0), {planes, count}),
        indices = reshapeTo(b, node.input(1), {planes, count});
  mlir::AffineExpr plane = b.getAffineDimExpr(0), place = b.getAffineDimExpr(1),
                   source = b.getAffineDimExpr(2);
  auto map = [&](mlir::AffineExpr last) { return mlir::AffineMap::get(3, 0, {plane, last}, b.getContext()); };
  Value start = zeroTensor(b, {planes, size}, node.elementType(0));
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    auto loop = [&](int64_t i) -> Value {
      return inner.create<arith::IndexCastOp>(inner.getI64Type(), inner.create<mlir::linalg::IndexOp>(i));
    };
    Value here =
        inner.create<arith::AddIOp>(inner.create<arith::MulIOp>(loop(0), whole(inner, size)), loop(1));
    Value hit = inner.create<arith::CmpIOp>(arith::CmpIPredicate::eq, v[1], here);
    inner.create<mlir::linalg::YieldOp>(Value(inner.create<arith::SelectOp>(hit, v[0], v[2])));
  };
  llvm::SmallVector<IteratorType> iterators = {IteratorType::parallel, IteratorType::parallel,
                                               IteratorType::reduction};
  Value result =
      b.create<mlir::linalg::GenericOp>(
           mlir::TypeRange{start.getType()}, mlir::ValueRange{values, indices}, mlir::ValueRange{start},
           llvm::ArrayRef<mlir::AffineMap>{map(source), map(source), map(place)}, iterators, build)
          .getResult(0);
  node.setResult(0, padded(b, reshapeTo(b, result, shape), low, high, 0));
  return mlir::success();
}

/// The windows of Col2Im over `image`; the columns must be as many as there are.
mlir::FailureOr<Window> columnWindow(NodeContext &node, llvm::ArrayRef<int64_t> image,
                                     llvm::ArrayRef<int64_t> block) {
  mlir::FailureOr<Window> window = windowOf(node, image, block, /*ceilMode=*/false);
  if (failed(window))
    return mlir::failure();
  llvm::ArrayRef<int64_t> columns = node.shape(0);
  int64_t each = elementCount(block);
  if (columns.size() != 3 || columns[1] % each != 0 || columns[2] != elementCount(window->output))
    return node.fail("input " + shapeText(columns) + " does not fit blocks of " + shapeText(block) +
                     " over " + shapeText(image));
  return window;
}

/// Each element of the image sums what the windows over it have for it.
mlir::LogicalResult buildCol2Im(NodeContext &node) {
  std::optional<std::vector<int64_t>> image = node.constantInts(1), block = node.constantInts(2);
  if (node.failedAlready())
    return mlir::failure();
  auto valid = [](int64_t v) { return v >= 1 && v <= 1 << 24; };
  if (image->size() != block->size() || image->empty() || !llvm::all_of(*image, valid) ||
      !llvm::all_of(*block, valid) || node.type(0) == ElementType::Bool)
    return node.fail("image_shape " + shapeText(*image) + " and block_shape " + shapeText(*block) +
                     " do not fit");
  mlir::FailureOr<Window> window = columnWindow(node, *image, *block);
  if (failed(window))
    return mlir::failure();
  Builder &b = node.b;
  size_t dims = image->size();
  int64_t batch = node.shape(0)[0], channels = node.shape(0)[1] / elementCount(*block);
  Shape shape = {batch, channels}, split = {batch, channels};
  shape.append(image->begin(), image->end());
  split.append(block->begin(), block->end());
  split.append(window->output.begin(), window->output.end());
  if (!checkedByteCount(shape, node.type(0)))
    return node.fail("the image " + shapeText(shape) + " is too large");
  std::vector<ConstantTensor> tables;
  for (size_t d = 0; d < dims; ++d)
    tables.push_back(writeTable(*window, d, (*image)[d]));
  TableLoops loops = tableLoops(node, tables);
  mlir::Type element = node.elementType(0), type = accumulatorType(element);
  Value columns = reshapeTo(b, floatCast(b, node.input(0), type), split), init = zeroTensor(b, shape, type);
  llvm::SmallVector<mlir::AffineMap> maps = loops.maps;
  maps.push_back(loops.result);
  auto build = [&](mlir::OpBuilder &nested, mlir::Location location, mlir::ValueRange v) {
    Builder inner(location, nested);
    mlir::ValueRange entries = v.take_front(dims);
    llvm::SmallVector<Value> at = {inner.create<mlir::linalg::IndexOp>(0),
                                   inner.create<mlir::linalg::IndexOp>(1)};
    for (size_t d = 0; d < dims; ++d)
      at.push_back(inner.create<mlir::linalg::IndexOp>(2 + dims + d));
    llvm::append_range(at, positions(inner, entries));
    Value sum = scalar::add(inner, v[dims], inner.create<mlir::tensor::ExtractOp>(columns, at));
    inner.create<mlir::linalg::YieldOp>(
        Value(inner.create<arith::SelectOp>(allInside(inner, entries), sum, v[dims])));
  };
  Value result = b.create<mlir::linalg::GenericOp>(mlir::TypeRange{init.getType()}, loops.tables,
                                                   mlir::ValueRange{init}, maps, loops.iterators, build)
                     .getResult(0);
  node.setResult(0, floatCast(b, result, element));
  return mlir::success();
}

constexpr OperatorEntry kOperators[] = {
    {"", "Col2Im", 18, 3, 3, buildCol2Im},
    {"", "MaxUnpool", 9, 2, 3, buildMaxUnpool},
};

} // namespace

llvm::ArrayRef<OperatorEntry> windowGatherOperators() { return kOperators; }

} // namespace autotune
