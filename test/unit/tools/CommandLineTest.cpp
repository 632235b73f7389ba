// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/CommandLine.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

using namespace autotune;
using testing::HasSubstr;

namespace {

/// A command that notes what it was given and ends as told.
class Probe : public Command {
public:
  Probe(const char *name, std::string &log) : name_(name), log(log) {}
  llvm::StringRef name() const override { return name_; }
  llvm::StringRef purpose() const override { return "Notes its model."; }
  void declare(CLI::App &app) override { app.add_option("model", model)->required(); }
  llvm::Error run() override {
    log = std::string(name_) + " " + model;
    if (model == "bad.onnx")
      return llvm::createStringError("bad.onnx: first line\nsecond line");
    if (model == "check.onnx")
      return checkFailed("outputs differ");
    if (model == "throws.onnx")
      throw std::runtime_error("surprise");
    return llvm::Error::success();
  }

private:
  const char *name_;
  std::string &log;
  std::string model;
};

struct Outcome {
  ExitCode code;
  std::string log, errors;
};

Outcome run(std::vector<std::string> arguments) {
  Outcome outcome;
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<Probe>("tune", outcome.log));
  commands.push_back(std::make_unique<Probe>("compile", outcome.log));
  testing::internal::CaptureStderr();
  outcome.code = runCommandLine(std::move(arguments), std::move(commands));
  outcome.errors = testing::internal::GetCapturedStderr();
  return outcome;
}

TEST(CommandLineTest, ModelAloneMeansTune) {
  EXPECT_EQ(run({"a.onnx"}).log, "tune a.onnx");
  EXPECT_EQ(run({"tune", "a.onnx"}).log, "tune a.onnx");
  EXPECT_EQ(run({"compile", "a.onnx"}).log, "compile a.onnx");
}

TEST(CommandLineTest, UnknownCommandIsUsageAndNamesTheNearest) {
  Outcome outcome = run({"compil", "a.onnx"});
  EXPECT_EQ(outcome.code, ExitCode::Usage);
  EXPECT_EQ(outcome.errors,
            "autotune: error: `compil` is neither a file nor a command; the nearest command is `compile`\n");
}

TEST(CommandLineTest, UsageErrorsAreOneLineAndTwo) {
  for (std::vector<std::string> arguments :
       {std::vector<std::string>{}, {"tune"}, {"a.onnx", "b.onnx"}, {"tune", "a.onnx", "--no-such-flag"}}) {
    Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, ExitCode::Usage);
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
    EXPECT_EQ(outcome.log, "");
  }
}

TEST(CommandLineTest, ErrorsOfCommandsAreOneLineAndOne) {
  Outcome outcome = run({"bad.onnx"});
  EXPECT_EQ(outcome.code, ExitCode::BadInput);
  EXPECT_EQ(outcome.errors, "autotune: error: bad.onnx: first line; second line\n");
}

TEST(CommandLineTest, FailedCheckIsFour) { EXPECT_EQ(run({"check.onnx"}).code, ExitCode::CheckFailed); }

TEST(CommandLineTest, ExceptionIsInternalAndSaysHowToReport) {
  Outcome outcome = run({"throws.onnx"});
  EXPECT_EQ(outcome.code, ExitCode::Internal);
  EXPECT_THAT(outcome.errors, HasSubstr("internal fault: surprise; please report it"));
}

TEST(CommandLineTest, HelpAndVersionAreDone) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run({"--help"}).code, ExitCode::Done);
  EXPECT_EQ(run({"--version"}).code, ExitCode::Done);
  EXPECT_EQ(run({"tune", "--help"}).code, ExitCode::Done);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("compile"));
}

} // namespace
