// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of tests: their texts, and compiled ones that can be called.
#pragma once

#include "runtime/build/KernelCompiler.h"

#include <memory>
#include <string>
#include <vector>

namespace autotune::test {

/// One for the whole program: its MLIR context takes a while to fill.
KernelCompiler &compiler();

/// A kernel as deployed: compiled, linked by lld and loaded by the dynamic loader; unloaded when destroyed.
class LoadedKernel {
public:
  /// Without a nest, the plain reference. Fails the test (and is empty) when it cannot be compiled.
  LoadedKernel(llvm::StringRef text, const std::optional<LoopNest> &nest);
  LoadedKernel(const LoadedKernel &) = delete;
  ~LoadedKernel();

  explicit operator bool() const { return entry != nullptr; }
  /// Chunks [begin, end) on `buffers`, in the order of the kernel's arguments.
  void run(const std::vector<float *> &buffers, int64_t begin = 0, int64_t end = 1) const;

private:
  void *library = nullptr;
  void (*entry)(void *const *args, int64_t begin, int64_t end) = nullptr;
};

/// `count` values in [-1, 1); the same on every run.
std::vector<float> numbers(size_t count, unsigned seed);

/// (m, n | k), with max(x, 0) as tail when `relu`.
std::string matmulText(int64_t m, int64_t n, int64_t k, bool relu = false);

/// The text of a kernel whose one operator is `linalg.generic` with these maps and this body, from `init`
/// when it reduces. `types` are "2x3xf32", the destination last; `%in0`, `%in1`, … and `%out` are the body's
/// values.
struct GenericKernel {
  std::vector<std::string> types, maps;
  std::string iterators; // "ppr": parallel, parallel, reduction
  std::string init;      // "0.0"; empty: no fill
  std::string body;      // the last line yields
  std::string text() const;
};

} // namespace autotune::test
