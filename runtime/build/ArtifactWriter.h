// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a compiled model: kernels, manifest and constants in one file (see runtime/deploy/Artifact.h).
#pragma once

#include "runtime/build/ModelPlan.h"
#include "runtime/build/ObjectCode.h"

#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace autotune {

/// What a kernel computes and why in this way, for people and profiles. Empty where there is nothing to
/// choose.
struct KernelDescription {
  std::string kind, opClass;    // "winograd4_conv", "contraction"
  std::string shapes;           // of the root's operands, in their layouts
  std::string tail;             // the fused elementwise operations
  std::string schedule, source; // the choice, and where it came from: "exact", "near", "model", …
  double flops = 0, bytesRead = 0, bytesWritten = 0; // of the root
};

/// How the steps of one kernel are run.
struct KernelBinary {
  std::string symbol; // unique in the artifact
  ObjectCode object;
  int64_t chunks = 1;
  bool parallel = false;
  KernelDescription description;
};

struct ArtifactInfo {
  std::string modelName, toolVersion;
  Device device;
  int threads = 1;
  bool keepDenormals = false;                              // for strict numerics; otherwise they are zero
  std::map<std::string, std::string> scheduleSources = {}; // by workload key; may lack some
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
