// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models that show what the runtime adds to the kernels.
#pragma once

#include "schedule/Device.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Error.h"

#include <string>

namespace autotune::benchmarks {

struct ModelTarget {
  Device device;
  int threads = 1;
  std::string path; // of the artifact
};

inline constexpr int64_t kChainElements = 64;

/// x [64] -> y [64] through `kernels` kernels, each of which adds one and cuts at zero.
llvm::Error compileChain(mlir::MLIRContext &context, int kernels, const ModelTarget &target);

/// x [1, 714] through 50 matrix products: 25.5 million weights, as many as ResNet-50 has.
llvm::Error compileLarge(mlir::MLIRContext &context, const ModelTarget &target);

} // namespace autotune::benchmarks
