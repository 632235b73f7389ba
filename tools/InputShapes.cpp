// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/InputShapes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace autotune {
namespace {

constexpr llvm::StringLiteral
    kExpected("expected NAME=SHAPE or NAME=SHAPE;SHAPE with a SHAPE like 1x3x224x224 (or `scalar`)");

std::string shapeText(const std::vector<int64_t> &shape) {
  if (shape.empty())
    return "scalar";
  return llvm::join(llvm::map_range(shape, [](int64_t extent) { return std::to_string(extent); }), "x");
}

bool parseShape(llvm::StringRef text, std::vector<int64_t> &shape) {
  if (text == "scalar")
    return true;
  llvm::SmallVector<llvm::StringRef> extents;
  text.split(extents, 'x');
  for (llvm::StringRef word : extents) {
    int64_t extent = 0;
    if (word.trim().getAsInteger(10, extent) || extent < 0)
      return false;
    shape.push_back(extent);
  }
  return true;
}

} // namespace

std::string InputShape::text() const {
  return name + "=" + llvm::join(llvm::map_range(profiles, shapeText), ";");
}

llvm::Expected<InputShape> InputShape::parse(llvm::StringRef text) {
  // Names of ONNX inputs hold ':' and '/' and, rarely, '='; shapes never do.
  auto [name, shapes] = text.rsplit('=');
  InputShape result{name.trim().str(), {}};
  llvm::SmallVector<llvm::StringRef> words;
  shapes.split(words, ';');
  bool good = !result.name.empty() && !shapes.empty() && name.size() < text.size();
  for (llvm::StringRef word : words)
    good = good && parseShape(word.trim(), result.profiles.emplace_back());
  if (!good)
    return llvm::createStringError("input shape `" + text + "`: " + kExpected);
  return result;
}

llvm::Expected<std::vector<llvm::StringMap<std::vector<int64_t>>>>
shapeProfiles(const std::vector<InputShape> &inputs) {
  size_t count = 1;
  for (const InputShape &input : inputs)
    count = std::max(count, input.profiles.size());
  std::vector<llvm::StringMap<std::vector<int64_t>>> result(count);
  for (const InputShape &input : inputs) {
    if (input.profiles.size() != 1 && input.profiles.size() != count)
      return llvm::createStringError("input shapes: `" + input.name + "` has " +
                                     std::to_string(input.profiles.size()) + " profiles, expected 1 or " +
                                     std::to_string(count));
    for (size_t i = 0; i < count; ++i)
      if (!result[i]
               .try_emplace(input.name, input.profiles.size() == 1 ? input.profiles[0] : input.profiles[i])
               .second)
        return llvm::createStringError("input shapes: `" + input.name + "` is given twice, expected once");
  }
  return result;
}

} // namespace autotune
