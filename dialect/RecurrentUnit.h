// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The equations of one hidden unit of a recurrence, on numbers and on vectors of them.
#pragma once

#include "dialect/AutotuneDialect.h"
#include "dialect/Emit.h"

#include <string>

namespace autotune {

/// An activation function that RNN, GRU and LSTM name, in lower case.
struct RecurrentActivation {
  std::string name;
  double alpha = 0, beta = 0;

  /// What is taken where a model gives no parameters; nothing for names that are not known.
  static std::optional<RecurrentActivation> withDefaults(llvm::StringRef name);
  mlir::Value apply(Builder &b, mlir::Value x) const;
  bool operator==(const RecurrentActivation &) const = default;
};

/// Every value is a float or a vector of floats, all of one type.
class RecurrentUnit {
public:
  explicit RecurrentUnit(RecurrenceOp op);

  /// The activation `index` of f, g, h.
  mlir::Value activated(Builder &b, size_t index, mlir::Value x) const {
    return activations[index].apply(b, x);
  }
  /// A gate: the activation of what the clip leaves.
  mlir::Value gate(Builder &b, size_t index, mlir::Value x) const;

  struct Gates {
    mlir::Value input, forget, candidate;
    mlir::Value inputPeephole, forgetPeephole; // null without
  };
  /// The cell state of an LSTM after `cell`.
  mlir::Value nextCell(Builder &b, const Gates &gates, mlir::Value cell) const;
  /// The hidden state that goes with the new `cell`. `peephole` may be null.
  mlir::Value shownCell(Builder &b, mlir::Value output, mlir::Value cell, mlir::Value peephole) const;
  /// The hidden state of a GRU after `hidden`; `update` has been activated, `candidate` has not.
  mlir::Value nextHidden(Builder &b, mlir::Value update, mlir::Value candidate, mlir::Value hidden) const;

private:
  llvm::SmallVector<RecurrentActivation, 3> activations;
  std::optional<double> clip;
  bool couplesInputForget;
};

} // namespace autotune
