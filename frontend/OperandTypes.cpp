// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/OperandTypes.h"

#include "frontend/NodeContext.h"
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

constexpr int kElementTypes = int(ElementType::Bool) + 1;

/// "tensor(float16)"
const std::string &constraintName(ElementType type) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> names;
    for (int number = 0; number < kElementTypes; ++number)
      names.push_back("tensor(" + onnxDataTypeName(onnxDataType(ElementType(number))).lower() + ")");
    return names;
  }();
  return names[int(type)];
}

bool allows(const onnx::DataTypeSet &constraint, ElementType type) {
  return llvm::any_of(constraint, [&](const std::string *name) { return *name == constraintName(type); });
}

} // namespace

std::vector<ElementType> elementTypesAmong(const std::unordered_set<const std::string *> &allowed) {
  std::vector<ElementType> types;
  for (int number = 0; number < kElementTypes; ++number)
    if (allows(allowed, ElementType(number)))
      types.push_back(ElementType(number));
  return types;
}

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
    if (!allows(parameter.GetTypes(), *type)) {
      std::vector<ElementType> allowed = elementTypesAmong(parameter.GetTypes());
      // Types of which none is ours belong to the builder's own message.
      if (!allowed.empty())
        return "input " + std::to_string(index) + " is " + spelling(*type).str() + ", expected " +
               llvm::join(llvm::map_range(allowed, spelling), " or ");
    }
    if (!parameter.GetIsHomogeneous())
      continue;
    auto [first, isNew] = firstOf.try_emplace(parameter.GetTypeStr(), index);
    if (!isNew && types[first->second] != type)
      return "input " + std::to_string(index) + " is " + spelling(*type).str() + ", expected " +
             spelling(*types[first->second]).str() + " as input " + std::to_string(first->second);
  }
  return std::nullopt;
}

mlir::LogicalResult requireTypeOfFirst(NodeContext &node, llvm::ArrayRef<size_t> inputs) {
  for (size_t i : inputs)
    if (node.hasInput(i) && node.type(i) != node.type(0))
      return node.fail("input " + llvm::Twine(i) + " is " + spelling(node.type(i)) + ", expected " +
                       spelling(node.type(0)) + " as input 0");
  return mlir::success();
}

} // namespace autotune
