// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The element types of dense tensors, with their spellings in MLIR and in NumPy.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace autotune {

enum class ElementType : uint8_t { F16, BF16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, Bool };

/// Bytes of one element in memory; a bool takes one byte.
unsigned byteSize(ElementType type);
bool isFloat(ElementType type);
/// Unsigned integers; bool counts as unsigned.
bool isUnsigned(ElementType type);
inline bool isInteger(ElementType type) { return !isFloat(type) && type != ElementType::Bool; }

/// "f32", "ui8", "i1": MLIR's spelling.
llvm::StringRef spelling(ElementType type);
std::optional<ElementType> elementTypeFromSpelling(llvm::StringRef text);

/// "<f4", "|u1", …; empty for bf16, which NumPy lacks.
llvm::StringRef numpyDescription(ElementType type);
/// Little-endian descriptions only.
std::optional<ElementType> elementTypeFromNumpy(llvm::StringRef description);

/// "float32", "uint8", "bool", …: NumPy's names, as manifests have them.
llvm::StringRef numpyName(ElementType type);
std::optional<ElementType> elementTypeFromNumpyName(llvm::StringRef name);

/// onnx.TensorProto.DataType; nothing for strings, complex, 8-bit floats and 4-bit integers.
std::optional<ElementType> elementTypeFromOnnx(int32_t dataType);
int32_t onnxDataType(ElementType type);
/// The name of any TensorProto.DataType, also of those not supported.
llvm::StringRef onnxDataTypeName(int32_t dataType);

} // namespace autotune
