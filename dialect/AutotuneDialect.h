// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The dialect of AutotuneOps.td: attention, layer_norm, recurrence, winograd_filter.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialect/AutotuneDialect.h.inc"
#include "dialect/AutotuneEnums.h.inc"

namespace autotune {
// The signatures of linalg's interface are generated with these names unqualified.
using mlir::FailureOr, mlir::OpBuilder, mlir::SmallVector, mlir::Value;
} // namespace autotune

#define GET_OP_CLASSES
#include "dialect/AutotuneOps.h.inc"
