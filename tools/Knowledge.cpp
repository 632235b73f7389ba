// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Knowledge.h"

#include "tools/Codegen.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace autotune {

Knowledge::Knowledge(std::optional<Repository> repository, const Device &device)
    : targetDevice(device), records(std::move(repository)), model(device) {
  ResolveSources sources;
  sources.user = records ? &*records : nullptr;
  sources.model = &model;
  sources.codegen = currentCodegen;
  sources.diagnose = [this](const Diagnostic &diagnostic) { report(diagnostic); };
  lookup.emplace(device, std::move(sources));
}

llvm::Expected<std::unique_ptr<Knowledge>> Knowledge::open(const RepositoryConfig &config,
                                                           const Device &device, Access access) {
  if (access == Access::Read && !llvm::sys::fs::exists(config.directory))
    return none(device);
  llvm::Expected<Repository> repository = Repository::open(
      config.directory, {.create = access == Access::Write, .toolVersion = AUTOTUNE_VERSION});
  if (!repository)
    return repository.takeError();
  return std::unique_ptr<Knowledge>(new Knowledge(std::move(*repository), device));
}

std::unique_ptr<Knowledge> Knowledge::none(const Device &device) {
  return std::unique_ptr<Knowledge>(new Knowledge(std::nullopt, device));
}

std::optional<ModelRecord> Knowledge::findModel(llvm::StringRef name, llvm::StringRef keyText) {
  if (!records)
    return std::nullopt;
  std::string key = hashText(keyText);
  llvm::Expected<std::optional<ModelRecord>> record =
      records->find<ModelRecord>(targetDevice.key(), name, key);
  if (!record) {
    report({(targetDevice.key() + "/model/" + name + "-" + key + ".yaml").str(),
            llvm::toString(record.takeError())});
    return std::nullopt;
  }
  if (!*record || (*record)->isStale(currentCodegen(name)))
    return std::nullopt;
  return std::move(*record);
}

void Knowledge::report(const Diagnostic &diagnostic) {
  // The same file may be met by several lookups, named by its path or by its record only.
  llvm::StringRef record = llvm::sys::path::stem(diagnostic.file);
  if (!skipped.insert(record.str()).second)
    return;
  bool named = llvm::StringRef(diagnostic.message).contains(record);
  llvm::errs() << "skipped " << (named ? "" : diagnostic.file + ": ") << diagnostic.message << "\n";
}

} // namespace autotune
