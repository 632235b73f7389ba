// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads models written as text.
#include "test/unit/frontend/OnnxText.h"

#include "llvm/Support/MemoryBuffer.h"

#include <onnx/defs/parser.h>

namespace autotune::test {

llvm::Expected<onnx::ModelProto> readOnnxText(const std::string &path) {
  auto failure = [&](const std::string &text) {
    return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s: %s", path.c_str(), text.c_str());
  };
  auto text = llvm::MemoryBuffer::getFile(path);
  if (!text)
    return failure(text.getError().message());
  onnx::ModelProto model;
  onnx::OnnxParser parser((*text)->getBufferStart());
  if (auto status = parser.Parse(model); !status.IsOK())
    return failure(status.ErrorMessage());
  return model;
}

} // namespace autotune::test
