// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune repository list|show`: what a repository holds.
#include "knowledge_base/Describe.h"
#include "tools/Codegen.h"
#include "tools/Command.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

CodegenVersion codegenOf(const AnyRecord &record) { return currentCodegen(base(record).name); }

/// True if `wanted` is the record's key, file, or the file's name with or without its ending.
bool isNamed(const StoredRecord &stored, llvm::StringRef wanted) {
  return wanted == base(stored.record).key() || wanted == stored.file ||
         wanted == llvm::sys::path::filename(stored.file) || wanted == llvm::sys::path::stem(stored.file);
}

class RepositoryCommand : public Command {
public:
  llvm::StringRef name() const override { return "repository"; }
  llvm::StringRef purpose() const override { return "Lists or shows the records of a repository."; }

  void declare(CLI::App &app) override {
    app.require_subcommand(1);
    list = app.add_subcommand("list", "One line for each record.");
    list->add_option("directory", directory, "the repository")->required();
    show = app.add_subcommand("show", "Everything that one record says.");
    show->add_option("directory", directory, "the repository")->required();
    show->add_option("record", wanted, "its key or file name")->required();
  }

  llvm::Error run() override {
    llvm::Expected<Repository> repository = Repository::open(directory);
    if (!repository)
      return repository.takeError();
    std::vector<Diagnostic> diagnostics;
    std::vector<StoredRecord> records = repository->list(diagnostics);
    llvm::errs() << describeDiagnostics(diagnostics);
    if (list->parsed()) {
      llvm::outs() << describeList(records, codegenOf);
      return llvm::Error::success();
    }
    return showRecords(records);
  }

private:
  llvm::Error showRecords(llvm::ArrayRef<StoredRecord> records) {
    bool found = false;
    for (const StoredRecord &stored : records) {
      if (!isNamed(stored, wanted))
        continue;
      llvm::outs() << (found ? "\n" : "") << describeRecord(stored, codegenOf);
      found = true;
    }
    if (found)
      return llvm::Error::success();
    return llvm::createStringError(directory + ": found no readable record `" + wanted +
                                   "`, expected a key or file name as `autotune repository list` prints it");
  }

  CLI::App *list = nullptr, *show = nullptr;
  std::string directory, wanted;
};

} // namespace

std::unique_ptr<Command> makeRepositoryCommand() { return std::make_unique<RepositoryCommand>(); }

} // namespace autotune
