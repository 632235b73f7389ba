// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes to a model that keep it a model: most random bytes never get past the parser.
#pragma once

#include <string>

namespace autotune::test {

/// Changes a few things of the serialised model: operators, edges, attributes, types, shapes, values,
/// versions. The same seed makes the same changes. False when `bytes` are no model.
bool mutateModel(std::string &bytes, unsigned seed);

} // namespace autotune::test
