// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known before anything is measured: records, cost model, and the way they are asked.
#pragma once

#include "cost_model/AnalyticalModel.h"
#include "knowledge_base/Repository.h"
#include "tools/Config.h"
#include "tuner/Resolve.h"

#include <memory>
#include <optional>
#include <set>
#include <string>

namespace autotune {

class Knowledge {
public:
  enum class Access { Read, Write };
  /// For reading, a directory that does not exist is an empty repository. Errors: not a repository, or
  /// unwritable.
  static llvm::Expected<std::unique_ptr<Knowledge>> open(const RepositoryConfig &config, const Device &device,
                                                         Access access);
  /// No records at all: what the untuned program is made of.
  static std::unique_ptr<Knowledge> none(const Device &device);

  const Device &device() const { return targetDevice; }
  /// Null if there is none.
  Repository *repository() { return records ? &*records : nullptr; }
  const CostModel &costModel() const { return model; }
  const Resolver &resolver() const { return *lookup; }

  /// The record of a whole model, if there is one that can be used as it is.
  std::optional<ModelRecord> findModel(llvm::StringRef name, llvm::StringRef keyText);

  /// Files that were skipped so far.
  size_t skippedFiles() const { return skipped.size(); }

private:
  Knowledge(std::optional<Repository> repository, const Device &device);
  /// One line on stderr for each broken file.
  void report(const Diagnostic &diagnostic);

  Device targetDevice;
  std::optional<Repository> records;
  AnalyticalModel model;
  std::optional<Resolver> lookup;
  std::set<std::string> skipped;
};

} // namespace autotune
