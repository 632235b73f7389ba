// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The value that a model's input is fixed to, given as text.
#pragma once

#include "frontend/ConstantTensor.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <optional>

namespace autotune {

/// What the model says of the input: the element type, and the shape as far as it is declared.
struct DeclaredInput {
  ElementType type = ElementType::F32;
  /// Nothing: any rank. Dimensions that are not fixed are -1.
  std::optional<Shape> shape;
};

/// `text` is the name of a .npy or .pb file, or numbers between commas (`16000`, `1,3,224`; `true` and `false` for
/// bool), which are taken in row-major order. One number without a declared shape is a scalar, several are a vector.
/// Errors: what was found and expected; a number that the type cannot hold exactly is one (floats are rounded).
llvm::Expected<ConstantTensor> parseInputValue(llvm::StringRef text, const DeclaredInput &input);

} // namespace autotune
