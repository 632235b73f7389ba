// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps (domain, operator, version) to the function that builds it; each family of operators is one file.
#pragma once

#include "mlir/Support/LogicalResult.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace autotune {

class NodeContext;
using OperatorBuilder = mlir::LogicalResult (*)(NodeContext &);

struct OperatorEntry {
  llvm::StringRef domain; // "" is ai.onnx
  llvm::StringRef name;
  int64_t since; // first opset version whose meaning the builder implements
  unsigned minInputs;
  unsigned maxInputs;
  OperatorBuilder build;
  /// What the builder refuses of what the operator's specification allows; a phrase for docs/operators.md.
  llvm::StringRef limits = "";
  /// Operands may be sequences or optionals without a value; otherwise all are tensors.
  bool takesAnyValue = false;
};

inline constexpr unsigned kAnyInputs = ~0u;
/// Newest version of ai.onnx whose operators were compared with the builders.
inline constexpr int64_t kNewestOpset = 23;

/// The entry with the greatest `since` that is not above `version`; null when there is none.
const OperatorEntry *findOperator(llvm::StringRef domain, llvm::StringRef name, int64_t version);
/// Every entry, sorted by domain, name and version.
llvm::ArrayRef<OperatorEntry> allOperators();

llvm::ArrayRef<OperatorEntry> activationOperators();
llvm::ArrayRef<OperatorEntry> attentionOperators();
llvm::ArrayRef<OperatorEntry> constantOperators();
llvm::ArrayRef<OperatorEntry> controlFlowOperators();
llvm::ArrayRef<OperatorEntry> convolutionOperators();
llvm::ArrayRef<OperatorEntry> deformableOperators();
llvm::ArrayRef<OperatorEntry> determinantOperators();
llvm::ArrayRef<OperatorEntry> einsumOperators();
llvm::ArrayRef<OperatorEntry> elementwiseOperators();
llvm::ArrayRef<OperatorEntry> fusedAttentionOperators();
llvm::ArrayRef<OperatorEntry> fusedOperators();
llvm::ArrayRef<OperatorEntry> gatherOperators();
llvm::ArrayRef<OperatorEntry> geluOperators();
llvm::ArrayRef<OperatorEntry> inverseOperators();
llvm::ArrayRef<OperatorEntry> knownDataOperators();
llvm::ArrayRef<OperatorEntry> matMulOperators();
llvm::ArrayRef<OperatorEntry> movementOperators();
llvm::ArrayRef<OperatorEntry> normalizationOperators();
llvm::ArrayRef<OperatorEntry> orderingOperators();
llvm::ArrayRef<OperatorEntry> poolingOperators();
llvm::ArrayRef<OperatorEntry> quantizationOperators();
llvm::ArrayRef<OperatorEntry> quantizedContractionOperators();
llvm::ArrayRef<OperatorEntry> quantizedFunctionOperators();
llvm::ArrayRef<OperatorEntry> quantizedMatMulOperators();
llvm::ArrayRef<OperatorEntry> recurrentOperators();
llvm::ArrayRef<OperatorEntry> reductionOperators();
llvm::ArrayRef<OperatorEntry> regionPoolingOperators();
llvm::ArrayRef<OperatorEntry> resizeOperators();
llvm::ArrayRef<OperatorEntry> rotaryEmbeddingOperators();
llvm::ArrayRef<OperatorEntry> rotaryOperators();
llvm::ArrayRef<OperatorEntry> samplingOperators();
llvm::ArrayRef<OperatorEntry> scatterOperators();
llvm::ArrayRef<OperatorEntry> sequenceOperators();
llvm::ArrayRef<OperatorEntry> shapeOperators();
llvm::ArrayRef<OperatorEntry> skipNormalizationOperators();
llvm::ArrayRef<OperatorEntry> spectrumOperators();
llvm::ArrayRef<OperatorEntry> statisticsOperators();
llvm::ArrayRef<OperatorEntry> textFeatureOperators();
llvm::ArrayRef<OperatorEntry> trainingOperators();
llvm::ArrayRef<OperatorEntry> transposedConvolutionOperators();
llvm::ArrayRef<OperatorEntry> windowGatherOperators();

} // namespace autotune
