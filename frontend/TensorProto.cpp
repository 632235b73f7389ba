// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads every encoding of TensorProto, with sizes checked before anything is allocated.
#include "frontend/TensorProto.h"

#include "frontend/ExternalData.h"
#include "frontend/OnnxProto.h"

#include "llvm/ADT/StringExtras.h"

namespace autotune {

namespace {

template <typename... Args> llvm::Error error(const Args &...args) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  (stream << ... << args);
  return llvm::createStringError(llvm::Twine(text));
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
  case ElementType::BF16: // the bits, in the low half of each int32
    return fromField(proto, type, shape, proto.int32_data(),
                     [](char *bytes, ElementType, int32_t bits) { storeInt(bytes, ElementType::U16, bits); });
  default:
    return fromField(proto, type, shape, proto.int32_data(), storeInt);
  }
}

/// What every encoding has: a type that we know and a shape that is possible.
struct Header {
  ElementType type;
  Shape shape;
  int64_t bytes;
};

llvm::Expected<Header> headerOf(const onnx::TensorProto &proto) {
  std::optional<ElementType> type = elementTypeFromOnnx(proto.data_type());
  if (!type)
    return error(describe(proto), " has element type ", onnxDataTypeName(proto.data_type()),
                 ", which is not supported");
  if (proto.dims_size() > kMaxRank)
    return error(describe(proto), " has ", proto.dims_size(), " dimensions, supported are ", kMaxRank);
  Shape shape(proto.dims().begin(), proto.dims().end());
  std::optional<int64_t> bytes = checkedByteCount(shape, *type);
  if (!bytes)
    return error(describe(proto), " has an impossible shape or is larger than ", kMaxTensorBytes, " bytes");
  return Header{*type, shape, *bytes};
}

llvm::Expected<ConstantTensor> fromRaw(const onnx::TensorProto &proto, const Header &header,
                                       llvm::ArrayRef<char> rawData, std::shared_ptr<const void> owner) {
  if (rawData.size() != static_cast<uint64_t>(header.bytes))
    return error(describe(proto), " has ", rawData.size(), " bytes, its shape needs ", header.bytes);
  return ConstantTensor::shared(header.type, header.shape, rawData, std::move(owner));
}

} // namespace

llvm::Expected<ConstantTensor> toConstant(const onnx::TensorProto &proto, ExternalData *external) {
  llvm::Expected<Header> header = headerOf(proto);
  if (!header)
    return header.takeError();
  if (proto.data_location() != onnx::TensorProto::EXTERNAL) {
    if (!proto.has_raw_data())
      return fromTypedData(proto, header->type, header->shape);
    const std::string &raw = proto.raw_data();
    return fromRaw(proto, *header, llvm::ArrayRef<char>(raw.data(), raw.size()), nullptr);
  }
  if (!external)
    return error(describe(proto), " may not have external data here");
  auto tensor = external->read(proto, header->type, header->shape, header->bytes);
  if (!tensor)
    return error(describe(proto), ": ", llvm::toString(tensor.takeError()));
  return tensor;
}

llvm::Expected<ConstantTensor> toConstant(const onnx::TensorProto &proto, llvm::ArrayRef<char> rawData,
                                          std::shared_ptr<const void> owner) {
  llvm::Expected<Header> header = headerOf(proto);
  if (!header)
    return header.takeError();
  return fromRaw(proto, *header, rawData, std::move(owner));
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
