// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exit codes of `autotune` and the errors that lead to them.
#pragma once

#include "llvm/Support/Error.h"

#include <string>

namespace autotune {

enum class ExitCode {
  Done = 0,
  BadInput = 1,    // the model, repository or config is at fault
  Usage = 2,       // the command line is
  Internal = 3,    // we are
  CheckFailed = 4, // a check failed or a required hit was missed
  Interrupted = 130,
};

/// An error with its own exit code. Any other error counts as BadInput.
class ExitError : public llvm::ErrorInfo<ExitError> {
public:
  static char ID;
  ExitError(ExitCode code, std::string message) : exitCode(code), message(std::move(message)) {}
  void log(llvm::raw_ostream &out) const override { out << message; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }
  ExitCode code() const { return exitCode; }

private:
  ExitCode exitCode;
  std::string message;
};

llvm::Error usageError(const llvm::Twine &message);
llvm::Error checkFailed(const llvm::Twine &message);
llvm::Error interrupted();

/// Prints one line "autotune: error: …" on stderr and returns the exit code; 0 and no line for success.
ExitCode reportError(llvm::Error error);

} // namespace autotune
