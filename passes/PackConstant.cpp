// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gather over raw bytes; the innermost axis is a plain loop so that 100 MB of weights take a fraction of a second.

#include "passes/PackConstant.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cstring>

using namespace mlir;

namespace autotune {
namespace {

struct Packer {
  ArrayRef<PackedAxis> axes;
  ArrayRef<int64_t> sourceShape;
  SmallVector<int64_t> sourceStrides; // elements
  const char *source;
  char *result;
  size_t elementBytes;
  bool splat;

  /// Fills the part of the result below axis `depth`; `index` is the source index so far.
  void fill(size_t depth, SmallVector<int64_t> &index) {
    if (depth == axes.size()) {
      copyElement(index);
      return;
    }
    const PackedAxis &axis = axes[depth];
    for (int64_t i = 0; i < axis.extent; ++i) {
      fill(depth + 1, index);
      index[axis.sourceAxis] += axis.multiplier;
    }
    index[axis.sourceAxis] -= axis.extent * axis.multiplier;
  }

  void copyElement(ArrayRef<int64_t> index) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t d = 0; d < index.size(); ++d) {
      inside &= index[d] < sourceShape[d];
      offset += index[d] * sourceStrides[d];
    }
    if (inside)
      std::memcpy(result, source + (splat ? 0 : offset * elementBytes), elementBytes);
    result += elementBytes;
  }
};

} // namespace

DenseElementsAttr packConstant(DenseElementsAttr source, ArrayRef<PackedAxis> axes) {
  auto sourceType = cast<RankedTensorType>(source.getType());
  Type element = sourceType.getElementType();
  assert(element.getIntOrFloatBitWidth() % 8 == 0 && "packed constants have whole bytes");
  SmallVector<int64_t> shape;
  int64_t elements = 1;
  for (const PackedAxis &axis : axes) {
    shape.push_back(axis.extent);
    elements *= axis.extent;
  }
  size_t elementBytes = element.getIntOrFloatBitWidth() / 8;
  std::vector<char> bytes(size_t(elements) * elementBytes, 0);
  SmallVector<int64_t> strides(sourceType.getRank(), 1);
  for (int64_t d = sourceType.getRank() - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * sourceType.getDimSize(d + 1);
  Packer packer{axes,         sourceType.getShape(), strides,         source.getRawData().data(),
                bytes.data(), elementBytes,          source.isSplat()};
  SmallVector<int64_t> index(sourceType.getRank(), 0);
  packer.fill(0, index);
  return DenseElementsAttr::getFromRawBuffer(RankedTensorType::get(shape, element), bytes);
}

} // namespace autotune
