// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a model file to a compiled model without measuring: what compile, run, bench and check share.
#pragma once

#include "tools/ImportedModel.h"
#include "tools/ResultFile.h"

#include "runtime/deploy/Model.h"

#include <memory>
#include <string>
#include <vector>

namespace autotune {

struct CompileOptions {
  bool requireHits = false;      // every schedule from an exact, fresh record, or CheckFailed
  bool ignoreRepository = false; // the untuned program
  bool runsHere = false;         // an error if an inference cannot fit in this machine's memory
};

struct CompileReport {
  LookupCounts lookup; // where the schedules came from
  MemoryUse memory;
};

/// Compiles `model` into `path` with what the repository of `config` knows. Records that cannot be read are
/// reported on stderr.
llvm::Expected<CompileReport> compileModel(const ImportedModel &model, const Config &config,
                                           const CompileOptions &options, const std::string &path);

/// The model compiled into a file that is gone as soon as it is loaded.
llvm::Expected<std::shared_ptr<const deploy::Model>>
compileInMemory(const ImportedModel &model, const Config &config, const CompileOptions &options = {});

/// `path` compiled in memory if it is a model, loaded if it is a compiled one. `tensors` bind dynamic
/// dimensions.
llvm::Expected<std::shared_ptr<const deploy::Model>>
loadOrCompile(const std::string &path, const Config &config, const std::vector<HostTensor> &tensors = {},
              const CompileOptions &options = {});

} // namespace autotune
