// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors that a model keeps in files beside it.
#pragma once

#include "frontend/ConstantTensor.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class MemoryBuffer;
}
namespace onnx {
class TensorProto;
}

namespace autotune {

/// Each file is mapped once and read when its pages are touched: files beyond 2 GB are fine, and tensors that
/// nobody uses cost nothing. Tensors keep their file mapped.
class ExternalData {
public:
  /// Paths are relative to `folder`, which they may not leave: not by "..", not by an absolute path, not by a
  /// symbolic link.
  explicit ExternalData(llvm::StringRef folder) : folder(folder.empty() ? "." : folder.str()) {}

  /// `bytes` is what type and shape need. Errors name the tensor, the file and the numbers.
  llvm::Expected<ConstantTensor> read(const onnx::TensorProto &proto, ElementType type,
                                      llvm::ArrayRef<int64_t> shape, int64_t bytes);
  /// Bytes of all tensors read so far.
  int64_t bytesRead() const { return total; }

private:
  llvm::Expected<std::shared_ptr<llvm::MemoryBuffer>> open(const std::string &location);

  std::string folder;
  llvm::StringMap<std::shared_ptr<llvm::MemoryBuffer>> files;
  int64_t total = 0;
};

} // namespace autotune
