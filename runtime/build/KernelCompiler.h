// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel in linalg plus one loop nest in, object code out.
#pragma once

#include "runtime/build/ObjectCode.h"
#include "schedule/LoopNest.h"

#include "mlir/IR/MLIRContext.h"

#include <optional>

namespace autotune {

class KernelCompiler {
public:
  /// Owns an MLIR context without threads; one compiler per thread. Error: see `ObjectEmitter::create`.
  static llvm::Expected<std::unique_ptr<KernelCompiler>> create(Isa isa);

  /// Compiles the one function of `kernelText` (linalg on tensors, destination last) as `nest` says; without a nest it
  /// becomes plain scalar loops, the reference that candidates are checked against.
  /// The object defines `void symbol(void *const *args, int64_t begin, int64_t end)`.
  /// Errors: text that does not parse, a nest that does not fit, an op that cannot be compiled; first diagnostic given.
  llvm::Expected<ObjectCode> compile(llvm::StringRef kernelText, const std::optional<LoopNest> &nest,
                                     llvm::StringRef symbol, bool exported = true);

  /// The IR that `compile` hands to bufferisation: what `autotune-opt` and tests look at.
  llvm::Expected<std::string> printVectorized(llvm::StringRef kernelText, const LoopNest &nest);

private:
  explicit KernelCompiler(ObjectEmitter emitter);
  llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> schedule(llvm::StringRef text,
                                                             const std::optional<LoopNest> &nest);

  mlir::MLIRContext context;
  ObjectEmitter emitter;
};

} // namespace autotune
