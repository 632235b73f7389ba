// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One table of element types and their spellings.
#include "frontend/ElementType.h"

#include "llvm/ADT/STLExtras.h"

namespace autotune {

namespace {

struct Row {
  ElementType type;
  unsigned bytes;
  const char *mlir;
  const char *numpy;
  const char *name;
  int32_t onnx;
};

// In the order of the enumeration.
constexpr Row kRows[] = {
    {ElementType::F16, 2, "f16", "<f2", "float16", 10}, {ElementType::BF16, 2, "bf16", "", "bfloat16", 16},
    {ElementType::F32, 4, "f32", "<f4", "float32", 1},  {ElementType::F64, 8, "f64", "<f8", "float64", 11},
    {ElementType::I8, 1, "i8", "|i1", "int8", 3},       {ElementType::I16, 2, "i16", "<i2", "int16", 5},
    {ElementType::I32, 4, "i32", "<i4", "int32", 6},    {ElementType::I64, 8, "i64", "<i8", "int64", 7},
    {ElementType::U8, 1, "ui8", "|u1", "uint8", 2},     {ElementType::U16, 2, "ui16", "<u2", "uint16", 4},
    {ElementType::U32, 4, "ui32", "<u4", "uint32", 12}, {ElementType::U64, 8, "ui64", "<u8", "uint64", 13},
    {ElementType::Bool, 1, "i1", "|b1", "bool", 9},
};

const Row &row(ElementType type) { return kRows[static_cast<unsigned>(type)]; }

template <typename Predicate> std::optional<ElementType> find(Predicate predicate) {
  const Row *found = llvm::find_if(kRows, predicate);
  if (found == std::end(kRows))
    return std::nullopt;
  return found->type;
}

} // namespace

unsigned byteSize(ElementType type) { return row(type).bytes; }
bool isFloat(ElementType type) { return type <= ElementType::F64; }
bool isUnsigned(ElementType type) { return type >= ElementType::U8; }
llvm::StringRef spelling(ElementType type) { return row(type).mlir; }
llvm::StringRef numpyDescription(ElementType type) { return row(type).numpy; }
llvm::StringRef numpyName(ElementType type) { return row(type).name; }
int32_t onnxDataType(ElementType type) { return row(type).onnx; }

std::optional<ElementType> elementTypeFromSpelling(llvm::StringRef text) {
  return find([&](const Row &r) { return text == r.mlir; });
}

std::optional<ElementType> elementTypeFromNumpy(llvm::StringRef description) {
  // '=' and '|' are written by some producers in place of '<'.
  llvm::StringRef kind = description;
  bool littleEndian = kind.consume_front("<") || kind.consume_front("|") || kind.consume_front("=");
  if (!littleEndian || kind.empty())
    return std::nullopt;
  return find([&](const Row &r) { return llvm::StringRef(r.numpy).drop_front(*r.numpy ? 1 : 0) == kind; });
}

std::optional<ElementType> elementTypeFromNumpyName(llvm::StringRef name) {
  return find([&](const Row &r) { return name == r.name; });
}

std::optional<ElementType> elementTypeFromOnnx(int32_t dataType) {
  return find([&](const Row &r) { return r.onnx == dataType; });
}

llvm::StringRef onnxDataTypeName(int32_t dataType) {
  static constexpr const char *kNames[] = {
      "UNDEFINED",  "FLOAT",      "UINT8",        "INT8",       "UINT16",         "INT16", "INT32", "INT64",
      "STRING",     "BOOL",       "FLOAT16",      "DOUBLE",     "UINT32",         "UINT64", "COMPLEX64",
      "COMPLEX128", "BFLOAT16",   "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ", "UINT4",
      "INT4",       "FLOAT4E2M1", "FLOAT8E8M0",   "UINT2",      "INT2"};
  if (dataType < 0 || dataType >= static_cast<int32_t>(std::size(kNames)))
    return "unknown";
  return kNames[dataType];
}

} // namespace autotune
