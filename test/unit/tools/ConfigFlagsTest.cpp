// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/ConfigFlags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace autotune;
using testing::HasSubstr;

namespace {

/// Parses `arguments` as the flags of a command that takes all of them and a model.
llvm::Expected<Config> load(std::vector<std::string> arguments) {
  CLI::App app;
  ConfigFlags flags;
  std::string model;
  flags.declare(app, ConfigFlags::flagKeys());
  app.add_option("model", model);
  std::reverse(arguments.begin(), arguments.end());
  app.parse(arguments);
  return flags.load();
}

Config loaded(std::vector<std::string> arguments) {
  llvm::Expected<Config> config = load(std::move(arguments));
  if (config)
    return *config;
  ADD_FAILURE() << llvm::toString(config.takeError());
  return Config();
}

std::string errorOf(std::vector<std::string> arguments) {
  llvm::Expected<Config> config = load(std::move(arguments));
  return config ? "" : llvm::toString(config.takeError());
}

struct TemporaryFile {
  std::string path = testing::TempDir() + "config_flags_" + std::to_string(getpid()) + ".yaml";
  explicit TemporaryFile(const char *text) { std::ofstream(path) << text; }
  ~TemporaryFile() { std::remove(path.c_str()); }
};

TEST(ConfigFlagsTest, NoFlagsGiveTheDefault) { EXPECT_EQ(loaded({}), Config()); }

TEST(ConfigFlagsTest, FlagBeatsFileBeatsDefault) {
  TemporaryFile file("budget:\n  time: 90s\n  trials: 7\ntarget:\n  threads: 4\n");
  Config config = loaded({"--config", file.path, "--threads", "2", "--budget=10s"});
  EXPECT_EQ(config.target.threads, 2);
  EXPECT_EQ(config.budget.time, std::chrono::seconds(10));
  EXPECT_EQ(config.budget.trials, 7);
}

TEST(ConfigFlagsTest, EveryFlagSetsItsKey) {
  Config config =
      loaded({"--mode=operator", "--isa=avx2",    "--threads=2", "--numerics=strict",  "--input-shape",
              "x=1x3",           "--input-shape", "y=2",         "--partition=p.yaml", "--ops=conv1,MatMul",
              "--seed=9",        "--budget=3m",   "--trials=5",  "--repository=r",     "--no-builtin",
              "--retune",        "--history=h",   "--output=o",  "--progress=off",     "--quiet",
              "model.onnx"});
  Config expected;
  expected.mode = {false, true};
  expected.target = {IsaChoice::Avx2, 2, NumericsChoice::Strict, {{"x", {{1, 3}}}, {"y", {{2}}}}};
  expected.subgraph.partition = "p.yaml";
  expected.operators.only = {"conv1", "MatMul"};
  expected.operators.seed = 9;
  expected.budget = {std::chrono::minutes(3), 5};
  expected.repository = {"r", false, true, "h"};
  expected.output = {"o", ProgressChoice::Off, true};
  EXPECT_EQ(config, expected);
}

TEST(ConfigFlagsTest, ModeWordsOfTheFlag) {
  EXPECT_EQ(loaded({"--mode", "operator tuning,subgraph tuning"}).mode, (Modes{true, true}));
  EXPECT_EQ(loaded({"--mode=subgraph"}).mode, (Modes{true, false}));
  EXPECT_THAT(errorOf({"--mode=subgraph,fast"}),
              HasSubstr("--mode: found `subgraph, fast`, expected subgraph or operator, not `fast`"));
}

TEST(ConfigFlagsTest, TrialsAloneLiftTheDefaultTimeLimit) {
  EXPECT_EQ(loaded({"--trials=5"}).budget.time, TimeLimit::zero());
  EXPECT_EQ(loaded({"--trials=5", "--budget=1m"}).budget.time, std::chrono::minutes(1));
  EXPECT_EQ(loaded({}).budget.time, std::chrono::minutes(3));
}

TEST(ConfigFlagsTest, BadValuesNameTheFlag) {
  EXPECT_THAT(errorOf({"--threads=two"}), HasSubstr("--threads: found `two`, expected a whole number"));
  EXPECT_THAT(errorOf({"--input-shape=x"}), HasSubstr("--input-shape: found `x`, expected NAME=SHAPE"));
}

} // namespace
