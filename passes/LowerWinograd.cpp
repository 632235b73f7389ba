// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the loops of a Winograd kernel; what surrounds the convolution is read off its tensor form.

#include "passes/LowerWinograd.h"

#include "passes/VectorTail.h"
#include "passes/WinogradTransform.h"

#include "dialect/AutotuneDialect.h"
#include "schedule/WinogradNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace autotune {
namespace {

/// Half-open.
struct Range {
  Value begin, end;
};

class WinogradEmitter {
public:
  WinogradEmitter(func::FuncOp kernel, const LoopNest &nest)
      : kernel(kernel), nest(nest), b(kernel.getContext()), loc(kernel.getLoc()) {}

  LogicalResult run() {
    if (failed(readKernel()) || failed(createFunction()))
      return failure();
    allocateTemporaries();
    emitChunks();
    b.create<func::ReturnOp>(loc);
    function.setName(kernel.getName());
    kernel.erase();
    return success(!tailFailed);
  }

private:
  LogicalResult readKernel();
  LogicalResult createFunction();
  void allocateTemporaries();
  void emitChunks();
  void emitBlocks(Range tiles, Range outBlocks);
  void emitOutBlocks(Range tiles, Range outBlocks);
  void emitInputTransform(Range tiles);
  void emitProducts(Range tiles, Value outBlock, int64_t planes);
  void emitRegisterTile(Value point, Value row, Value outBlock, int64_t planes);
  void emitOutputTransform(Range tiles, Value outBlock, int64_t planes);
  void emitStores(const Value (&tile)[3], Value outBlock, int64_t column, ArrayRef<Value> rows);

  // -- index arithmetic --

  Value index(int64_t value) { return b.create<arith::ConstantIndexOp>(loc, value); }
  Value add(Value x, Value y) { return b.createOrFold<arith::AddIOp>(loc, x, y); }
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  Value scale(Value x, int64_t factor) { return b.createOrFold<arith::MulIOp>(loc, x, index(factor)); }
  Value least(Value x, Value y) { return b.createOrFold<arith::MinSIOp>(loc, x, y); }
  Value least(Value x, int64_t y) { return least(x, index(y)); }

  /// Emits `body(i)` for i in `range` in steps of `step`.
  void forEach(Range range, int64_t step, llvm::function_ref<void(Value)> body) {
    auto loop = b.create<scf::ForOp>(loc, range.begin, range.end, index(step));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  }
  Range whole(int64_t extent) { return {index(0), index(extent)}; }

  /// Emits `body()` under `value < bound`.
  void whereBelow(Value value, int64_t bound, llvm::function_ref<void()> body) {
    Value inside = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, value, index(bound));
    auto branch = b.create<scf::IfOp>(loc, inside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body();
  }

  // -- geometry --

  int64_t side() const { return outputs + 2; }
  int64_t points() const { return side() * side(); }
  int64_t tileRows() const { return llvm::divideCeil(height, outputs); }
  int64_t tileColumns() const { return llvm::divideCeil(width, outputs); }
  int64_t tileCount() const { return images * tileRows() * tileColumns(); }
  /// Tiles of a block, rounded up to register tiles: a last register tile may compute rows that nobody reads.
  int64_t blockTiles() const { return llvm::alignTo(blocking.tiles, blocking.rows); }

  /// Image, first row and first column of the outputs of tile number `tile`.
  void locate(Value tile, Value (&position)[3]) {
    int64_t perImage = tileRows() * tileColumns();
    position[0] = images == 1 ? index(0) : b.create<arith::DivUIOp>(loc, tile, index(perImage)).getResult();
    Value inImage = images == 1 ? tile : b.create<arith::RemUIOp>(loc, tile, index(perImage)).getResult();
    position[1] = scale(b.create<arith::DivUIOp>(loc, inImage, index(tileColumns())), outputs);
    position[2] = scale(b.create<arith::RemUIOp>(loc, inImage, index(tileColumns())), outputs);
  }

  VectorType vectorType() { return VectorType::get({lanes}, b.getF32Type()); }
  Value load(Value buffer, ValueRange at) { return b.create<vector::LoadOp>(loc, vectorType(), buffer, at); }

  func::FuncOp kernel;
  const LoopNest &nest;
  OpBuilder b;
  Location loc;

  // The tensor form.
  linalg::GenericOp root;
  SmallVector<linalg::GenericOp> tail;
  BufferPart image, filter, result;
  int64_t outputs = 0, images = 0, height = 0, width = 0, lanes = 0, outBlocks = 0, inChannels = 0;
  WinogradBlocking blocking;

  // The buffer form.
  func::FuncOp function;
  IRMapping buffers;
  Value begin, end;       // chunks
  Value inputs, products; // V and M
  bool tailFailed = false;
};

WinogradFilterOp filterOf(func::FuncOp kernel) {
  auto found = kernel.getBody().front().getOps<WinogradFilterOp>();
  return found.empty() ? WinogradFilterOp() : *found.begin();
}

LogicalResult WinogradEmitter::readKernel() {
  WinogradFilterOp filters = filterOf(kernel);
  if (!filters || !filters->hasOneUse())
    return kernel.emitError("expected one convolution over transformed filters");
  root = dyn_cast<linalg::GenericOp>(*filters->getUsers().begin());
  if (!root || root.getNumParallelLoops() != 5)
    return kernel.emitError("expected a convolution over blocked channels");
  for (auto op : kernel.getBody().front().getOps<linalg::GenericOp>())
    if (op != root)
      tail.push_back(op);
  Value value = kernel.getBody().front().getTerminator()->getOperand(0);
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    value = insert.getSource();
  auto last = value.getDefiningOp<linalg::GenericOp>();
  if (!last || last != (tail.empty() ? root : tail.back()))
    return kernel.emitError("expected the kernel to return what its last operator computes");
  Value destination = last.getDpsInits()[0];
  if (auto fill = destination.getDefiningOp<linalg::FillOp>())
    destination = fill.getOutputs()[0];
  FailureOr<BufferPart> parts[] = {BufferPart::of(root.getDpsInputs()[0]),
                                   BufferPart::of(filters.getTransformed()), BufferPart::of(destination)};
  for (const auto &part : parts)
    if (failed(part))
      return failure();
  image = *parts[0];
  filter = *parts[1];
  result = *parts[2];
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(root.getResult(0).getType()).getShape(); // [n, o, oh, ow, v]
  images = shape[0], outBlocks = shape[1], height = shape[2], width = shape[3], lanes = shape[4];
  inChannels = filters.getTransformed().getType().getDimSize(2);
  outputs = filters.getOutputs();
  std::optional<WinogradBlocking> found = winogradBlocking(nest, tileCount(), outBlocks);
  if (!found)
    return kernel.emitError("expected a nest with a loop over the points of a tile and one reduction");
  blocking = *found;
  return success();
}

/// A function over the buffers of the kernel's tensors. Scalars that the tail captures are cloned into it.
LogicalResult WinogradEmitter::createFunction() {
  SmallVector<Type> types;
  for (Type type : kernel.getArgumentTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    types.push_back(tensor ? MemRefType::get(tensor.getShape(), tensor.getElementType()) : type);
  }
  types.append(2, b.getIndexType());
  b.setInsertionPoint(kernel);
  function = b.create<func::FuncOp>(loc, "winograd", b.getFunctionType(types, {}));
  Block *entry = function.addEntryBlock();
  for (auto [tensor, buffer] : llvm::zip(kernel.getArguments(), entry->getArguments()))
    buffers.map(tensor, buffer);
  end = entry->getArguments().back();
  begin = entry->getArguments().drop_back().back();
  b.setInsertionPointToStart(entry);
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    bool isScalar = op.getNumRegions() == 0 &&
                    llvm::none_of(op.getResultTypes(), llvm::IsaPred<TensorType>) &&
                    llvm::none_of(op.getOperandTypes(), llvm::IsaPred<TensorType>);
    if (isScalar)
      b.clone(op, buffers);
  }
  return success();
}

/// One vector more for each point: rows at a power of two apart would share the sets of the caches.
void WinogradEmitter::allocateTemporaries() {
  auto allocate = [&](int64_t perPoint) {
    auto type = MemRefType::get({points(), perPoint + lanes}, b.getF32Type());
    return b.create<memref::AllocOp>(loc, type, b.getI64IntegerAttr(64));
  };
  inputs = allocate(blockTiles() * inChannels);
  products = allocate(blockTiles() * blocking.planes * lanes);
}

void WinogradEmitter::emitChunks() {
  if (!blocking.chunkLoop)
    return emitBlocks(whole(tileCount()), whole(outBlocks));
  int64_t extent = *blocking.chunkLoop == kTileLoop ? tileCount() : outBlocks;
  forEach({begin, end}, 1, [&](Value chunk) {
    Value first = scale(chunk, blocking.chunk);
    Range part = {first, least(add(first, blocking.chunk), extent)};
    if (*blocking.chunkLoop == kTileLoop)
      emitBlocks(part, whole(outBlocks));
    else
      emitBlocks(whole(tileCount()), part);
  });
}

void WinogradEmitter::emitBlocks(Range tiles, Range outBlocks) {
  forEach(tiles, blocking.tiles, [&](Value first) {
    Range block = {first, least(add(first, blocking.tiles), tiles.end)};
    emitInputTransform(block);
    emitOutBlocks(block, outBlocks);
  });
}

/// Groups of `planes` blocks of output channels, then what is left of the last group.
void WinogradEmitter::emitOutBlocks(Range tiles, Range range) {
  auto emitGroup = [&](Value outBlock, int64_t planes) {
    emitProducts(tiles, outBlock, planes);
    emitOutputTransform(tiles, outBlock, planes);
  };
  int64_t rest = outBlocks % blocking.planes, covered = outBlocks - rest;
  forEach({range.begin, least(range.end, covered)}, blocking.planes,
          [&](Value outBlock) { emitGroup(outBlock, blocking.planes); });
  if (rest == 0)
    return;
  // Chunks are whole groups: only one that ends with the last group has the rest.
  Value hasRest = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sgt, range.end, index(covered));
  auto branch = b.create<scf::IfOp>(loc, hasRest, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  emitGroup(index(covered), rest);
}

void WinogradEmitter::emitInputTransform(Range tiles) {
  Value buffer = buffers.lookup(image.argument);
  forEach(tiles, 1, [&](Value tile) {
    Value position[3];
    locate(tile, position);
    SmallVector<Value> rows, columns;
    for (int64_t i = 0; i < side(); ++i) {
      Value row = add(position[1], i), column = add(position[2], i);
      rows.push_back(add(height % outputs ? least(row, height + 1) : row, image.offsets[2]));
      columns.push_back(add(width % outputs ? least(column, width + 1) : column, image.offsets[3]));
    }
    Value target = scale(b.create<arith::SubIOp>(loc, tile, tiles.begin), inChannels);
    forEach(whole(inChannels / lanes), 1, [&](Value inBlock) {
      Value channel = add(target, scale(inBlock, lanes));
      Value imageBlock = add(inBlock, image.offsets[1]), imageIndex = add(position[0], image.offsets[0]);
      Value lane = index(image.offsets[4]);
      transformInputs(
          b, loc, outputs,
          [&](int64_t i, int64_t j) {
            return load(buffer, {imageIndex, imageBlock, rows[i], columns[j], lane});
          },
          [&](int64_t j, ArrayRef<Value> values) {
            for (auto [i, value] : llvm::enumerate(values))
              b.create<vector::StoreOp>(loc, value, inputs,
                                        ValueRange{index(int64_t(i) * side() + j), channel});
          });
    });
  });
}

void WinogradEmitter::emitProducts(Range tiles, Value outBlock, int64_t planes) {
  Value count = b.create<arith::SubIOp>(loc, tiles.end, tiles.begin);
  forEach(whole(points()), 1, [&](Value point) {
    forEach({index(0), count}, blocking.rows,
            [&](Value row) { emitRegisterTile(point, row, outBlock, planes); });
  });
}

/// rows x planes vectors, accumulated over the input channels. Each broadcast is followed by all products
/// that use it.
void WinogradEmitter::emitRegisterTile(Value point, Value row, Value outBlock, int64_t planes) {
  Value filters = buffers.lookup(filter.argument);
  Value zero = b.create<arith::ConstantOp>(loc, b.getZeroAttr(vectorType()));
  SmallVector<Value> accumulators(blocking.rows * planes, zero), rowStarts, blocks;
  for (int64_t r = 0; r < blocking.rows; ++r)
    rowStarts.push_back(scale(add(row, r), inChannels));
  for (int64_t plane = 0; plane < planes; ++plane)
    blocks.push_back(add(outBlock, plane));
  auto loop = b.create<scf::ForOp>(loc, index(0), index(inChannels), index(blocking.unroll), accumulators);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    accumulators = SmallVector<Value>(loop.getRegionIterArgs());
    for (int64_t u = 0; u < blocking.unroll; ++u) {
      Value channel = add(loop.getInductionVar(), u);
      SmallVector<Value> weights;
      for (Value block : blocks)
        weights.push_back(load(filters, {block, point, channel, index(0)}));
      for (int64_t r = 0; r < blocking.rows; ++r) {
        Value scalar = b.create<memref::LoadOp>(loc, inputs, ValueRange{point, add(rowStarts[r], channel)});
        Value broadcast = b.create<vector::BroadcastOp>(loc, vectorType(), scalar);
        for (int64_t plane = 0; plane < planes; ++plane) {
          Value &sum = accumulators[r * planes + plane];
          sum = b.create<vector::FMAOp>(loc, broadcast, weights[plane], sum);
        }
      }
    }
    b.create<scf::YieldOp>(loc, accumulators);
  }
  for (int64_t r = 0; r < blocking.rows; ++r)
    for (int64_t plane = 0; plane < planes; ++plane) {
      Value at = add(scale(add(row, r), blocking.planes * lanes), plane * lanes);
      b.create<vector::StoreOp>(loc, loop.getResult(r * planes + plane), products, ValueRange{point, at});
    }
}

void WinogradEmitter::emitOutputTransform(Range tiles, Value outBlock, int64_t planes) {
  forEach(tiles, 1, [&](Value tile) {
    Value position[3];
    locate(tile, position);
    Value source = scale(b.create<arith::SubIOp>(loc, tile, tiles.begin), blocking.planes * lanes);
    forEach(whole(planes), 1, [&](Value plane) {
      Value at = add(source, scale(plane, lanes)), block = add(outBlock, plane);
      transformProducts(
          b, loc, outputs, [&](int64_t i, int64_t j) { return load(products, {index(i * side() + j), at}); },
          [&](int64_t column, ArrayRef<Value> rows) { emitStores(position, block, column, rows); });
    });
  });
}

/// One column of a tile's outputs, through the tail, into the result.
void WinogradEmitter::emitStores(const Value (&tile)[3], Value outBlock, int64_t column,
                                 ArrayRef<Value> rows) {
  VectorTail vectorTail(tail, buffers, lanes);
  Value buffer = buffers.lookup(result.argument), x = add(tile[2], column);
  auto emitStore = [&](Value y, Value vector) {
    FailureOr<Value> stored =
        vectorTail.emit(b, root.getResult(0), vector, {tile[0], y, x, outBlock, index(0)});
    if (failed(stored)) {
      tailFailed = true;
      return;
    }
    SmallVector<Value> at = {tile[0], outBlock, y, x, index(0)};
    for (auto [position, offset] : llvm::zip(at, result.offsets))
      position = add(position, offset);
    b.create<vector::StoreOp>(loc, *stored, buffer, at);
  };
  auto emitColumn = [&] {
    for (auto [i, vector] : llvm::enumerate(rows)) {
      Value y = add(tile[1], int64_t(i));
      if (i > 0 && height % outputs)
        whereBelow(y, height, [&] { emitStore(y, vector); });
      else
        emitStore(y, vector);
    }
  };
  // The first row and column of a tile are always inside.
  if (column > 0 && width % outputs)
    whereBelow(x, width, emitColumn);
  else
    emitColumn();
}

} // namespace

bool isWinogradKernel(func::FuncOp kernel) { return bool(filterOf(kernel)); }

LogicalResult lowerWinograd(func::FuncOp kernel, const LoopNest &nest) {
  return WinogradEmitter(kernel, nest).run();
}

} // namespace autotune
