// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM dialect in, object code out, and the linker that makes shared libraries of it.
#pragma once

#include "schedule/Device.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace autotune {

/// A relocatable x86-64 ELF object, in memory.
struct ObjectCode {
  std::string bytes;
  int64_t scratchBytes = 0; // heap memory that each running call of its kernel takes
};

/// Turns LLVM-dialect modules into objects for one instruction set. Not thread-safe: one for each thread.
class ObjectEmitter {
public:
  /// Code is tuned for this machine's CPU and restricted to `isa`. Error: LLVM has no such target.
  static llvm::Expected<ObjectEmitter> create(Isa isa);
  ObjectEmitter(ObjectEmitter &&) noexcept;
  ~ObjectEmitter();

  /// Translates, optimises and emits. The entry point `@kernel` gets the name `symbol`, which a shared
  /// library exports or, when not `exported`, keeps to itself.
  llvm::Expected<ObjectCode> emit(mlir::ModuleOp module, llvm::StringRef symbol, bool exported = true);

  /// Emits an LLVM module as it is.
  llvm::Expected<ObjectCode> emit(llvm::Module &module);

private:
  explicit ObjectEmitter(std::unique_ptr<llvm::TargetMachine> machine);
  std::unique_ptr<llvm::TargetMachine> machine;
};

/// The object that exports `autotune_artifact`: the table of kernels, in order, and the manifest's JSON text.
llvm::Expected<ObjectCode> emitArtifactTable(llvm::ArrayRef<std::string> kernelSymbols,
                                             llvm::StringRef manifest, Isa isa);

/// Links objects into a shared library at `path` with lld as a library. Errors carry the linker's own words.
llvm::Error linkSharedLibrary(llvm::ArrayRef<ObjectCode> objects, llvm::StringRef path);

} // namespace autotune
