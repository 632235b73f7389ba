// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage, element access and data movement of tensors known at import.
#include "frontend/ConstantTensor.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"

namespace autotune {

int64_t elementCount(llvm::ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t dim : shape)
    count *= dim;
  return count;
}

std::optional<int64_t> checkedByteCount(llvm::ArrayRef<int64_t> shape, ElementType type) {
  int64_t bytes = byteSize(type);
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0 || dim > kMaxTensorBytes)
      return std::nullopt;
    empty |= dim == 0;
    if (dim != 0 && llvm::MulOverflow(bytes, dim, bytes))
      return std::nullopt;
    if (bytes > kMaxTensorBytes)
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}

Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

ConstantTensor ConstantTensor::view(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> bytes) {
  ConstantTensor tensor(type, shape);
  unsigned width = byteSize(type);
  // A buffer equal to itself shifted by one element holds one value only.
  tensor.splatted = bytes.size() >= width &&
                    std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
  tensor.data = tensor.splatted ? bytes.take_front(width) : bytes;
  return tensor;
}

ConstantTensor ConstantTensor::own(ElementType type, llvm::ArrayRef<int64_t> shape, std::vector<char> bytes) {
  auto storage = std::make_shared<const std::vector<char>>(std::move(bytes));
  return shared(type, shape, *storage, storage);
}

ConstantTensor ConstantTensor::shared(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> bytes,
                                      std::shared_ptr<const void> owner) {
  ConstantTensor tensor = view(type, shape, bytes);
  tensor.storage = std::move(owner);
  return tensor;
}

ConstantTensor ConstantTensor::splat(ElementType type, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<char> element) {
  ConstantTensor tensor = own(type, shape, std::vector<char>(element.begin(), element.end()));
  tensor.splatted = true;
  return tensor;
}

ConstantTensor ConstantTensor::ints(llvm::ArrayRef<int64_t> values) {
  std::vector<char> bytes(values.size() * sizeof(int64_t));
  if (!values.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return own(ElementType::I64, {static_cast<int64_t>(values.size())}, std::move(bytes));
}

ConstantTensor ConstantTensor::floats(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<float> values) {
  std::vector<char> bytes(values.size() * sizeof(float));
  if (!values.empty())
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return own(ElementType::F32, shape, std::move(bytes));
}

ConstantTensor ConstantTensor::scalar(ElementType type, double value) {
  std::vector<char> bytes(byteSize(type));
  if (isFloat(type))
    storeFloat(bytes.data(), type, value);
  else
    storeInt(bytes.data(), type, static_cast<int64_t>(value));
  return own(type, {}, std::move(bytes));
}

double ConstantTensor::floatAt(int64_t index) const {
  if (isFloat(elementType))
    return loadFloat(element(index), elementType);
  return static_cast<double>(loadInt(element(index), elementType));
}

int64_t ConstantTensor::intAt(int64_t index) const {
  if (isFloat(elementType))
    return static_cast<int64_t>(loadFloat(element(index), elementType));
  return loadInt(element(index), elementType);
}

std::vector<int64_t> ConstantTensor::toInts() const {
  std::vector<int64_t> values(size());
  for (int64_t i = 0, e = size(); i < e; ++i)
    values[i] = intAt(i);
  return values;
}

std::vector<float> ConstantTensor::toFloats() const {
  std::vector<float> values(size());
  if (elementType == ElementType::F32 && !splatted && !values.empty())
    std::memcpy(values.data(), data.data(), data.size());
  else
    for (int64_t i = 0, e = size(); i < e; ++i)
      values[i] = static_cast<float>(floatAt(i));
  return values;
}

ConstantTensor ConstantTensor::reshaped(llvm::ArrayRef<int64_t> shape) const {
  ConstantTensor result = *this;
  result.dims.assign(shape.begin(), shape.end());
  return result;
}

ConstantTensor ConstantTensor::withType(ElementType type) const {
  ConstantTensor result = *this;
  result.elementType = type;
  return result;
}

ConstantTensor ConstantTensor::transposed(llvm::ArrayRef<int64_t> permutation) const {
  Shape shape, strides, own = rowMajorStrides(dims);
  for (int64_t axis : permutation) {
    shape.push_back(dims[axis]);
    strides.push_back(own[axis]);
  }
  return gathered(shape, 0, strides);
}

ConstantTensor ConstantTensor::sliced(llvm::ArrayRef<int64_t> offset, llvm::ArrayRef<int64_t> size,
                                      llvm::ArrayRef<int64_t> step) const {
  Shape strides = rowMajorStrides(dims);
  int64_t start = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    start += offset[i] * strides[i];
    strides[i] *= step[i];
  }
  return gathered(size, start, strides);
}

ConstantTensor ConstantTensor::gathered(llvm::ArrayRef<int64_t> shape, int64_t start,
                                        llvm::ArrayRef<int64_t> strides) const {
  if (splatted)
    return reshaped(shape);
  unsigned width = byteSize(elementType);
  int64_t count = elementCount(shape);
  std::vector<char> bytes(count * width);
  Shape index(shape.size(), 0);
  int64_t position = start;
  char *out = bytes.data();
  for (int64_t i = 0; i < count; ++i, out += width) {
    std::memcpy(out, data.data() + position * width, width);
    for (int64_t axis = static_cast<int64_t>(shape.size()) - 1; axis >= 0; --axis) {
      position += strides[axis];
      if (++index[axis] < shape[axis])
        break;
      position -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return ConstantTensor::own(elementType, shape, std::move(bytes));
}

namespace {

template <typename T> T load(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <typename T, typename V> void store(char *bytes, V value) {
  T narrow = static_cast<T>(value);
  std::memcpy(bytes, &narrow, sizeof(T));
}

const llvm::fltSemantics &halfSemantics(ElementType type) {
  return type == ElementType::F16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

} // namespace

double loadFloat(const char *bytes, ElementType type) {
  switch (type) {
  case ElementType::F32:
    return load<float>(bytes);
  case ElementType::F64:
    return load<double>(bytes);
  default: {
    llvm::APFloat value(halfSemantics(type), llvm::APInt(16, load<uint16_t>(bytes)));
    bool losesInfo;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    return value.convertToDouble();
  }
  }
}

void storeFloat(char *bytes, ElementType type, double value) {
  switch (type) {
  case ElementType::F32:
    return store<float>(bytes, value);
  case ElementType::F64:
    return store<double>(bytes, value);
  default: {
    llvm::APFloat rounded(value);
    bool losesInfo;
    rounded.convert(halfSemantics(type), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    store<uint16_t>(bytes, rounded.bitcastToAPInt().getZExtValue());
  }
  }
}

int64_t loadInt(const char *bytes, ElementType type) {
  switch (type) {
  case ElementType::I8:
    return load<int8_t>(bytes);
  case ElementType::I16:
    return load<int16_t>(bytes);
  case ElementType::I32:
    return load<int32_t>(bytes);
  case ElementType::U8:
    return load<uint8_t>(bytes);
  case ElementType::U16:
    return load<uint16_t>(bytes);
  case ElementType::U32:
    return load<uint32_t>(bytes);
  case ElementType::Bool:
    return load<uint8_t>(bytes) != 0;
  default:
    return load<int64_t>(bytes);
  }
}

void storeInt(char *bytes, ElementType type, int64_t value) {
  switch (byteSize(type)) {
  case 1:
    return store<uint8_t>(bytes, type == ElementType::Bool ? value != 0 : value);
  case 2:
    return store<uint16_t>(bytes, value);
  case 4:
    return store<uint32_t>(bytes, value);
  default:
    return store<uint64_t>(bytes, value);
  }
}

} // namespace autotune
