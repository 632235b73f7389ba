// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor whose value is known at import: an initialiser of the model, or the result of folding.
#pragma once

#include "frontend/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstring>
#include <memory>
#include <vector>

namespace autotune {

using Shape = llvm::SmallVector<int64_t, 6>;

/// Product of the dimensions. Callers have checked that it fits (see `checkedByteCount`).
int64_t elementCount(llvm::ArrayRef<int64_t> shape);
/// Bytes of a dense tensor, or nothing when a dimension is negative or the size exceeds `kMaxTensorBytes`.
std::optional<int64_t> checkedByteCount(llvm::ArrayRef<int64_t> shape, ElementType type);
/// No single tensor of a model may be larger: a small file must not be able to ask for all memory.
inline constexpr int64_t kMaxTensorBytes = int64_t(1) << 34;
/// Tensors of more dimensions than NumPy allows are not from an exporter.
inline constexpr int64_t kMaxRank = 64;
/// Row-major strides in elements.
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// Immutable; copies share the bytes. A splat stores one element.
class ConstantTensor {
public:
  /// Refers to `bytes`, which the caller keeps alive.
  static ConstantTensor view(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> bytes);
  static ConstantTensor own(ElementType type, llvm::ArrayRef<int64_t> shape, std::vector<char> bytes);
  /// Refers to `bytes`, which `owner` keeps alive.
  static ConstantTensor shared(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> bytes,
                               std::shared_ptr<const void> owner);
  static ConstantTensor splat(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> element);
  static ConstantTensor ints(llvm::ArrayRef<int64_t> values);
  static ConstantTensor floats(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values);
  /// One value of any type, rounded to it.
  static ConstantTensor scalar(ElementType type, double value);

  ElementType type() const { return elementType; }
  llvm::ArrayRef<int64_t> shape() const { return dims; }
  int64_t rank() const { return dims.size(); }
  int64_t size() const { return elementCount(dims); }
  /// Bytes of all elements, stored or repeated.
  int64_t byteCount() const { return size() * byteSize(elementType); }
  /// All elements have the same bits (and there is at least one).
  bool isSplat() const { return splatted && size() > 0; }

  const char *element(int64_t index) const {
    return data.data() + (splatted ? 0 : index * byteSize(elementType));
  }
  double floatAt(int64_t index) const;
  /// Unsigned 64-bit values keep their bits.
  int64_t intAt(int64_t index) const;
  std::vector<int64_t> toInts() const;
  std::vector<float> toFloats() const;
  /// The stored bytes; those of one element when `isSplat()`.
  llvm::ArrayRef<char> rawData() const { return data; }

  /// The same bits as another type of the same width.
  ConstantTensor withType(ElementType type) const;
  /// Same elements in another shape of equal size.
  ConstantTensor reshaped(llvm::ArrayRef<int64_t> shape) const;
  ConstantTensor transposed(llvm::ArrayRef<int64_t> permutation) const;
  /// The elements at offset[i] + k[i] * step[i]; steps may be negative.
  ConstantTensor sliced(llvm::ArrayRef<int64_t> offset, llvm::ArrayRef<int64_t> size,
                        llvm::ArrayRef<int64_t> step) const;

private:
  ConstantTensor(ElementType type, llvm::ArrayRef<int64_t> shape) : elementType(type), dims(shape) {}
  ConstantTensor gathered(llvm::ArrayRef<int64_t> shape, int64_t start,
                          llvm::ArrayRef<int64_t> strides) const;

  ElementType elementType;
  Shape dims;
  llvm::ArrayRef<char> data;
  std::shared_ptr<const void> storage;
  bool splatted = false;
};

/// Reads and writes one element, converting to and from the widest type of its class.
double loadFloat(const char *bytes, ElementType type);
int64_t loadInt(const char *bytes, ElementType type);
void storeFloat(char *bytes, ElementType type, double value);
void storeInt(char *bytes, ElementType type, int64_t value);

} // namespace autotune
