// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ExitCode.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace autotune {

char ExitError::ID = 0;

llvm::Error usageError(const llvm::Twine &message) {
  return llvm::make_error<ExitError>(ExitCode::Usage, message.str());
}
llvm::Error checkFailed(const llvm::Twine &message) {
  return llvm::make_error<ExitError>(ExitCode::CheckFailed, message.str());
}
llvm::Error interrupted() {
  return llvm::make_error<ExitError>(ExitCode::Interrupted, "interrupted; everything found so far is kept");
}

ExitCode reportError(llvm::Error error) {
  ExitCode code = ExitCode::Done;
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    out << (text.empty() ? "" : "; ") << info.message();
    if (code == ExitCode::Done)
      code = info.isA<ExitError>() ? static_cast<const ExitError &>(info).code() : ExitCode::BadInput;
  });
  if (code == ExitCode::Done)
    return code;
  // One line, whatever a library's message holds, so that logs can be searched.
  std::string line = llvm::join(llvm::split(llvm::StringRef(text).rtrim(), '\n'), "; ");
  llvm::errs() << "autotune: " << (code == ExitCode::Interrupted ? "" : "error: ") << line << "\n";
  return code;
}

} // namespace autotune
