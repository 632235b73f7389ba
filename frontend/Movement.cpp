// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that move elements without computing.
#include "frontend/OperatorTable.h"
#include "frontend/Scalar.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace autotune {

namespace {
constexpr OperatorEntry kOperators[] = {
    {"", "", 1, 1, 1, nullptr},
};
} // namespace

llvm::ArrayRef<OperatorEntry> movementOperators() { return kOperators; }

} // namespace autotune
