// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Looks at each buffer with all its views and readers; widens all of them or none.

#include "passes/SpreadRows.h"

#include "dialect/AutotuneDialect.h"
#include "passes/CallSlices.h"
#include "passes/OpRoles.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <numeric>

using namespace mlir;

namespace autotune {
namespace {

// An L1 way has 4 KB in every x86-64 core since 2006 (as many as a page, so that it is looked up while the
// address is translated), and 8 or 12 of them. A register tile reads up to 14 rows at a time.
constexpr int64_t kCrowdedPitchBytes = 2048;
constexpr int64_t kLineBytes = 64;
constexpr int64_t kFewestRows = 8;
// The rest of a buffer is padding: at most an eighth of each row.
constexpr int64_t kLeastPitchOfPadding = 8;

int64_t elementBytesOf(RankedTensorType type) { return (type.getElementTypeBitWidth() + 7) / 8; }

int64_t productFrom(ArrayRef<int64_t> shape, size_t axis) {
  return std::accumulate(shape.begin() + axis, shape.end(), int64_t(1), std::multiplies<>());
}

/// Elements between neighbouring rows of an operand whose rows lie along `axis`; 0 where there are few.
int64_t pitchAlong(ArrayRef<int64_t> shape, size_t axis) {
  return shape[axis] >= kFewestRows ? productFrom(shape, axis + 1) : 0;
}

/// The same for an operand of a matrix product: rows are what differs from the loops of its last axis.
int64_t pitchInProduct(linalg::LinalgOp op, OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!map.isProjectedPermutation() || map.getNumResults() < 2)
    return 0;
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  auto kindOf = [&](size_t axis) { return kinds[cast<AffineDimExpr>(map.getResult(axis)).getPosition()]; };
  size_t axis = map.getNumResults() - 1;
  utils::IteratorType ofElements = kindOf(axis);
  while (axis > 0 && kindOf(axis) == ofElements)
    --axis;
  if (kindOf(axis) == ofElements)
    return 0;
  return pitchAlong(cast<RankedTensorType>(operand.get().getType()).getShape(), axis);
}

/// Keys, values and queries: rows lie along the last axis but one of the description.
int64_t pitchInAttention(AttentionOp op, OpOperand &operand) {
  std::optional<ArrayRef<int64_t>> order;
  if (operand.get() == op.getQuery())
    order = op.getQueryOrder();
  else if (operand.get() == op.getKey())
    order = op.getKeyOrder();
  else if (operand.get() == op.getValue())
    order = op.getValueOrder();
  else
    return 0;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.get().getType()).getShape();
  size_t rows = shape.size() - 2;
  return pitchAlong(shape, order ? size_t((*order)[rows]) : rows);
}

/// Elements between the rows of an argument that its kernel reads side by side; 0 where it does not.
int64_t pitchOfArgument(func::FuncOp kernel, unsigned index) {
  int64_t pitch = 0;
  for (OpOperand &use : kernel.getArgument(index).getUses()) {
    if (auto attention = dyn_cast<AttentionOp>(use.getOwner()))
      pitch = std::max(pitch, pitchInAttention(attention, use));
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    if (op && op.isDpsInput(&use) && operatorClass(op) == OpClass::Contraction)
      pitch = std::max(pitch, pitchInProduct(op, use));
  }
  return pitch;
}

/// A buffer in all the shapes that it is seen in.
class SpreadableValue {
public:
  /// Nothing where a use is neither a view nor the input of a kernel.
  static std::optional<SpreadableValue> find(func::CallOp producer, const CallSlices &calls);

  /// Elements that each row gets beside its own; 0 where the rows are well as they are.
  int64_t padding();
  void spread(int64_t padding, CallSlices &calls);

private:
  explicit SpreadableValue(func::CallOp producer) : producer(producer) {}

  bool collect(Value view, const CallSlices &calls);
  RankedTensorType widened(RankedTensorType type, int64_t padding) const;

  func::CallOp producer;
  int64_t pitch = 0;
  SmallVector<Value> shapes;      // the value and its views, in the order in which they are made
  SmallVector<OpOperand *> reads; // by kernels, of any of them
};

/// The axis whose steps within a row are largest: all of `shape` behind the axes of rows. Nothing where no
/// axes make up whole rows.
std::optional<size_t> firstAxisOfRow(ArrayRef<int64_t> shape, int64_t pitch) {
  for (size_t axis = shape.size(); axis-- > 1;)
    if (productFrom(shape, axis) == pitch && shape[axis] > 1)
      return axis;
  return std::nullopt;
}

std::optional<SpreadableValue> SpreadableValue::find(func::CallOp producer, const CallSlices &calls) {
  SpreadableValue found(producer);
  if (!found.collect(producer.getResult(0), calls) || found.pitch == 0)
    return std::nullopt;
  return found;
}

bool SpreadableValue::collect(Value view, const CallSlices &calls) {
  shapes.push_back(view);
  for (OpOperand &use : view.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(user)) {
      if (!collect(user->getResult(0), calls))
        return false;
      continue;
    }
    auto call = dyn_cast<func::CallOp>(user);
    if (!call || use.getOperandNumber() + 1 == call.getNumOperands())
      return false;
    reads.push_back(&use);
    pitch = std::max(pitch, pitchOfArgument(calls.kernelOf(call), use.getOperandNumber()));
  }
  return true;
}

int64_t SpreadableValue::padding() {
  int64_t bytes = elementBytesOf(cast<RankedTensorType>(producer.getResult(0).getType()));
  if (pitch * bytes % kCrowdedPitchBytes != 0)
    return 0;
  int64_t step = kLineBytes / bytes;
  for (Value view : shapes) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(view.getType()).getShape();
    std::optional<size_t> axis = firstAxisOfRow(shape, pitch);
    if (!axis)
      return 0;
    step = std::lcm(step, productFrom(shape, *axis + 1));
  }
  return step * kLeastPitchOfPadding <= pitch ? step : 0;
}

RankedTensorType SpreadableValue::widened(RankedTensorType type, int64_t padding) const {
  SmallVector<int64_t> shape(type.getShape());
  size_t axis = *firstAxisOfRow(shape, pitch);
  shape[axis] += padding / productFrom(shape, axis + 1);
  return RankedTensorType::get(shape, type.getElementType());
}

void SpreadableValue::spread(int64_t padding, CallSlices &calls) {
  OpBuilder b(producer);
  SmallVector<Slice> parts; // what each of the shapes was before
  for (Value view : shapes) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(view.getType()).getShape();
    parts.push_back(Slice::at(b, SmallVector<int64_t>(shape.size(), 0), shape));
  }
  auto sliceOf = [&](Value view) -> const Slice & {
    return parts[llvm::find(shapes, view) - shapes.begin()];
  };

  RankedTensorType type = widened(cast<RankedTensorType>(shapes.front().getType()), padding);
  Value whole = b.create<tensor::EmptyOp>(producer.getLoc(), type.getShape(), type.getElementType());
  calls.writeSlice(producer, whole, parts.front());
  for (Value view : ArrayRef(shapes).drop_front()) {
    view.setType(widened(cast<RankedTensorType>(view.getType()), padding));
    if (auto expand = view.getDefiningOp<tensor::ExpandShapeOp>())
      expand.setStaticOutputShape(cast<RankedTensorType>(view.getType()).getShape());
  }
  for (OpOperand *read : reads)
    calls.readSlice(cast<func::CallOp>(read->getOwner()), read->getOperandNumber(), read->get(),
                    sliceOf(read->get()));
}

} // namespace

void spreadRows(func::FuncOp main) {
  CallSlices calls(main);
  for (auto call : llvm::make_early_inc_range(main.getBody().front().getOps<func::CallOp>())) {
    if (call.getNumResults() != 1 || !CallSlices::freeProducer(call.getResult(0)))
      continue;
    std::optional<SpreadableValue> value = SpreadableValue::find(call, calls);
    if (int64_t padding = value ? value->padding() : 0)
      value->spread(padding, calls);
  }
}

} // namespace autotune
