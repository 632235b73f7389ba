// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elements of tensors as doubles and back, for every dtype that kernels know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace autotune::worker {

enum class ScalarClass { Float, Integer, Bool };

struct ScalarType {
  ScalarClass scalarClass = ScalarClass::Float;
  size_t bytes = 4;
  double epsilon = 0; // distance from 1 to the next value; 0 for integers
  double (*load)(const std::byte *) = nullptr;
  void (*store)(std::byte *, double) = nullptr;
};

/// `dtype` in MLIR's spelling; nothing if unknown.
std::optional<ScalarType> scalarType(const std::string &dtype);

} // namespace autotune::worker
