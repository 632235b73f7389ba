// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types that ONNX allows for the operands of an operator.
#pragma once

#include "frontend/ElementType.h"

#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace autotune {

class NodeContext;

/// Our types among those that a type constraint of libonnx allows ("tensor(float16)", …), in the order of ElementType.
std::vector<ElementType> elementTypesAmong(const std::unordered_set<const std::string *> &allowed);

/// What is wrong with the operands' types according to libonnx: "input 4 is f32, expected i32". Nothing when they are
/// allowed, and for operators of other domains and of versions that libonnx does not know, which it cannot judge.
/// `types` has nothing for operands that are absent or no tensors.
std::optional<std::string> wrongOperandType(llvm::StringRef domain, llvm::StringRef name, int64_t version,
                                            llvm::ArrayRef<std::optional<ElementType>> types);

/// For builders of operators that `wrongOperandType` cannot judge: those of `inputs` that are there have the type of
/// input 0.
mlir::LogicalResult requireTypeOfFirst(NodeContext &node, llvm::ArrayRef<size_t> inputs);

} // namespace autotune
