// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The body of a linalg op as a list of steps over numbered slots, to be run once for each element.
#pragma once

#include "frontend/ConstantTensor.h"

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <functional>

namespace autotune {

/// A float is held as double, rounded to its type after each step; an integer sign-extended; an i1 as 0 or 1.
union Slot {
  double number;
  int64_t integer;
};

class ScalarProgram {
public:
  using TensorLookup = std::function<const ConstantTensor *(mlir::Value)>;

  /// Nothing when an op of the body is not known here. Tensors that the body extracts from are looked up once; they
  /// must outlive the program.
  static std::optional<ScalarProgram> compile(mlir::Block &body, const TensorLookup &tensors);

  size_t stepCount() const { return steps.size(); }
  /// Slots 0, 1, … hold the block arguments.
  void setArgument(size_t index, const char *bytes);
  void run(llvm::ArrayRef<int64_t> loopIndices);
  void storeResult(size_t index, char *bytes) const;

  struct Step {
    void (*run)(const Step &, Slot *, llvm::ArrayRef<int64_t>);
    unsigned result;
    llvm::SmallVector<unsigned, 3> operands;
    ElementType type;         // of the result; `index` counts as i64
    ElementType operandType;  // of operand 0
    int64_t detail = 0;       // predicate, loop number
    const ConstantTensor *tensor = nullptr;
  };

private:
  bool add(mlir::Operation &op, const TensorLookup &tensors);
  unsigned slotOf(mlir::Value value);

  std::vector<Step> steps;
  std::vector<Slot> slots;
  std::vector<ElementType> argumentTypes;
  std::vector<std::pair<unsigned, ElementType>> yields;
  llvm::DenseMap<mlir::Value, unsigned> numbering;
};

} // namespace autotune
