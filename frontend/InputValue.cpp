// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/InputValue.h"

#include "frontend/TensorFolder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace autotune {
namespace {

std::string declaredText(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  return llvm::join(llvm::map_range(shape, [](int64_t d) { return d < 0 ? "?" : std::to_string(d); }), "x");
}

bool agrees(llvm::ArrayRef<int64_t> shape, const DeclaredInput &input) {
  if (!input.shape)
    return true;
  return shape.size() == input.shape->size() &&
         llvm::all_of(llvm::zip(shape, *input.shape),
                      [](auto pair) { return std::get<1>(pair) < 0 || std::get<0>(pair) == std::get<1>(pair); });
}

llvm::Expected<ConstantTensor> readValueFile(llvm::StringRef path, const DeclaredInput &input) {
  llvm::Expected<HostTensor> tensor = readTensorFile(path);
  if (!tensor)
    return tensor.takeError();
  std::optional<ElementType> type = elementTypeFromSpelling(tensor->dtype);
  // NumPy lacks bf16: its bits come as 16-bit integers.
  if (type == ElementType::U16 && input.type == ElementType::BF16)
    type = input.type;
  if (type != input.type)
    return llvm::createStringError(
        llvm::formatv("{0}: found {1}, expected {2}", path, tensor->dtype, spelling(input.type)).str());
  if (!agrees(tensor->shape, input))
    return llvm::createStringError(llvm::formatv("{0}: found shape {1}, expected {2}", path,
                                                 declaredText(tensor->shape), declaredText(*input.shape))
                                       .str());
  return ConstantTensor::own(*type, tensor->shape, std::move(tensor->bytes));
}

/// Stores one number; false if it is none, or the integer type cannot hold it.
bool storeNumber(llvm::StringRef word, ElementType type, char *bytes) {
  if (type == ElementType::Bool && (word == "true" || word == "false")) {
    storeInt(bytes, type, word == "true");
    return true;
  }
  if (isFloat(type)) {
    double value = 0;
    if (word.getAsDouble(value))
      return false;
    storeFloat(bytes, type, value);
    return true;
  }
  if (type == ElementType::U64) {
    uint64_t value = 0;
    bool good = !word.getAsInteger(0, value);
    storeInt(bytes, type, int64_t(value));
    return good;
  }
  int64_t value = 0;
  if (word.getAsInteger(0, value))
    return false;
  storeInt(bytes, type, value);
  return loadInt(bytes, type) == value;
}

/// The declared shape with its open dimension, if it has one, set to what makes `count` elements.
std::optional<Shape> shapeFor(int64_t count, const DeclaredInput &input) {
  if (!input.shape)
    return count == 1 ? Shape() : Shape{count};
  Shape shape = *input.shape;
  int64_t fixed = 1;
  for (int64_t dim : shape)
    fixed *= std::max<int64_t>(dim, 1);
  if (llvm::count(shape, -1) == 1 && fixed > 0 && count % fixed == 0)
    *llvm::find(shape, -1) = count / fixed;
  if (llvm::is_contained(shape, -1) || elementCount(shape) != count)
    return std::nullopt;
  return shape;
}

} // namespace

llvm::Expected<ConstantTensor> parseInputValue(llvm::StringRef text, const DeclaredInput &input) {
  if (text.ends_with(".npy") || text.ends_with(".pb"))
    return readValueFile(text, input);
  llvm::SmallVector<llvm::StringRef> words;
  text.split(words, ',');
  unsigned width = byteSize(input.type);
  std::vector<char> bytes(words.size() * width);
  for (auto [index, word] : llvm::enumerate(words))
    if (!storeNumber(word.trim(), input.type, bytes.data() + index * width))
      return llvm::createStringError(
          llvm::formatv("found `{0}`, expected numbers of type {1}, or a .npy or .pb file", word, spelling(input.type))
              .str());
  std::optional<Shape> shape = shapeFor(int64_t(words.size()), input);
  if (!shape)
    return llvm::createStringError(llvm::formatv("found {0} numbers, expected a value of shape {1}", words.size(),
                                                 declaredText(*input.shape))
                                       .str());
  return ConstantTensor::own(input.type, *shape, std::move(bytes));
}

} // namespace autotune
