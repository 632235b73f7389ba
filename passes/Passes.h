// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of Passes.td: how `autotune-opt` and the .mlir tests reach the rewritings of this folder.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace autotune {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace autotune
