// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MLIR text through the whole compiler, for tests of what compiled models compute.
#pragma once

#include "frontend/TensorFolder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstring>
#include <string>
#include <vector>

namespace autotune::test {

template <typename T> HostTensor hostTensor(std::string dtype, std::vector<int64_t> shape, const std::vector<T> &values) {
  HostTensor tensor{"", std::move(dtype), std::move(shape), std::vector<char>(values.size() * sizeof(T))};
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

template <typename T> std::vector<T> valuesOf(const HostTensor &tensor) {
  std::vector<T> values(tensor.bytes.size() / sizeof(T));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

/// A new temporary file with `text`, which the caller removes.
llvm::Expected<std::string> writeText(llvm::StringRef text);

/// Compiles `text` (a module with @main) untuned for one thread and runs it once; the inputs are by position. A failure
/// anywhere is a failure of the test, and no tensors come back.
std::vector<HostTensor> runText(llvm::StringRef text, const std::vector<HostTensor> &inputs);

} // namespace autotune::test
