// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Codegen.h"

#include "llvm/Config/llvm-config.h"

namespace autotune {

// Raised by hand when the code that kernels compile to changes in a way that old measurements do not speak
// for.
constexpr int64_t kCodegenNumber = 5;

CodegenVersion currentCodegen(llvm::StringRef kind) { return {LLVM_VERSION_STRING, kCodegenNumber}; }

} // namespace autotune
