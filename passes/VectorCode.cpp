// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Thin wrappers; the transposition swaps blocks of 1, 2, 4, … elements across the diagonal.

#include "passes/VectorCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace autotune {

using Builder = ImplicitLocOpBuilder;

Value constantIndex(Builder &b, int64_t value) { return b.create<arith::ConstantIndexOp>(value); }

Value plus(Builder &b, Value base, int64_t added) {
  return added == 0 ? base : b.createOrFold<arith::AddIOp>(base, constantIndex(b, added));
}

VectorType vectorOf(Builder &b, int64_t lanes) { return VectorType::get({lanes}, b.getF32Type()); }

Value splat(Builder &b, int64_t lanes, double value) {
  return b.create<arith::ConstantOp>(DenseElementsAttr::get(vectorOf(b, lanes), static_cast<float>(value)));
}

Value readVector(Builder &b, Value tensor, ValueRange indices, int64_t lanes) {
  return b.create<vector::TransferReadOp>(vectorOf(b, lanes), tensor, indices, ArrayRef<bool>{true});
}

Value writeVector(Builder &b, Value vector, Value tensor, ValueRange indices) {
  return b.create<vector::TransferWriteOp>(vector, tensor, indices, ArrayRef<bool>{true}).getResult();
}

Indices loopOver(Builder &b, Value from, Value to, int64_t step, ValueRange carried, LoopBody body) {
  auto loop = b.create<scf::ForOp>(from, to, constantIndex(b, step), carried,
                                   [&](OpBuilder &nested, Location loc, Value index, ValueRange values) {
                                     Builder inner(loc, nested);
                                     inner.create<scf::YieldOp>(body(inner, index, values));
                                   });
  return Indices(loop.getResults());
}

Indices loopOver(Builder &b, int64_t from, int64_t to, int64_t step, ValueRange carried, LoopBody body) {
  if (from >= to)
    return Indices(carried);
  return loopOver(b, constantIndex(b, from), constantIndex(b, to), step, carried, body);
}

SmallVector<Value> transposedSquare(Builder &b, ArrayRef<Value> rows) {
  SmallVector<Value> square(rows);
  auto size = static_cast<int64_t>(rows.size());
  for (int64_t block = 1; block < size; block *= 2) {
    SmallVector<int64_t> upper, lower;
    for (int64_t lane = 0; lane < size; ++lane) {
      upper.push_back(lane & block ? size + lane - block : lane);
      lower.push_back(lane & block ? size + lane : lane + block);
    }
    for (int64_t row = 0; row < size; ++row) {
      if (row & block)
        continue;
      Value top = square[row], bottom = square[row + block];
      square[row] = b.create<vector::ShuffleOp>(top, bottom, upper);
      square[row + block] = b.create<vector::ShuffleOp>(top, bottom, lower);
    }
  }
  return square;
}

} // namespace autotune
