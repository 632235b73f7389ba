// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of models whose operands are all known: the import computes them.
#pragma once

#include "frontend/ElementType.h"
#include "test/unit/frontend/TestModel.h"

namespace autotune::test {

/// A result of a model, with elements of every type as numbers.
struct Tensor {
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  std::vector<double> values;
};

/// Adds an initialiser of any type.
void addTensor(TestModel &model, const std::string &name, ElementType type, const std::vector<int64_t> &dims,
               const std::vector<double> &values);

/// All results of the model. Fails the test, and gives none, where the import fails or leaves something to
/// run time.
std::vector<Tensor> evaluated(const TestModel &model);
/// The only result.
Tensor evaluatedOne(const TestModel &model);

/// Small numbers that repeat with a long period: -1.25, 0.5, …
std::vector<double> someNumbers(size_t count, int seed = 1);

} // namespace autotune::test
