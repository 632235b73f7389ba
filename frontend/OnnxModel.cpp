// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing and checking of ONNX files.
#include "frontend/OnnxModel.h"

#include "frontend/FunctionLibrary.h"
#include "frontend/NodeContext.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperatorTable.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <onnx/checker.h>

#include <climits>

namespace autotune {

namespace {

llvm::Error error(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), "%s", message.str().c_str());
}

// The newest versions that Debian's libonnx 1.12 knows.
constexpr int64_t kCheckerIrVersion = 8;
constexpr int64_t kCheckerOpset = 17;

int64_t importedVersion(const onnx::ModelProto &model, llvm::StringRef domain) {
  for (const auto &opset : model.opset_import())
    if (domain == opset.domain() || (domain.empty() && opset.domain() == "ai.onnx"))
      return opset.version();
  return 0;
}

/// Walks graphs and the functions that they call.
class UnknownOperators {
public:
  explicit UnknownOperators(const onnx::ModelProto &model) : model(model), library(model) {}

  std::vector<std::string> names;

  template <typename Nodes> void visit(const Nodes &nodes) {
    for (const onnx::NodeProto &node : nodes) {
      visitNode(node);
      for (const onnx::AttributeProto &attribute : node.attribute())
        if (attribute.has_g())
          visit(attribute.g().node());
    }
  }

private:
  void visitNode(const onnx::NodeProto &node) {
    llvm::StringRef domain = node.domain() == "ai.onnx" ? "" : llvm::StringRef(node.domain());
    if (const onnx::FunctionProto *function = library.ofModel(domain, node.op_type())) {
      if (visited.insert(function).second)
        visit(function->node());
      return;
    }
    // A function may import other versions than the model; its nodes are checked again when it is inlined.
    int64_t version = importedVersion(model, domain);
    bool known = version > 0 && (findOperator(domain, node.op_type(), version) ||
                                 library.contains(domain, node.op_type(), version));
    if (!known)
      names.push_back("'" + nodeLabel(node) + "' (" + (domain.empty() ? "" : domain.str() + ".") + node.op_type() +
                      ")");
  }

  const onnx::ModelProto &model;
  FunctionLibrary library;
  llvm::SmallPtrSet<const onnx::FunctionProto *, 8> visited;
};

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
    return error("not an ONNX model: truncated, or another kind of file (" + llvm::Twine(bytes.size()) + " bytes)");
  if (!model->has_graph())
    return error("not an ONNX model: holds no graph");
  if (model->graph().node_size() == 0)
    return error("the graph is empty: it has no nodes");
  if (model->graph().output_size() == 0)
    return error("the graph has no outputs");
  int64_t version = importedVersion(*model, "");
  if (version > kNewestOpset)
    return error("opset " + llvm::Twine(version) + " is newer than the newest supported one, " +
                 llvm::Twine(kNewestOpset));
  return model;
}

llvm::Error checkOperatorsKnown(const onnx::ModelProto &model) {
  UnknownOperators unknown(model);
  unknown.visit(model.graph().node());
  if (unknown.names.empty())
    return llvm::Error::success();
  return error(llvm::Twine(unknown.names.size()) + (unknown.names.size() == 1 ? " node" : " nodes") +
               " with an unsupported operator (opset " + llvm::Twine(importedVersion(model, "")) +
               "): " + llvm::join(unknown.names, ", "));
}

llvm::Error checkWithOnnx(onnx::ModelProto &model) {
  // It looks for external data in the working folder; reading that data checks more than it does.
  bool external = llvm::any_of(model.graph().initializer(), [](const onnx::TensorProto &tensor) {
    return tensor.data_location() == onnx::TensorProto::EXTERNAL;
  });
  if (external || model.ir_version() > kCheckerIrVersion || importedVersion(model, "") > kCheckerOpset)
    return llvm::Error::success();
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
