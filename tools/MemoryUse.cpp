// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/MemoryUse.h"

#include "runtime/deploy/ByteText.h"

#include <algorithm>

namespace autotune {

void MemoryUse::add(int64_t arena, int64_t tensors, int64_t constants) {
  arenaBytes = std::max(arenaBytes, arena);
  tensorBytes = std::max(tensorBytes, tensors);
  constantsBytes += constants;
}

std::string MemoryUse::text() const {
  using deploy::byteText;
  return "arena " + byteText(double(arenaBytes)) + " for " + byteText(double(tensorBytes)) +
         " of intermediate tensors, constants " + byteText(double(constantsBytes));
}

llvm::json::Object MemoryUse::json() const {
  return llvm::json::Object{
      {"arena_bytes", arenaBytes}, {"tensor_bytes", tensorBytes}, {"constants_bytes", constantsBytes}};
}

} // namespace autotune
