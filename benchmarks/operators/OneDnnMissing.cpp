// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In place of OneDnn.cpp where oneDNN is not installed.
#include "benchmarks/operators/OneDnn.h"

#include "schedule/Errors.h"

namespace autotune::benchmarks {

std::optional<std::string> oneDnnVersion() { return std::nullopt; }

llvm::Expected<std::unique_ptr<PeerOperator>> makeOneDnnOperator(const Operator &, const OperatorData &,
                                                                 int) {
  return makeError("built without oneDNN");
}

} // namespace autotune::benchmarks
