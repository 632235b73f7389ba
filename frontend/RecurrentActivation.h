// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The activation functions that RNN, GRU and LSTM name.
#pragma once

#include "frontend/Emit.h"

namespace autotune {

struct RecurrentActivation {
  std::string name;
  double alpha = 0, beta = 0;

  mlir::Value apply(Builder &b, mlir::Value x) const;
};

/// `perDirection` activations for each direction, from the attributes or the defaults.
mlir::FailureOr<std::vector<RecurrentActivation>> readActivations(NodeContext &node, int64_t directions,
                                                                  llvm::ArrayRef<llvm::StringRef> defaults);

} // namespace autotune
