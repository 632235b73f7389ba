// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which ideas an import finds, and whether they compute what the pieces do.
#pragma once

#include "test/unit/frontend/TestModel.h"

#include "mlir/IR/BuiltinOps.h"

namespace autotune::test {

struct Recognition {
  std::string ideas;   // "gelu 1, layer_norm 2" by name; empty: none
  double error = 0;    // greatest difference from the pieces, beside the greatest value (at least 1)
  std::string text;    // the module
  std::string problem; // what failed, if anything
};

/// Imports the model twice: with its inputs unknown, and with them as constants, where the importer evaluates
/// node by node and recognises nothing. Inputs are pseudo-random: floats around 0, bools both ways.
Recognition recognition(const TestModel &model);

/// What an imported module says it holds, as in `Recognition::ideas`.
std::string ideaCounts(mlir::ModuleOp module);

/// Expects the idea, and values within `tolerance` of the pieces.
void expectIdea(const TestModel &model, const std::string &ideas, double tolerance = 2e-6);
/// Expects that no idea is found.
void expectNone(const TestModel &model);

} // namespace autotune::test
