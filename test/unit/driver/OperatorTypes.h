// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of operators and types: operands, and results from formulas on ordinary numbers.
#pragma once

#include "test/unit/frontend/KnownModel.h"

#include <functional>

namespace autotune::test {

struct TypedOperand {
  Numbers numbers;
  bool isParameter = false; // always known: axes, shapes, …
};

struct TypedCase {
  std::string op;
  std::vector<TypedOperand> operands;
  Numbers expected;
  std::function<void(KnownModel &)> attributes;
  /// Of floats, in units of `toleranceOf`.
  double tolerance = 1;
};

/// The cases that ONNX allows for this type.
std::vector<TypedCase> casesOf(ElementType type);
std::vector<ElementType> allElementTypes();
/// Relative error of one rounding, and a little.
double toleranceOf(ElementType type);

} // namespace autotune::test
