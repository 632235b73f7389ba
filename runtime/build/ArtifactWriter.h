// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a compiled model: kernels, manifest and constants in one file (see runtime/deploy/Artifact.h).
#pragma once

#include "runtime/build/ModelPlan.h"
#include "runtime/build/ObjectCode.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace autotune {

/// How the steps of one kernel are run.
struct KernelBinary {
  std::string symbol;  // unique in the artifact
  ObjectCode object;
  int64_t chunks = 1;
  bool parallel = false;
};

struct ArtifactInfo {
  std::string modelName, toolVersion;
  Device device;
  int threads = 1;
};

/// One binding of the dynamic dimensions; `kernels[i]` is the binary of `plan.kernels[i]`, an index into the
/// artifact's list.
struct ArtifactProfile {
  const ModelPlan *plan = nullptr;
  std::vector<size_t> kernels;
};

/// Links and writes `path` (to a temporary name beside it, then renamed: never half a file).
/// Errors: linker, file system; the path is named.
llvm::Error writeArtifact(llvm::ArrayRef<KernelBinary> kernels, llvm::ArrayRef<ArtifactProfile> profiles,
                          const ArtifactInfo &info, llvm::StringRef path);

} // namespace autotune
