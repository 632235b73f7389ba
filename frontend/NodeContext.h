// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a builder sees of one ONNX node: its operands, attributes and results, and where to emit IR.
#pragma once

#include "frontend/ConstantTensor.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace onnx {
class AttributeProto;
class GraphProto;
class NodeProto;
} // namespace onnx

namespace autotune {

class ImportContext;
struct OperatorEntry;

/// One named tensor of the model. Constants become `arith.constant` only when a run-time op needs them.
struct ImportedValue {
  ElementType type = ElementType::F32;
  Shape shape;
  mlir::Value value;                      // null: a constant that was not needed at run time yet
  std::optional<ConstantTensor> constant; // known at import
  std::string name;
  bool present = true; // false: an operand of a nested graph that was left out
  bool isEmptyOptional = false;
  /// Set for a sequence, which exists at import only: its elements are values of their own. An optional with
  /// a value is that value.
  std::shared_ptr<const std::vector<ImportedValue>> elements;

  static ImportedValue known(const ConstantTensor &constant);
  static ImportedValue sequence(std::vector<ImportedValue> elements);
  static ImportedValue emptyOptional();
  bool isTensor() const { return !elements && !isEmptyOptional; }
};

/// Accessors never stop a builder: the first misuse (attribute of the wrong type, operand that should have
/// been constant) is kept, a harmless default returned, and the node is refused after the builder returns.
class NodeContext {
public:
  /// With `scratch`, run-time operands become arguments of that block: the ops are emitted to be evaluated.
  NodeContext(ImportContext &import, const onnx::NodeProto &node, int64_t version, mlir::OpBuilder builder,
              mlir::Block *scratch = nullptr);

  mlir::ImplicitLocOpBuilder b;

  llvm::StringRef opType() const;
  /// Opset version of the node's domain in this model.
  int64_t version() const { return opsetVersion; }

  size_t inputCount() const { return inputs.size(); }
  bool hasInput(size_t index) const { return index < inputs.size() && inputs[index]; }
  llvm::ArrayRef<int64_t> shape(size_t index) const { return inputs[index]->shape; }
  int64_t rank(size_t index) const { return inputs[index]->shape.size(); }
  ElementType type(size_t index) const { return inputs[index]->type; }
  mlir::Type elementType(size_t index) const;
  /// The operand as an SSA value.
  mlir::Value input(size_t index);
  /// The operand when it is known at import.
  const ConstantTensor *constant(size_t index) const;
  /// Integers of an operand that must be known at import; nothing when it is absent.
  std::optional<std::vector<int64_t>> constantInts(size_t index);

  bool hasAttribute(llvm::StringRef name) const;
  int64_t intAttribute(llvm::StringRef name, int64_t fallback);
  double floatAttribute(llvm::StringRef name, double fallback);
  std::string stringAttribute(llvm::StringRef name, llvm::StringRef fallback);
  std::vector<int64_t> intsAttribute(llvm::StringRef name, llvm::ArrayRef<int64_t> fallback = {});
  std::vector<float> floatsAttribute(llvm::StringRef name);
  std::vector<std::string> stringsAttribute(llvm::StringRef name);
  std::optional<ConstantTensor> tensorAttribute(llvm::StringRef name);
  const onnx::GraphProto *graphAttribute(llvm::StringRef name);
  /// Integers that newer opsets pass as operand `index` and older ones as an attribute.
  std::optional<std::vector<int64_t>> intsAttributeOrInput(llvm::StringRef name, size_t index);
  /// `axis` counted from the front; out of range is an error.
  int64_t normalizedAxis(int64_t axis, int64_t rank);
  /// The attribute `axis`, normalised.
  int64_t axisAttribute(llvm::StringRef name, int64_t fallback, int64_t rank);
  /// All of `axes` normalised, sorted, without repeats.
  std::vector<int64_t> normalizedAxes(llvm::ArrayRef<int64_t> axes, int64_t rank);

  size_t outputCount() const;
  bool isOutputUsed(size_t index) const;
  /// Sets output `index`. Integers keep the sign of operand 0 when the width agrees, unless `type` is given.
  void setResult(size_t index, mlir::Value value, std::optional<ElementType> type = std::nullopt);
  void setResult(size_t index, const ConstantTensor &constant);
  /// Output `index` is a value of a nested graph.
  void setResult(size_t index, const ImportedValue &value);
  /// Operand `index` as a value for a nested graph.
  const ImportedValue &importedInput(size_t index) const { return *inputs[index]; }
  /// Output `index` is another name for operand `operand`.
  void forward(size_t index, size_t operand);

  /// A tensor computed at import, as an SSA value.
  mlir::Value materialize(const ConstantTensor &constant);
  mlir::Type mlirType(ElementType type) const;

  /// The only reader of output `index`, if it is a node of this type and its other operands are known.
  std::unique_ptr<NodeContext> soleConsumer(size_t index, llvm::StringRef opType);
  /// Makes this node's output 0 stand for the consumer's: its builder will not run.
  void absorb(NodeContext &consumer);

  /// For builders that compute constants themselves: fails when so many elements are more than may be folded.
  mlir::LogicalResult spend(int64_t elements);
  mlir::LogicalResult fail(const llvm::Twine &message);
  bool failedAlready() const { return !error.empty(); }
  const std::string &errorMessage() const { return error; }

  ImportContext &importContext() { return import; }
  const onnx::NodeProto &proto() const { return node; }
  /// Values that stand for the arguments of the scratch block.
  const std::map<unsigned, ConstantTensor> &scratchArguments() const { return scratchValues; }
  std::vector<std::optional<ImportedValue>> results;
  /// Outputs of absorbed consumers, which are output 0 of this node.
  std::vector<std::string> absorbedOutputs;

private:
  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  const onnx::AttributeProto *typedAttribute(llvm::StringRef name, int type, llvm::StringRef typeName);
  bool checkRank(int64_t rank);
  mlir::Value scratchArgument(const ConstantTensor &constant);

  ImportContext &import;
  const onnx::NodeProto &node;
  int64_t opsetVersion;
  mlir::Block *scratch;
  std::vector<ImportedValue *> inputs; // null: absent
  std::map<size_t, mlir::Value> scratchInputs;
  std::map<unsigned, ConstantTensor> scratchValues;
  std::string error;
};

/// 0, 1, … count - 1: all axes, when a node names none.
std::vector<int64_t> firstIntegers(int64_t count);

/// The name a message or a location uses for a node: its own, or its type and first output.
std::string nodeLabel(const onnx::NodeProto &node);

} // namespace autotune
