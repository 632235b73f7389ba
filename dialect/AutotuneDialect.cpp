// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers the ops and holds what is generated from AutotuneOps.td.
#include "dialect/AutotuneDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectImplementation.h"

#include "dialect/AutotuneDialect.cpp.inc"
#include "dialect/AutotuneEnums.cpp.inc"

#define GET_OP_CLASSES
#include "dialect/AutotuneOps.cpp.inc"

void autotune::AutotuneDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialect/AutotuneOps.cpp.inc"
      >();
}
