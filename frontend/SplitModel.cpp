// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks protobuf's wire format three levels down: model, graph, initialiser.
#include "frontend/SplitModel.h"

#include "frontend/OnnxProto.h"

#include <google/protobuf/wire_format_lite.h>

#include <optional>

namespace autotune {

namespace {

using google::protobuf::internal::WireFormatLite;

// Below this a copy costs less than the bookkeeping.
constexpr size_t kLarge = 256;

/// One field of a message: its number, all of its bytes, and its content when it has a length.
struct Field {
  uint64_t number;
  llvm::StringRef whole;
  std::optional<llvm::StringRef> content;
};

std::optional<uint64_t> takeVarint(llvm::StringRef &bytes) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    uint8_t byte = bytes.front();
    bytes = bytes.drop_front();
    value |= uint64_t(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  return std::nullopt;
}

/// Nothing when the bytes are no field. Groups count as that: ONNX has none.
std::optional<Field> takeField(llvm::StringRef &bytes) {
  llvm::StringRef start = bytes;
  std::optional<uint64_t> tag = takeVarint(bytes);
  if (!tag)
    return std::nullopt;
  Field field{*tag >> 3, {}, {}};
  std::optional<uint64_t> size;
  switch (*tag & 7) {
  case WireFormatLite::WIRETYPE_VARINT:
    if (!takeVarint(bytes))
      return std::nullopt;
    size = 0;
    break;
  case WireFormatLite::WIRETYPE_FIXED64:
    size = 8;
    break;
  case WireFormatLite::WIRETYPE_FIXED32:
    size = 4;
    break;
  case WireFormatLite::WIRETYPE_LENGTH_DELIMITED:
    size = takeVarint(bytes);
    if (size && *size <= bytes.size())
      field.content = bytes.take_front(*size);
    break;
  }
  if (!size || *size > bytes.size())
    return std::nullopt;
  bytes = bytes.drop_front(*size);
  field.whole = start.drop_back(bytes.size());
  return field;
}

void appendVarint(std::string &bytes, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
}

void appendMessage(std::string &bytes, uint64_t number, llvm::StringRef content) {
  appendVarint(bytes, number << 3 | WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  appendVarint(bytes, content.size());
  bytes.append(content.data(), content.size());
}

/// Copies a message; fields of one number are rewritten by `rewrite`, which may refuse.
template <typename Rewrite>
std::optional<std::string> rewritten(llvm::StringRef message, uint64_t number, Rewrite rewrite) {
  std::string result;
  while (!message.empty()) {
    std::optional<Field> field = takeField(message);
    if (!field)
      return std::nullopt;
    if (field->number != number || !field->content) {
      result.append(field->whole.data(), field->whole.size());
      continue;
    }
    std::optional<std::string> content = rewrite(*field->content);
    if (!content)
      return std::nullopt;
    appendMessage(result, number, *content);
  }
  return result;
}

} // namespace

SplitModel splitModel(llvm::StringRef file) {
  SplitModel split;
  auto rewriteTensor = [&](llvm::StringRef tensor) {
    llvm::StringRef &raw = split.rawData.emplace_back();
    return rewritten(tensor, onnx::TensorProto::kRawDataFieldNumber,
                     [&](llvm::StringRef data) -> std::optional<std::string> {
                       // Of several, the last one counts.
                       raw = data.size() >= kLarge ? data : llvm::StringRef();
                       // One byte stays: a checker asks whether there is a value, not which.
                       return data.size() >= kLarge ? std::string(1, 0) : data.str();
                     });
  };
  auto rewriteGraph = [&](llvm::StringRef graph) {
    return rewritten(graph, onnx::GraphProto::kInitializerFieldNumber, rewriteTensor);
  };
  std::optional<std::string> bytes = rewritten(file, onnx::ModelProto::kGraphFieldNumber, rewriteGraph);
  if (!bytes)
    return {file.str(), {}};
  split.bytes = std::move(*bytes);
  return split;
}

} // namespace autotune
