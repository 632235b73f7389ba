// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators whose meaning is a graph: functions of the model, and operators that ONNX itself defines so.
#pragma once

#include "frontend/ElementType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"

#include <memory>
#include <optional>
#include <string>

namespace onnx {
class FunctionProto;
class GraphProto;
class ModelProto;
class NodeProto;
} // namespace onnx

namespace autotune {

/// The body of a function for one node, with the node's attributes in their places.
struct FunctionBody {
  /// Its inputs and outputs correspond to those of the node by position.
  std::shared_ptr<const onnx::GraphProto> graph;
  llvm::StringMap<int64_t> opsets;
};

class FunctionLibrary {
public:
  /// The model must outlive the library.
  explicit FunctionLibrary(const onnx::ModelProto &model);

  bool contains(llvm::StringRef domain, llvm::StringRef name, int64_t version) const;
  /// The function of the model with this name; null when there is none.
  const onnx::FunctionProto *ofModel(llvm::StringRef domain, llvm::StringRef name) const;

  /// `inputTypes` has one entry for each input of the node; nothing for absent ones.
  std::optional<FunctionBody> instantiate(const onnx::NodeProto &node, int64_t version,
                                          llvm::ArrayRef<std::optional<ElementType>> inputTypes,
                                          llvm::ArrayRef<llvm::SmallVector<int64_t, 6>> inputShapes) const;

private:
  llvm::StringMap<const onnx::FunctionProto *> functions;  // by "domain:name"
};

} // namespace autotune
