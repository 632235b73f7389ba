// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// State of one import: the values seen so far, who reads them, and the function being built.
#pragma once

#include "frontend/ExternalData.h"
#include "frontend/FunctionLibrary.h"
#include "frontend/ImportBudget.h"
#include "frontend/NodeContext.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

namespace autotune {

/// Values are looked up by name through the graphs that enclose each other. Bodies of functions see only
/// themselves.
class ImportContext {
public:
  ImportContext(mlir::func::FuncOp function, llvm::StringMap<int64_t> opsets,
                const FunctionLibrary &functions, ExternalData *external, const ImportLimits &limits);

  mlir::MLIRContext *context() const { return mlir::func::FuncOp(function)->getContext(); }

  /// Version of a domain ("" is ai.onnx), or nothing when the model does not import it.
  std::optional<int64_t> opsetVersion(llvm::StringRef domain) const;

  /// Null when no such value exists (yet).
  ImportedValue *find(llvm::StringRef name);
  void define(llvm::StringRef name, ImportedValue value);

  /// Counts readers of each value of the innermost graph; outputs and nested graphs count as readers that are
  /// no node.
  void countUses(const onnx::GraphProto &graph);
  /// The only reader, when it is a node of the same graph.
  const onnx::NodeProto *soleReader(llvm::StringRef name) const;
  bool isRead(llvm::StringRef name) const { return readerCount(name) > 0; }
  /// How many operands of the innermost graph (and of those in it) are this value.
  unsigned readerCount(llvm::StringRef name) const;
  /// The node of the innermost graph that computes the value; null when it was built together with others, so that
  /// the value is not what the node alone would give.
  const onnx::NodeProto *producer(llvm::StringRef name) const;

  /// `consumer` is built by the builder of `node`.
  void markAbsorbed(const onnx::NodeProto &node, const onnx::NodeProto &consumer);

  /// How often each idea was found, by name.
  std::map<std::string, int64_t> ideaCounts() const;

  /// The value as SSA; constants appear once, at the head of @main.
  mlir::Value valueOf(ImportedValue &value);
  mlir::Value constantOp(const ConstantTensor &constant, llvm::StringRef name);

  /// What may still be used; builders of run-time ops listen to it.
  ImportBudget budget;
  /// Questions that patterns may still ask; in what is left then, no ideas are recognised. Models ask some 50 a node.
  int64_t matchingBudget = 5'000'000;
  /// Where tensors outside the model's file are; null: they may not be anywhere else.
  ExternalData *external;

  /// Imports the nodes of the innermost graph at the builder's position. In the outermost graph every node
  /// that can be tried is tried, so that one error names all that is wrong.
  llvm::Error importNodes(const onnx::GraphProto &graph, mlir::OpBuilder &builder);
  /// Imports a nested graph with these values for its inputs; gives its outputs.
  llvm::Expected<std::vector<ImportedValue>> importGraph(const onnx::GraphProto &graph,
                                                         mlir::OpBuilder &builder,
                                                         llvm::ArrayRef<ImportedValue> arguments,
                                                         bool seesOuterValues = true);

private:
  struct Readers {
    unsigned count = 0;
    const onnx::NodeProto *node = nullptr;
  };
  struct Scope {
    llvm::StringMap<ImportedValue> values;
    llvm::StringMap<Readers> readers;
    llvm::StringMap<const onnx::NodeProto *> producers;
    llvm::DenseMap<const onnx::NodeProto *, llvm::StringRef> ideas;
    bool seesOuterValues = true;
  };

  llvm::Error importNode(const onnx::NodeProto &node, mlir::OpBuilder &builder);
  llvm::Error importOrCollect(const onnx::NodeProto &node, mlir::OpBuilder &builder);
  bool dependsOnFailure(const onnx::NodeProto &node) const;
  llvm::Error collectedFailures() const;
  /// Builds the idea that ends in this node, if there is one.
  bool importIdea(const onnx::NodeProto &node, mlir::OpBuilder &builder);
  /// `node` and the pieces before it are one idea; ideas that end in one of the pieces are part of it.
  void noteIdea(const onnx::NodeProto &node, llvm::StringRef idea, llvm::ArrayRef<const onnx::NodeProto *> pieces);
  llvm::Error importFunctionNode(const onnx::NodeProto &node, int64_t version, mlir::OpBuilder &builder);
  llvm::Error checkOperands(const onnx::NodeProto &node);
  llvm::Error checkTensors(const onnx::NodeProto &node, const OperatorEntry &entry);
  llvm::Error defineResults(NodeContext &node);
  bool takeConstantBytes(const NodeContext &node, const ConstantTensor &result);
  bool canEvaluate(const onnx::NodeProto &node);
  void addReader(llvm::StringRef name, const onnx::NodeProto *node);
  void countNestedUses(const onnx::GraphProto &graph);

  mlir::func::FuncOp function;
  mlir::Operation *lastConstant = nullptr;
  llvm::StringMap<int64_t> opsets;
  const FunctionLibrary &functions;
  std::vector<std::unique_ptr<Scope>> scopes;
  llvm::SmallPtrSet<const onnx::NodeProto *, 16> absorbed, absorbers;
  std::map<std::string, int64_t> finishedIdeas;
  /// Bodies of inlined functions: values may refer to the data of their constants.
  std::vector<std::shared_ptr<const onnx::GraphProto>> bodies;
  int64_t bodyBytes = 0;
  /// What is wrong with nodes of the outermost graph, and the values that are missing because of it.
  std::vector<std::string> failures;
  llvm::StringSet<> missing;
};

/// A dense constant as an attribute; bools are packed as MLIR wants them.
mlir::DenseElementsAttr toAttribute(const ConstantTensor &constant, mlir::MLIRContext *context);
mlir::Type toMlirType(ElementType type, mlir::MLIRContext *context);
/// Signless integers count as signed.
ElementType fromMlirType(mlir::Type type);

} // namespace autotune
