// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads every encoding of TensorProto, with sizes checked before anything is allocated.
#include "frontend/TensorProto.h"

#include "frontend/OnnxProto.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace autotune {

namespace {

template <typename... Args> llvm::Error error(const Args &...args) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << args);
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s", stream.str().c_str());
}

std::string describe(const onnx::TensorProto &proto) { return "tensor '" + proto.name() + "'"; }

template <typename Field, typename Store>
llvm::Expected<ConstantTensor> fromField(const onnx::TensorProto &proto, ElementType type,
                                         llvm::ArrayRef<int64_t> shape, const Field &field, Store store) {
  int64_t count = elementCount(shape);
  if (field.size() != count)
    return error(describe(proto), " has ", field.size(), " values, its shape needs ", count);
  std::vector<char> bytes(count * byteSize(type));
  for (int64_t i = 0; i < count; ++i)
    store(bytes.data() + i * byteSize(type), type, field.Get(i));
  return ConstantTensor::own(type, shape, std::move(bytes));
}

llvm::Expected<ConstantTensor> fromTypedData(const onnx::TensorProto &proto, ElementType type,
                                             llvm::ArrayRef<int64_t> shape) {
  switch (type) {
  case ElementType::F32:
    return fromField(proto, type, shape, proto.float_data(), storeFloat);
  case ElementType::F64:
    return fromField(proto, type, shape, proto.double_data(), storeFloat);
  case ElementType::I64:
    return fromField(proto, type, shape, proto.int64_data(), storeInt);
  case ElementType::U32:
  case ElementType::U64:
    return fromField(proto, type, shape, proto.uint64_data(), storeInt);
  case ElementType::F16:
  case ElementType::BF16:  // the bits, in the low half of each int32
    return fromField(proto, type, shape, proto.int32_data(), [](char *bytes, ElementType, int32_t bits) {
      storeInt(bytes, ElementType::U16, bits);
    });
  default:
    return fromField(proto, type, shape, proto.int32_data(), storeInt);
  }
}

struct ExternalLocation {
  std::string path;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};

llvm::Expected<ExternalLocation> externalLocation(const onnx::TensorProto &proto, llvm::StringRef folder) {
  ExternalLocation location;
  for (const auto &entry : proto.external_data()) {
    uint64_t number = 0;
    bool isNumber = !llvm::StringRef(entry.value()).getAsInteger(10, number);
    if (entry.key() == "location")
      location.path = entry.value();
    else if ((entry.key() == "offset" || entry.key() == "length") && !isNumber)
      return error(describe(proto), ": external ", entry.key(), " '", entry.value(), "' is not a number");
    else if (entry.key() == "offset")
      location.offset = number;
    else if (entry.key() == "length")
      location.length = number;
  }
  if (location.path.empty() || folder.empty())
    return error(describe(proto), location.path.empty() ? " names no external file"
                                                        : " may not have external data here");
  bool leaves = llvm::sys::path::is_absolute(location.path);
  for (auto it = llvm::sys::path::begin(location.path), e = llvm::sys::path::end(location.path); it != e; ++it)
    leaves |= *it == "..";
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, location.path);
  llvm::SmallString<256> realFolder, realFile;
  if (!leaves && !llvm::sys::fs::real_path(folder, realFolder) && !llvm::sys::fs::real_path(path, realFile))
    leaves = !realFile.str().starts_with((realFolder + "/").str());
  if (leaves)
    return error(describe(proto), ": external file '", location.path, "' is outside the model's folder");
  location.path = path.str().str();
  return location;
}

llvm::Expected<ConstantTensor> fromExternal(const onnx::TensorProto &proto, ElementType type,
                                            llvm::ArrayRef<int64_t> shape, int64_t bytes, llvm::StringRef folder) {
  llvm::Expected<ExternalLocation> location = externalLocation(proto, folder);
  if (!location)
    return location.takeError();
  if (location->length && *location->length != static_cast<uint64_t>(bytes))
    return error(describe(proto), ": external length is ", *location->length, " bytes, its shape needs ", bytes);
  uint64_t fileSize = 0;
  if (std::error_code code = llvm::sys::fs::file_size(location->path, fileSize))
    return error(describe(proto), ": external file '", location->path, "': ", code.message());
  if (location->offset > fileSize || fileSize - location->offset < static_cast<uint64_t>(bytes))
    return error(describe(proto), ": external file '", location->path, "' has ", fileSize, " bytes, needed are ",
                 bytes, " at offset ", location->offset);
  auto buffer = llvm::MemoryBuffer::getFileSlice(location->path, bytes, location->offset);
  if (!buffer)
    return error(describe(proto), ": external file '", location->path, "': ", buffer.getError().message());
  const char *begin = (*buffer)->getBufferStart();
  return ConstantTensor::own(type, shape, std::vector<char>(begin, begin + bytes));
}

} // namespace

llvm::Expected<ConstantTensor> toConstant(const onnx::TensorProto &proto, llvm::StringRef externalFolder) {
  std::optional<ElementType> type = elementTypeFromOnnx(proto.data_type());
  if (!type)
    return error(describe(proto), " has element type ", onnxDataTypeName(proto.data_type()),
                 ", which is not supported");
  Shape shape(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> bytes = checkedByteCount(shape, *type);
  if (!bytes)
    return error(describe(proto), " has an impossible shape or is larger than ", kMaxTensorBytes, " bytes");
  if (proto.data_location() == onnx::TensorProto::EXTERNAL)
    return fromExternal(proto, *type, shape, *bytes, externalFolder);
  if (!proto.has_raw_data())
    return fromTypedData(proto, *type, shape);
  const std::string &raw = proto.raw_data();
  if (raw.size() != static_cast<uint64_t>(*bytes))
    return error(describe(proto), " has ", raw.size(), " bytes, its shape needs ", *bytes);
  return ConstantTensor::view(*type, shape, llvm::ArrayRef<char>(raw.data(), raw.size()));
}

void toProto(const ConstantTensor &tensor, llvm::StringRef name, onnx::TensorProto &proto) {
  proto.set_name(name.str());
  proto.set_data_type(onnxDataType(tensor.type()));
  for (int64_t dim : tensor.shape())
    proto.add_dims(dim);
  std::string *raw = proto.mutable_raw_data();
  for (int64_t i = 0, e = tensor.size(); i < e; ++i)
    raw->append(tensor.element(i), byteSize(tensor.type()));
}

} // namespace autotune
