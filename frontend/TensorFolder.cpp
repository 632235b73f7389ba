// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of tensors, with a manifest or as ONNX test data.
#include "frontend/TensorFolder.h"

#include "frontend/ElementType.h"
#include "frontend/OnnxProto.h"
#include "frontend/TensorProto.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace autotune {

namespace {

llvm::Error error(llvm::StringRef path, const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s: %s", path.str().c_str(), message.str().c_str());
}

std::string joined(llvm::StringRef folder, const llvm::Twine &file) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, file);
  return path.str().str();
}

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  return "[" + llvm::join(llvm::map_range(shape, [](int64_t dim) { return std::to_string(dim); }), ", ") + "]";
}

/// One entry of the manifest, with the file it names.
llvm::Expected<HostTensor> readEntry(llvm::StringRef folder, llvm::StringRef manifest, const llvm::json::Value &value) {
  const llvm::json::Object *entry = value.getAsObject();
  std::optional<llvm::StringRef> name = entry ? entry->getString("name") : std::nullopt;
  std::optional<llvm::StringRef> file = entry ? entry->getString("file") : std::nullopt;
  if (!name || !file)
    return error(manifest, "an entry lacks 'name' or 'file'");
  std::string path = joined(folder, *file);
  llvm::Expected<HostTensor> tensor = readTensorFile(path);
  if (!tensor)
    return tensor;
  tensor->name = name->str();
  if (std::optional<llvm::StringRef> dtype = entry->getString("dtype")) {
    std::optional<ElementType> type = elementTypeFromNumpyName(*dtype);
    if (!type)
      type = elementTypeFromSpelling(*dtype);
    if (type == ElementType::BF16 && tensor->dtype == "ui16")
      tensor->dtype = "bf16";
    if (!type || tensor->dtype != spelling(*type))
      return error(path, "holds " + tensor->dtype + ", its manifest says " + *dtype);
  }
  if (const llvm::json::Array *dims = entry->getArray("shape")) {
    std::vector<int64_t> shape;
    for (const llvm::json::Value &dim : *dims)
      shape.push_back(dim.getAsInteger().value_or(-1));
    if (shape != tensor->shape)
      return error(path, "has shape " + shapeText(tensor->shape) + ", its manifest says " + shapeText(shape));
  }
  return tensor;
}

llvm::Error readEntries(llvm::StringRef folder, llvm::StringRef manifest, const llvm::json::Array *entries,
                        std::vector<HostTensor> &tensors) {
  if (!entries)
    return llvm::Error::success();
  for (const llvm::json::Value &entry : *entries) {
    llvm::Expected<HostTensor> tensor = readEntry(folder, manifest, entry);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
  return llvm::Error::success();
}

llvm::Expected<TensorFolder> readWithManifest(llvm::StringRef folder, llvm::StringRef manifest) {
  auto buffer = llvm::MemoryBuffer::getFile(manifest);
  if (!buffer)
    return error(manifest, buffer.getError().message());
  llvm::Expected<llvm::json::Value> root = llvm::json::parse((*buffer)->getBuffer());
  if (!root)
    return error(manifest, "not valid JSON: " + llvm::toString(root.takeError()));
  const llvm::json::Object *object = root->getAsObject();
  if (!object)
    return error(manifest, "expected an object with 'inputs' and 'outputs'");
  TensorFolder result;
  if (llvm::Error failure = readEntries(folder, manifest, object->getArray("inputs"), result.inputs))
    return failure;
  if (llvm::Error failure = readEntries(folder, manifest, object->getArray("outputs"), result.outputs))
    return failure;
  return result;
}

/// input_0.pb, input_1.pb, … until one is missing.
llvm::Error readNumbered(llvm::StringRef folder, llvm::StringRef stem, std::vector<HostTensor> &tensors) {
  for (unsigned i = 0;; ++i) {
    std::string path = joined(folder, stem + "_" + llvm::Twine(i) + ".pb");
    if (!llvm::sys::fs::exists(path))
      return llvm::Error::success();
    llvm::Expected<HostTensor> tensor = readTensorProtoFile(path);
    if (!tensor)
      return tensor.takeError();
    tensors.push_back(std::move(*tensor));
  }
}

llvm::json::Object describe(const HostTensor &tensor, llvm::StringRef file) {
  std::optional<ElementType> type = elementTypeFromSpelling(tensor.dtype);
  return llvm::json::Object{{"name", tensor.name},
                            {"file", file.str()},
                            {"dtype", type ? numpyName(*type).str() : tensor.dtype},
                            {"shape", llvm::json::Array(tensor.shape)}};
}

llvm::Error writeNumbered(llvm::StringRef folder, llvm::StringRef stem, llvm::ArrayRef<HostTensor> tensors,
                          llvm::json::Array &entries) {
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    std::string file = (stem + "_" + llvm::Twine(index) + ".npy").str();
    if (llvm::Error failure = writeNpy(joined(folder, file), tensor))
      return failure;
    entries.push_back(describe(tensor, file));
  }
  return llvm::Error::success();
}

llvm::Error writeText(llvm::StringRef path, const llvm::Twine &text) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return error(path, code.message());
  stream << text;
  stream.close();
  if (!stream.has_error())
    return llvm::Error::success();
  code = stream.error();
  stream.clear_error();
  return error(path, code.message());
}

} // namespace

llvm::Expected<TensorFolder> readTensorFolder(llvm::StringRef folder) {
  if (!llvm::sys::fs::is_directory(folder))
    return error(folder, llvm::sys::fs::exists(folder) ? "is not a folder" : "no such folder");
  std::string manifest = joined(folder, "manifest.json");
  if (llvm::sys::fs::exists(manifest))
    return readWithManifest(folder, manifest);
  TensorFolder result;
  if (llvm::Error failure = readNumbered(folder, "input", result.inputs))
    return failure;
  if (llvm::Error failure = readNumbered(folder, "output", result.outputs))
    return failure;
  if (result.inputs.empty() && result.outputs.empty())
    return error(folder, "holds neither manifest.json nor input_0.pb");
  return result;
}

llvm::Error writeTensorFolder(llvm::StringRef folder, const TensorFolder &tensors) {
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return error(folder, code.message());
  llvm::json::Array inputs, outputs;
  if (llvm::Error failure = writeNumbered(folder, "input", tensors.inputs, inputs))
    return failure;
  if (llvm::Error failure = writeNumbered(folder, "output", tensors.outputs, outputs))
    return failure;
  llvm::json::Object manifest{{"inputs", std::move(inputs)}, {"outputs", std::move(outputs)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::formatv("{0:2}", llvm::json::Value(std::move(manifest))) << "\n";
  return writeText(joined(folder, "manifest.json"), text);
}

llvm::Expected<HostTensor> readTensorFile(llvm::StringRef path) {
  llvm::StringRef extension = llvm::sys::path::extension(path);
  if (extension == ".npy")
    return readNpy(path);
  if (extension == ".pb")
    return readTensorProtoFile(path);
  return error(path, "a tensor file ends in .npy or .pb");
}

llvm::Expected<HostTensor> readTensorProtoFile(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return error(path, buffer.getError().message());
  onnx::TensorProto proto;
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (bytes.size() > INT_MAX || !proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return error(path, "not an ONNX tensor");
  llvm::Expected<HostTensor> tensor = toHostTensor(proto);
  if (!tensor)
    return error(path, llvm::toString(tensor.takeError()));
  return tensor;
}

llvm::Expected<HostTensor> toHostTensor(const onnx::TensorProto &proto) {
  llvm::Expected<ConstantTensor> value = toConstant(proto, /*external=*/nullptr);
  if (!value)
    return value.takeError();
  HostTensor tensor;
  tensor.name = proto.name();
  tensor.dtype = spelling(value->type()).str();
  tensor.shape.assign(value->shape().begin(), value->shape().end());
  unsigned width = byteSize(value->type());
  tensor.bytes.resize(value->size() * width);
  for (int64_t i = 0, e = value->size(); i < e; ++i)
    std::memcpy(tensor.bytes.data() + i * width, value->element(i), width);
  return tensor;
}

llvm::Error writeTensorProtoFile(llvm::StringRef path, const HostTensor &tensor) {
  std::optional<ElementType> type = elementTypeFromSpelling(tensor.dtype);
  if (!type)
    return error(path, "cannot write elements of type '" + tensor.dtype + "'");
  onnx::TensorProto proto;
  toProto(ConstantTensor::view(*type, tensor.shape, tensor.bytes), tensor.name, proto);
  return writeText(path, proto.SerializeAsString());
}

} // namespace autotune
