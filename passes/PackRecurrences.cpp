// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// [directions, hidden, gates * hidden] to [directions, blocks, hidden, gates, v].

#include "passes/PackRecurrences.h"

#include "dialect/AutotuneDialect.h"
#include "dialect/Emit.h"
#include "passes/OpRoles.h"
#include "passes/WholeIdeas.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace autotune {
namespace {

DenseElementsAttr packed(DenseElementsAttr weight, int64_t hidden, int64_t gates, int64_t block) {
  int64_t directions = weight.getType().getShape()[0];
  auto blocks = static_cast<int64_t>(llvm::divideCeil(hidden, block));
  auto type = RankedTensorType::get({directions, blocks, hidden, gates, block}, weight.getElementType());
  if (weight.isSplat())
    return weight.resizeSplat(type);
  auto source = reinterpret_cast<const float *>(weight.getRawData().data());
  std::vector<float> values;
  values.reserve(type.getNumElements());
  for (int64_t direction = 0; direction < directions; ++direction)
    for (int64_t b = 0; b < blocks; ++b) {
      // The last block ends with the last unit.
      int64_t first = std::min(b * block, hidden - block);
      for (int64_t row = direction * hidden; row < (direction + 1) * hidden; ++row)
        for (int64_t gate = 0; gate < gates; ++gate) {
          const float *units = source + (row * gates + gate) * hidden + first;
          values.insert(values.end(), units, units + block);
        }
    }
  return DenseElementsAttr::get(type, ArrayRef<float>(values));
}

} // namespace

void packRecurrences(func::FuncOp main, int64_t lanes) {
  for (auto op : main.getOps<RecurrenceOp>()) {
    DenseElementsAttr weight = constantValue(op.getWeight());
    if (!weight || op.getBlock() > 0 || !isTakenWhole(op))
      continue;
    int64_t hidden = op.getHidden();
    auto block = std::min(lanes, static_cast<int64_t>(llvm::bit_floor(static_cast<uint64_t>(hidden))));
    OpBuilder b(op);
    Value blocks =
        b.create<arith::ConstantOp>(op.getWeight().getLoc(), packed(weight, hidden, op.getGates(), block));
    op.getWeightMutable().set(blocks);
  }
}

} // namespace autotune
