// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What one import may use: a file of a few bytes must become neither hours of work nor all memory.
#pragma once

#include <cstdint>

namespace autotune {

/// Everything grows with the bytes that the model really stores, so that large models are not held back:
/// whoever writes a gigabyte of weights may have them folded, whoever writes a hundred bytes may not ask for
/// a gigabyte.
struct ImportLimits {
  /// For a model whose files hold this many bytes (the ONNX file, and the external data that it refers to).
  static ImportLimits forStoredBytes(int64_t bytes) {
    ImportLimits limits;
    limits.nodes += bytes / 256;
    limits.operations += bytes / 16;
    limits.foldingSteps += 64 * bytes;
    limits.constantBytes += 8 * bytes;
    return limits;
  }

  /// Nodes imported; each iteration of an unrolled loop and each call of a function counts anew.
  int64_t nodes = 50'000;
  /// Operations of the imported function. About 3 microseconds each.
  int64_t operations = 500'000;
  /// Scalar operations spent on values known at import. About 10 nanoseconds each; what is beyond is computed
  /// at run time.
  int64_t foldingSteps = int64_t(1) << 26;
  /// Bytes of constants that are computed at import rather than stored in the model; one that repeats a
  /// single value counts in full, since whatever reads it has that many elements to go through.
  int64_t constantBytes = int64_t(128) << 20;
  /// Bytes of all values computed at run time, together.
  int64_t runtimeBytes = int64_t(64) << 30;
};

} // namespace autotune
