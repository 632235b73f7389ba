// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing and checking of ONNX files.
#include "frontend/OnnxModel.h"

#include "frontend/OnnxProto.h"
#include "frontend/OperatorTable.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/checker.h>

#include <climits>

namespace autotune {

namespace {

llvm::Error error(const llvm::Twine &message) { return llvm::createStringError(message); }

// The newest versions that Debian's libonnx 1.12 knows.
constexpr int64_t kCheckerIrVersion = 8;
constexpr int64_t kCheckerOpset = 17;

bool isExternal(const onnx::TensorProto &tensor) {
  return tensor.data_location() == onnx::TensorProto::EXTERNAL;
}

bool hasExternalData(const onnx::GraphProto &graph) {
  return llvm::any_of(graph.initializer(), isExternal) || llvm::any_of(graph.node(), [](const auto &node) {
           return llvm::any_of(node.attribute(), [](const auto &attribute) {
             return isExternal(attribute.t()) || (attribute.has_g() && hasExternalData(attribute.g()));
           });
         });
}

} // namespace

llvm::Expected<std::shared_ptr<onnx::ModelProto>> parseOnnxModel(llvm::StringRef bytes) {
  if (bytes.empty())
    return error("the file is empty");
  if (bytes.size() > INT_MAX)
    return error("the file is larger than 2 GB; models of that size keep their weights in external data");
  auto model = std::make_shared<onnx::ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t *>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetTotalBytesLimit(INT_MAX);
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    return error("not an ONNX model: truncated, or another kind of file (" + llvm::Twine(bytes.size()) +
                 " bytes)");
  if (!model->has_graph())
    return error("not an ONNX model: holds no graph");
  if (model->graph().output_size() == 0)
    return error(model->graph().node_size() == 0 ? "the graph is empty: it has no nodes and no outputs"
                                                 : "the graph has no outputs");
  return model;
}

llvm::Expected<llvm::StringMap<int64_t>> importedOpsets(const onnx::ModelProto &model) {
  llvm::StringMap<int64_t> opsets;
  for (const auto &import : model.opset_import()) {
    llvm::StringRef domain = import.domain() == "ai.onnx" ? "" : llvm::StringRef(import.domain());
    auto [entry, added] = opsets.try_emplace(domain, import.version());
    if (!added && entry->second != import.version())
      return error("the domain '" + (domain.empty() ? "ai.onnx" : domain) +
                   "' is imported twice, as version " + llvm::Twine(entry->second) + " and as version " +
                   llvm::Twine(import.version()));
  }
  // Files from before version 3 of the format have no imports: they mean the first opset.
  if (model.ir_version() < 3)
    opsets.try_emplace("", 1);
  auto standard = opsets.find("");
  if (standard != opsets.end() && standard->second > kNewestOpset)
    return error("the model uses opset " + llvm::Twine(standard->second) +
                 ", which is newer than the newest supported one, " + llvm::Twine(kNewestOpset));
  return opsets;
}

llvm::Error checkWithOnnx(onnx::ModelProto &model, int64_t opset) {
  // It looks for external data in the working folder; reading that data checks more than it does.
  if (hasExternalData(model.graph()) || model.ir_version() > kCheckerIrVersion || opset > kCheckerOpset)
    return llvm::Error::success();
  // It knows only one of the two names of the standard domain.
  for (onnx::OperatorSetIdProto &import : *model.mutable_opset_import())
    if (import.domain() == "ai.onnx")
      import.clear_domain();
  // Exporters leave out the shape of outputs, which nobody needs; only the checker insists.
  for (onnx::ValueInfoProto &output : *model.mutable_graph()->mutable_output())
    if (output.type().has_tensor_type())
      output.mutable_type()->mutable_tensor_type()->mutable_shape();
  try {
    onnx::checker::check_model(model);
  } catch (const std::exception &exception) {
    // The checker explains over several lines; the first is the finding.
    std::string text = exception.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    // Which operators exist is for the operator table to say: it knows some that ONNX got later.
    if (llvm::StringRef(text).contains("No Op registered"))
      return llvm::Error::success();
    return error("libonnx's checker refuses the model: " + llvm::StringRef(text).rtrim());
  }
  return llvm::Error::success();
}

} // namespace autotune
