// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `autotune operators`: which operators a model may hold.
#include "frontend/OperatorReference.h"
#include "tools/Command.h"

#include "llvm/Support/raw_ostream.h"

#include <CLI/CLI.hpp>

namespace autotune {
namespace {

class OperatorsCommand : public Command {
public:
  llvm::StringRef name() const override { return "operators"; }
  llvm::StringRef purpose() const override { return "Lists the operators that models may hold, as Markdown."; }
  void declare(CLI::App &) override {}
  llvm::Error run() override {
    llvm::outs() << operatorReference();
    return llvm::Error::success();
  }
};

} // namespace

std::unique_ptr<Command> makeOperatorsCommand() { return std::make_unique<OperatorsCommand>(); }

} // namespace autotune
