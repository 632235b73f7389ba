// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models written as text, in ONNX's own syntax: `.onnxtxt` files.
#pragma once

#include "frontend/OnnxProto.h"

#include "llvm/Support/Error.h"

#include <string>

namespace autotune::test {

/// The model that the file describes. `#` starts a comment.
llvm::Expected<onnx::ModelProto> readOnnxText(const std::string &path);

} // namespace autotune::test
