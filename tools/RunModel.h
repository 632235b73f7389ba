// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads compiled models and runs them on tensors from files.
#pragma once

#include "frontend/TensorFolder.h"
#include "runtime/deploy/Model.h"

#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace autotune {

/// True if `path` is to be loaded rather than compiled: it ends in .so or starts like an ELF file.
bool isCompiledModel(llvm::StringRef path);

/// Calls `work` and turns what the deployed runtime throws into an error.
llvm::Error catchRuntimeErrors(const std::function<void()> &work);

llvm::Expected<std::shared_ptr<const deploy::Model>> loadCompiledModel(const std::string &path);

/// One inference. `given` are matched to the model's inputs by name, or by position where no name is known.
/// `threads` 0: as compiled. Errors: an input that is missing, unknown or of another type; a shape without
/// profile.
llvm::Expected<std::vector<HostTensor>> runModel(const std::shared_ptr<const deploy::Model> &model,
                                                 int threads, const std::vector<HostTensor> &given);

} // namespace autotune
