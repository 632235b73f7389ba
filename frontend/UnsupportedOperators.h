// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds every node whose operator has no builder, before anything is imported.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <cstdint>

namespace onnx {
class ModelProto;
}

namespace autotune {

/// One error for all nodes whose operator is not supported, also those in nested graphs and called functions:
/// how many, and for each operator the reason and the names of its nodes. `opsets` are the versions that the
/// model imports.
llvm::Error checkOperatorsKnown(const onnx::ModelProto &model, const llvm::StringMap<int64_t> &opsets);

} // namespace autotune
