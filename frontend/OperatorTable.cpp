// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of all operators, put together once from the families.
#include "frontend/OperatorTable.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>
#include <vector>

namespace autotune {

llvm::ArrayRef<OperatorEntry> allOperators() {
  static const std::vector<OperatorEntry> table = [] {
    std::vector<OperatorEntry> entries;
    for (auto family : {activationOperators,
                        attentionOperators,
                        constantOperators,
                        controlFlowOperators,
                        convolutionOperators,
                        deformableOperators,
                        determinantOperators,
                        einsumOperators,
                        elementwiseOperators,
                        fusedAttentionOperators,
                        fusedOperators,
                        gatherOperators,
                        geluOperators,
                        inverseOperators,
                        knownDataOperators,
                        matMulOperators,
                        movementOperators,
                        normalizationOperators,
                        orderingOperators,
                        poolingOperators,
                        quantizationOperators,
                        quantizedContractionOperators,
                        quantizedFunctionOperators,
                        quantizedMatMulOperators,
                        recurrentOperators,
                        reductionOperators,
                        regionPoolingOperators,
                        resizeOperators,
                        rotaryEmbeddingOperators,
                        rotaryOperators,
                        samplingOperators,
                        scatterOperators,
                        sequenceOperators,
                        shapeOperators,
                        skipNormalizationOperators,
                        spectrumOperators,
                        statisticsOperators,
                        textFeatureOperators,
                        trainingOperators,
                        transposedConvolutionOperators,
                        windowGatherOperators})
      llvm::append_range(entries, family());
    llvm::sort(entries, [](const OperatorEntry &a, const OperatorEntry &b) {
      return std::tie(a.domain, a.name, a.since) < std::tie(b.domain, b.name, b.since);
    });
    return entries;
  }();
  return table;
}

const OperatorEntry *findOperator(llvm::StringRef domain, llvm::StringRef name, int64_t version) {
  if (domain == "ai.onnx")
    domain = "";
  llvm::ArrayRef<OperatorEntry> table = allOperators();
  auto key = std::make_tuple(domain, name, version);
  const OperatorEntry *next = llvm::partition_point(table, [&](const OperatorEntry &entry) {
    return std::make_tuple(entry.domain, entry.name, entry.since) <= key;
  });
  if (next == table.begin())
    return nullptr;
  const OperatorEntry *entry = next - 1;
  return entry->domain == domain && entry->name == name ? entry : nullptr;
}

} // namespace autotune
