// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The peer: the same operators computed by oneDNN. Nothing of oneDNN is in this header; without the library
// the program is built with OneDnnMissing.cpp.
#pragma once

#include "benchmarks/OperatorData.h"
#include "benchmarks/TimedOperator.h"

#include "llvm/Support/Error.h"

#include <memory>
#include <optional>
#include <string>

namespace autotune::benchmarks {

class PeerOperator : public TimedOperator {
public:
  /// The peer's name of the code that it chose.
  virtual std::string implementation() const = 0;
};

/// "2.6.3"; nothing when the program was built without oneDNN.
std::optional<std::string> oneDnnVersion();

/// The operator with constants packed beforehand, activations in the layouts that oneDNN asks for, bias and
/// activation inside of the primitive. Conversions from and to plain layout are part of a run, not of its
/// time. Where several primitives can do it (matrix products with weights), the one that is faster now.
/// Errors: what oneDNN says.
llvm::Expected<std::unique_ptr<PeerOperator>> makeOneDnnOperator(const Operator &op, const OperatorData &data,
                                                                 int threads);

} // namespace autotune::benchmarks
