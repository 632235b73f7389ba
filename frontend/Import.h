// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX files in, linalg on static tensors out.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autotune {

struct ImportOptions {
  /// Shapes that bind the dynamic dimensions of inputs, by input name.
  llvm::StringMap<std::vector<int64_t>> inputShapes;
  /// Inputs whose value never changes, by name: they become constants instead of arguments of @main. Shapes
  /// that depend on them (the operand of a Reshape, say) are then known. The text is a file or numbers, see
  /// `parseInputValue`.
  llvm::StringMap<std::string> inputValues;
};

/// Imports an ONNX model (or MLIR text or bytecode that already holds such a function).
///
/// The module holds `func.func @main` on ranked static tensors: autotune, linalg, tensor, arith and math ops, one
/// `NameLoc` per ONNX node name. Arguments and results carry their ONNX name as the string attribute
/// `autotune.name`. Constants are `arith.constant`. Shape arithmetic and BatchNorm are folded already.
///
/// Errors are one line: file, node, what was found, what was expected. All unsupported nodes are named at
/// once.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, llvm::StringRef path, const ImportOptions &options);

/// The same from memory. The name of `bytes` stands for the path in errors; its extension says what kind of
/// file it is. `folder` is where the model may have external data; empty: nowhere.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
importModelFromMemory(mlir::MLIRContext &context, std::unique_ptr<llvm::MemoryBuffer> bytes,
                      llvm::StringRef folder, const ImportOptions &options);

/// The dialects that imported modules use.
void registerFrontendDialects(mlir::DialectRegistry &registry);

} // namespace autotune
