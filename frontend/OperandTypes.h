// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types that ONNX allows for the operands of an operator.
#pragma once

#include "frontend/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace autotune {

/// What is wrong with the operands' types according to libonnx: "input 4 is f32, expected i32". Nothing when they are
/// allowed, and for operators of other domains and of versions that libonnx does not know, which it cannot judge.
/// `types` has nothing for operands that are absent or no tensors.
std::optional<std::string> wrongOperandType(llvm::StringRef domain, llvm::StringRef name, int64_t version,
                                            llvm::ArrayRef<std::optional<ElementType>> types);

} // namespace autotune
