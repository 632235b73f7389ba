// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The manifest of an artifact as checked structs: profiles, their tensors and their steps.
#pragma once

#include "runtime/deploy/FloatMode.h"
#include "runtime/deploy/autotune_runtime.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace autotune::deploy {

struct TensorSpec {
  std::string name;
  std::string dtypeName;
  autotune_dtype dtype = AUTOTUNE_F32;
  std::vector<int64_t> shape;
  size_t bytes = 0;

  /// "data: 1x3x224x224xf32"
  std::string text() const;
};

/// Where a kernel's argument lives.
enum class ArgPlace { Input, Output, Arena, Constant };

struct StepArg {
  ArgPlace place = ArgPlace::Arena;
  size_t index = 0;  // of the input or output
  size_t offset = 0; // bytes from the start of the tensor, the arena or the constants
};

struct StepSpec {
  uint32_t kernel = 0;
  std::string label;
  int64_t chunks = 1;
  bool parallel = false;
  std::vector<StepArg> args;
};

/// What a kernel computes, for people. Empty or 0: not known.
struct KernelSpec {
  std::string kind;    // "winograd4_conv"
  std::string opClass; // "contraction"
  std::string shapes;  // of its operands, in their layouts
  std::string tail;    // elementwise operations that follow in the same kernel
  std::string schedule;
  std::string source; // where the schedule came from: "exact", "near", "model", …
  int64_t flops = 0;
  int64_t bytesRead = 0, bytesWritten = 0;
  size_t scratchBytes = 0; // heap memory of each call while it runs
};

struct ProfileSpec {
  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;
  size_t arenaBytes = 0;
  size_t tensorBytes = 0; // sum of all intermediate tensors: what an arena without reuse would take
  std::vector<StepSpec> steps;
};

struct Manifest {
  std::string model;
  std::string toolVersion;
  std::string llvmVersion;
  std::string deviceKey;
  std::string isa;
  int threads = 1;
  Denormals denormals = Denormals::Kept; // what artifacts that do not say it were made for
  size_t constantsBytes = 0;
  std::vector<KernelSpec> kernels;   // one for each; artifacts of older compilers have no descriptions
  std::vector<ProfileSpec> profiles; // never empty
};

/// Parses and checks `text`: every kernel index is below `kernelCount`, every offset inside its buffer.
/// Throws RuntimeError: AUTOTUNE_ERROR_VERSION for another format number, else AUTOTUNE_ERROR_FORMAT with the
/// path of the field, what was found and what was expected.
Manifest parseManifest(const char *text, uint32_t kernelCount);

/// Bytes of one element of a dtype in MLIR's spelling; 0 if unknown.
size_t dtypeBytes(const std::string &dtypeName);

} // namespace autotune::deploy
