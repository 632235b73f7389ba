// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an operator to a primitive of oneDNN 2, and the layouts that it asks for.
#pragma once

#include "benchmarks/OperatorData.h"

#include <oneapi/dnnl/dnnl.hpp>

#include <string>
#include <vector>

namespace autotune::benchmarks {

/// An argument of a primitive. `given` describes its values as OperatorData has them, under the primitive's
/// dims.
struct RecipeArgument {
  int argument = 0; // DNNL_ARG_…
  dnnl::memory::desc given, wanted;
  const std::vector<float> *values = nullptr; // null: the result
  bool constant = false;
};

struct Recipe {
  dnnl::primitive primitive;
  std::string implementation;
  std::vector<RecipeArgument> arguments; // the result is last
};

/// The ways that oneDNN has for it, one at least. The recipes point into `data`. Throws dnnl::error.
std::vector<Recipe> oneDnnRecipes(const dnnl::engine &engine, const Operator &op, const OperatorData &data);

} // namespace autotune::benchmarks
