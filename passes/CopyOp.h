// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one way to write a copy in linalg.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace autotune {

/// `dest`, of any rank, becomes `source` read through `sourceMap` (loops of `dest` -> axes of `source`; the identity when
/// absent). Tensors give a result, memrefs are written in place.
mlir::linalg::GenericOp createCopy(mlir::OpBuilder &b, mlir::Location loc, mlir::Value source, mlir::Value dest,
                                   mlir::AffineMap sourceMap = {});

} // namespace autotune
