// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/OperandTypes.h"

#include "frontend/OnnxProto.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <onnx/defs/schema.h>

namespace autotune {
namespace {

/// Newest version of ai.onnx whose operators libonnx describes.
int64_t newestKnownVersion() {
  return onnx::OpSchemaRegistry::DomainToVersionRange::Instance().Map().at("").second;
}

/// "tensor(float16)"
std::string constraintName(ElementType type) {
  std::string name = "tensor(" + onnxDataTypeName(onnxDataType(type)).lower() + ")";
  return name;
}

std::string expectedText(const onnx::DataTypeSet &allowed) {
  llvm::SmallVector<std::string> names;
  for (int number = 0; number <= int(ElementType::Bool); ++number)
    if (auto type = ElementType(number); llvm::any_of(allowed, [&](const std::string *t) { return *t == constraintName(type); }))
      names.push_back(spelling(type).str());
  return llvm::join(names, " or ");
}

} // namespace

std::optional<std::string> wrongOperandType(llvm::StringRef domain, llvm::StringRef name, int64_t version,
                                            llvm::ArrayRef<std::optional<ElementType>> types) {
  if (!(domain.empty() || domain == "ai.onnx") || version > newestKnownVersion())
    return std::nullopt;
  const onnx::OpSchema *schema = onnx::OpSchemaRegistry::Schema(name.str(), int(version), "");
  if (!schema || schema->inputs().empty())
    return std::nullopt;
  llvm::StringMap<size_t> firstOf; // operand that settled the type of a variable of the schema
  for (auto [index, type] : llvm::enumerate(types)) {
    const auto &parameter = schema->inputs()[std::min(size_t(index), schema->inputs().size() - 1)];
    if (!type)
      continue;
    const onnx::DataTypeSet &allowed = parameter.GetTypes();
    std::string expected = expectedText(allowed);
    // Types of which none is ours belong to the builder's own message.
    if (!expected.empty() &&
        llvm::none_of(allowed, [&](const std::string *t) { return *t == constraintName(*type); }))
      return "input " + std::to_string(index) + " is " + spelling(*type).str() + ", expected " + expected;
    if (!parameter.GetIsHomogeneous())
      continue;
    auto [first, isNew] = firstOf.try_emplace(parameter.GetTypeStr(), index);
    if (!isNew && types[first->second] != type)
      return "input " + std::to_string(index) + " is " + spelling(*type).str() + ", expected " +
             spelling(*types[first->second]).str() + " as input " + std::to_string(first->second);
  }
  return std::nullopt;
}

} // namespace autotune
