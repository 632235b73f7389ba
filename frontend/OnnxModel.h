// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads an ONNX file and checks it as far as its versions allow.
#pragma once

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>

namespace onnx {
class ModelProto;
}

namespace autotune {

/// The parsed model. Errors are without the file's name.
llvm::Expected<std::shared_ptr<onnx::ModelProto>> parseOnnxModel(llvm::StringRef bytes);

/// The version of each domain that the model imports ("" is ai.onnx). A domain imported twice in different
/// versions or a version that no builder knows is an error.
llvm::Expected<llvm::StringMap<int64_t>> importedOpsets(const onnx::ModelProto &model);

/// What libonnx's checker says, where the model is not newer than it (IR 8, opset 17).
llvm::Error checkWithOnnx(onnx::ModelProto &model, int64_t opset);

} // namespace autotune
