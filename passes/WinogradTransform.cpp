// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rows first, then columns; sums that several points share are computed once.

#include "passes/WinogradTransform.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace autotune {
namespace {

/// Arithmetic on vectors, to be read as formulas.
class VectorMath {
public:
  VectorMath(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value add(Value x, Value y) { return b.create<arith::AddFOp>(loc, x, y); }
  Value sub(Value x, Value y) { return b.create<arith::SubFOp>(loc, x, y); }
  /// factor * x + y
  Value fma(double factor, Value x, Value y) {
    auto type = cast<VectorType>(x.getType());
    Value splat = b.create<arith::ConstantOp>(
        loc, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), factor)));
    return b.create<vector::FMAOp>(loc, splat, x, y);
  }

private:
  OpBuilder &b;
  Location loc;
};

using Line = SmallVector<Value, 6>;

/// B^T d for one row or column.
Line inputLine(VectorMath &m, int64_t outputs, const Line &d) {
  if (outputs == 2)
    return {m.sub(d[0], d[2]), m.add(d[1], d[2]), m.sub(d[2], d[1]), m.sub(d[1], d[3])};
  Value even = m.fma(-4, d[2], d[4]), odd = m.fma(-4, d[1], d[3]);
  Value evenOuter = m.sub(d[4], d[2]), oddOuter = m.sub(d[3], d[1]);
  return {m.fma(4, d[0], m.fma(-5, d[2], d[4])),
          m.add(even, odd),
          m.sub(even, odd),
          m.fma(2, oddOuter, evenOuter),
          m.fma(-2, oddOuter, evenOuter),
          m.fma(4, d[1], m.fma(-5, d[3], d[5]))};
}

/// A^T p for one row or column.
Line outputLine(VectorMath &m, int64_t outputs, const Line &p) {
  if (outputs == 2)
    return {m.add(m.add(p[0], p[1]), p[2]), m.sub(m.sub(p[1], p[2]), p[3])};
  Value inner = m.add(p[1], p[2]), innerOdd = m.sub(p[1], p[2]);
  Value outer = m.add(p[3], p[4]), outerOdd = m.sub(p[3], p[4]);
  return {m.add(m.add(p[0], inner), outer), m.fma(2, outerOdd, innerOdd), m.fma(4, outer, inner),
          m.add(m.fma(8, outerOdd, innerOdd), p[5])};
}

/// Applies `line` to the rows of a square of `from` vectors a side, then to the `to` columns of what that
/// gives.
template <typename LineTransform>
void alongBoth(int64_t from, int64_t to, ReadPoint read, WriteColumn write, LineTransform line) {
  SmallVector<Line, 6> rows;
  for (int64_t i = 0; i < from; ++i) {
    Line row;
    for (int64_t j = 0; j < from; ++j)
      row.push_back(read(i, j));
    rows.push_back(line(row));
  }
  for (int64_t j = 0; j < to; ++j) {
    Line column;
    for (const Line &row : rows)
      column.push_back(row[j]);
    write(j, line(column));
  }
}

} // namespace

void transformInputs(OpBuilder &b, Location loc, int64_t outputs, ReadPoint read, WriteColumn write) {
  VectorMath math(b, loc);
  alongBoth(outputs + 2, outputs + 2, read, write,
            [&](const Line &d) { return inputLine(math, outputs, d); });
}

void transformProducts(OpBuilder &b, Location loc, int64_t outputs, ReadPoint read, WriteColumn write) {
  VectorMath math(b, loc);
  alongBoth(outputs + 2, outputs, read, write, [&](const Line &p) { return outputLine(math, outputs, p); });
}

} // namespace autotune
