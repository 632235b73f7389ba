// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads tensors, sequences and optionals from protobuf files.
#include "test/conformance/DataSet.h"

#include "frontend/ElementType.h"
#include "frontend/OnnxProto.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"

#include <onnx/onnx-data.pb.h>

namespace autotune {
namespace {

/// Inputs that no initialiser gives, in the model's order.
std::vector<const onnx::ValueInfoProto *> freeInputs(const onnx::ModelProto &model) {
  llvm::StringSet<> initialized;
  for (const auto &tensor : model.graph().initializer())
    initialized.insert(tensor.name());
  std::vector<const onnx::ValueInfoProto *> inputs;
  for (const auto &input : model.graph().input())
    if (!initialized.contains(input.name()))
      inputs.push_back(&input);
  return inputs;
}

/// The data has bf16 as 16-bit integers.
void restoreType(HostTensor &tensor, const onnx::TypeProto &declared) {
  if (tensor.dtype == "ui16" && declared.tensor_type().elem_type() == onnxDataType(ElementType::BF16))
    tensor.dtype = "bf16";
}

/// Operands that only give their type have one element in the data, where some models declare more.
void restoreShape(HostTensor &tensor, const onnx::TypeProto &declared) {
  const auto &type = declared.tensor_type();
  std::vector<int64_t> shape;
  int64_t count = 1;
  for (const auto &dim : type.shape().dim()) {
    shape.push_back(dim.dim_value());
    count *= dim.dim_value();
  }
  if (!type.has_shape() || count <= 1 || tensor.shape != std::vector<int64_t>{1})
    return;
  std::vector<char> element = std::move(tensor.bytes);
  tensor.bytes.clear();
  for (int64_t i = 0; i < count; ++i)
    tensor.bytes.insert(tensor.bytes.end(), element.begin(), element.end());
  tensor.shape = shape;
}

template <typename Proto> llvm::Expected<Proto> readProto(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(path + ": " + buffer.getError().message());
  Proto proto;
  llvm::StringRef bytes = (*buffer)->getBuffer();
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return llvm::createStringError(path + ": not a value of the kind that the model declares");
  return proto;
}

llvm::Error addTensor(const onnx::TensorProto &proto, const std::string &name,
                      std::vector<HostTensor> &tensors) {
  llvm::Expected<HostTensor> tensor = toHostTensor(proto);
  if (!tensor)
    return tensor.takeError();
  tensor->name = name;
  tensors.push_back(std::move(*tensor));
  return llvm::Error::success();
}

llvm::Error addElements(const onnx::SequenceProto &sequence, const std::string &name,
                        std::vector<HostTensor> &tensors) {
  for (int i = 0; i < sequence.tensor_values_size(); ++i)
    if (llvm::Error error =
            addTensor(sequence.tensor_values(i), name + "[" + std::to_string(i) + "]", tensors))
      return error;
  return llvm::Error::success();
}

/// Adds the tensors of one file.
llvm::Error addValue(const std::string &path, const onnx::ValueInfoProto &declared,
                     std::vector<HostTensor> &tensors) {
  if (declared.type().has_sequence_type()) {
    auto sequence = readProto<onnx::SequenceProto>(path);
    return sequence ? addElements(*sequence, declared.name(), tensors) : sequence.takeError();
  }
  if (declared.type().has_optional_type()) {
    auto optional = readProto<onnx::OptionalProto>(path);
    if (!optional)
      return optional.takeError();
    if (optional->has_sequence_value())
      return addElements(optional->sequence_value(), declared.name(), tensors);
    return optional->has_tensor_value() ? addTensor(optional->tensor_value(), declared.name(), tensors)
                                        : llvm::Error::success();
  }
  llvm::Expected<HostTensor> tensor = readTensorProtoFile(path);
  if (!tensor)
    return tensor.takeError();
  // Names in the files are not always those of the model: positions count.
  tensor->name = declared.name();
  restoreType(*tensor, declared.type());
  restoreShape(*tensor, declared.type());
  tensors.push_back(std::move(*tensor));
  return llvm::Error::success();
}

} // namespace

llvm::Expected<DataSet> readDataSet(const std::string &folder, const onnx::ModelProto &model) {
  DataSet data;
  for (auto [index, input] : llvm::enumerate(freeInputs(model))) {
    std::string path = llvm::formatv("{0}/input_{1}.pb", folder, index);
    if (!llvm::sys::fs::exists(path))
      break;
    if (llvm::Error error = addValue(path, *input, data.inputs))
      return error;
    data.files.resize(data.inputs.size(), input->type().has_tensor_type() ? path : "");
  }
  for (auto [index, output] : llvm::enumerate(model.graph().output())) {
    std::string path = llvm::formatv("{0}/output_{1}.pb", folder, index);
    if (!llvm::sys::fs::exists(path))
      break;
    if (llvm::Error error = addValue(path, output, data.outputs))
      return error;
  }
  return data;
}

} // namespace autotune
