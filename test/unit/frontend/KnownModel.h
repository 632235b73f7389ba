// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models whose operands are all known: importing one computes its outputs.
#pragma once

#include "frontend/ConstantTensor.h"
#include "test/unit/frontend/Evaluate.h"

namespace autotune::test {

/// A dense tensor of any type; integers and bools as the numbers that they are.
using Numbers = Tensor;

class KnownModel : public TestModel {
public:
  explicit KnownModel(int64_t opset = 13) : TestModel(opset) {}

  /// An initialiser; the values are rounded to the type.
  KnownModel &tensor(const std::string &name, const Numbers &numbers);
  /// Starts a node of com.microsoft.
  KnownModel &microsoft(const std::string &op, const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs);

  /// The outputs, in order. Fails the test when the import fails or an output is not known after it.
  std::vector<Numbers> evaluate() const;
  /// The only output.
  Numbers result() const;
};

/// Numbers that look random and are always the same: integers from `low` to `high`.
std::vector<double> scattered(size_t count, int64_t low, int64_t high, uint64_t seed = 1);
/// Multiples of 1/64 between -2 and 2, which every float type but bf16 holds exactly.
std::vector<double> fractions(size_t count, uint64_t seed = 1);
/// As stored in an element of this type.
double roundedTo(ElementType type, double value);

} // namespace autotune::test
