// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The words in which patterns are written: who computes a value, which number it is, whether two are the
// same.
#pragma once

#include "frontend/ImportContext.h"
#include "frontend/OnnxProto.h"
#include "frontend/OperatorTable.h"

#include <array>
#include <optional>

namespace autotune {

/// An idea found in a graph: a node that is built instead of the last of its pieces. Its outputs are those of
/// that piece; its operands are values of the graph.
struct Idea {
  llvm::StringRef name; // for statistics
  OperatorBuilder build = nullptr;
  onnx::NodeProto node;
  std::vector<const onnx::NodeProto *> pieces = {}; // what it replaces, without the last one
};

/// c[0] + c[1] x + c[2] x² + c[3] x³
using Polynomial = std::array<double, 4>;

/// Looks backwards from one node. Values are named as in the graph. Names that stand for the same value
/// (after Identity, say) count as one.
class Matcher {
public:
  Matcher(ImportContext &import, const onnx::NodeProto &root) : root(root), import(import) {}

  const onnx::NodeProto &root;

  /// The node of this graph that computes the value, if it was imported as it stands.
  const onnx::NodeProto *producer(llvm::StringRef value);
  const onnx::NodeProto *producer(llvm::StringRef value, llvm::StringRef opType);
  bool same(llvm::StringRef a, llvm::StringRef b);

  /// Null for values that are computed at run time.
  const ConstantTensor *constant(llvm::StringRef value);
  /// The float that all elements of a constant have.
  std::optional<double> number(llvm::StringRef value);
  /// The value is a constant close to `expected`.
  bool isNumber(llvm::StringRef value, double expected);
  /// Equal to the precision of the root's type: constants were rounded when they were exported.
  bool close(double found, double expected);

  /// Version of ai.onnx in which the graph is written.
  int64_t opset() const { return import.opsetVersion("").value_or(0); }
  llvm::ArrayRef<int64_t> shape(llvm::StringRef value);
  ElementType type(llvm::StringRef value);
  /// The shape of the root's result when it broadcasts two operands.
  std::optional<Shape> broadcastRoot();

  int64_t intAttribute(const onnx::NodeProto &node, llvm::StringRef name, int64_t fallback);
  double floatAttribute(const onnx::NodeProto &node, llvm::StringRef name, double fallback);
  std::vector<int64_t> intsAttribute(const onnx::NodeProto &node, llvm::StringRef name);
  /// Sorted axes of a Reduce node; empty when they are not known or none.
  llvm::SmallVector<int64_t> reductionAxes(const onnx::NodeProto &node);
  /// The value has the shape of x with 1 in place of the axes, so that it meets its own rows in a broadcast
  /// with x.
  bool isRowOf(llvm::StringRef value, llvm::StringRef x, llvm::ArrayRef<int64_t> axes);

  /// The operand of a two-operand node beside a constant close to `number`.
  std::optional<llvm::StringRef> besideNumber(const onnx::NodeProto &node, double number);
  /// The operand of Add or Mul beside any one number, and the number.
  std::optional<std::pair<llvm::StringRef, double>> besideAnyNumber(const onnx::NodeProto &node);
  /// The value seen through Casts between floats.
  llvm::StringRef throughCasts(llvm::StringRef value);
  /// The value seen through Casts between floats and through nodes that only change its shape.
  llvm::StringRef throughViews(llvm::StringRef value);
  /// 1 / sqrt(v) or sqrt(v) in any spelling, v² too: the name v.
  std::optional<llvm::StringRef> squareRoot(llvm::StringRef value);
  std::optional<llvm::StringRef> reciprocal(llvm::StringRef value);
  std::optional<llvm::StringRef> inverseRoot(llvm::StringRef value);
  std::optional<llvm::StringRef> square(llvm::StringRef value);

  /// The value as a polynomial in x, through sums, products, powers and quotients by numbers.
  std::optional<Polynomial> polynomial(llvm::StringRef value, llvm::StringRef x);
  bool isPolynomial(llvm::StringRef value, llvm::StringRef x, const Polynomial &expected);

  /// True when pieces between the root and `operands` that cost as much as the root are read elsewhere too:
  /// they would be computed twice.
  bool costsMore(llvm::ArrayRef<llvm::StringRef> operands);
  /// The pieces between the root and the operands of the last question.
  llvm::ArrayRef<const onnx::NodeProto *> pieces() const { return interior; }

  /// A node for the idea, with the outputs of the root.
  onnx::NodeProto node(llvm::StringRef opType, llvm::ArrayRef<llvm::StringRef> operands) const;
  /// The same, built by the operator of this name in the newest opset. Nothing when it would cost more.
  std::optional<Idea> idea(llvm::StringRef name, llvm::StringRef opType,
                           llvm::ArrayRef<llvm::StringRef> operands);

private:
  llvm::StringRef resolved(llvm::StringRef value);
  std::optional<Polynomial> polynomial(llvm::StringRef value, llvm::StringRef x, unsigned depth);
  void collectPieces(llvm::ArrayRef<llvm::StringRef> operands);

  ImportContext &import;
  llvm::SmallVector<const onnx::NodeProto *, 16> interior;
  /// What may still be looked at: deep graphs must not make matching slow.
  int steps = 1000;
};

void setAttribute(onnx::NodeProto &node, llvm::StringRef name, double value);
void setAttribute(onnx::NodeProto &node, llvm::StringRef name, int64_t value);
void setAttribute(onnx::NodeProto &node, llvm::StringRef name, llvm::StringRef value);
void setAttribute(onnx::NodeProto &node, llvm::StringRef name, llvm::ArrayRef<int64_t> values);

} // namespace autotune
