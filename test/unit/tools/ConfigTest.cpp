// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Config.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace autotune;
using testing::HasSubstr;

namespace {

std::string errorOf(const std::string &text) {
  Config config;
  return llvm::toString(applyConfigText(config, text, "a.yaml"));
}

TEST(ConfigTest, PrintedDefaultRoundTrips) {
  Config defaults, read;
  read.budget.trials = 99;
  ASSERT_EQ(llvm::toString(applyConfigText(read, printConfig(defaults), "printed")), "");
  EXPECT_EQ(read, defaults);
}

TEST(ConfigTest, PrintedConfigWithEveryKeyChangedRoundTrips) {
  Config config;
  config.mode = {false, true};
  config.target = {IsaChoice::Avx512, 3, NumericsChoice::Strict, {{"a:0", {{1, 3}, {}}}, {"b=c", {{2}}}}};
  config.subgraph.partition = "my \"file\": # one\n";
  config.operators = {{"conv, first", "MatMul", ""}, 5, 77};
  config.budget = {std::chrono::milliseconds(1500), 12};
  config.repository = {"~/r", false, true, "h.db"};
  config.output = {"out dir", ProgressChoice::Off, true};
  Config read;
  ASSERT_EQ(llvm::toString(applyConfigText(read, printConfig(config), "printed")), "") << printConfig(config);
  EXPECT_EQ(read, config) << printConfig(config);
}

TEST(ConfigTest, FileBeatsDefaultAndLeavesTheRest) {
  Config config;
  std::vector<std::string> given;
  ASSERT_EQ(llvm::toString(applyConfigText(config, "budget:\n  time: 90s\n", "a.yaml", &given)), "");
  EXPECT_EQ(config.budget.time, std::chrono::seconds(90));
  EXPECT_EQ(config.target, TargetConfig());
  EXPECT_EQ(given, std::vector<std::string>{"budget.time"});
}

TEST(ConfigTest, EmptyFileAndEmptySectionChangeNothing) {
  EXPECT_EQ(errorOf(""), "");
  EXPECT_EQ(errorOf("budget:\n"), "");
}

TEST(ConfigTest, ModeTakesShortAndLongFormsInAnyOrder) {
  for (const char *text :
       {"mode: [subgraph, operator]", "mode: operator,subgraph", "mode: [operator tuning, subgraph tuning]",
        "mode: subgraph tuning, operator", "mode:\n- operator\n- subgraph tuning"}) {
    Config config;
    config.mode = {false, false};
    ASSERT_EQ(llvm::toString(applyConfigText(config, text, "a.yaml")), "") << text;
    EXPECT_EQ(config.mode, (Modes{true, true})) << text;
  }
}

TEST(ConfigTest, WrongModeIsNamed) {
  EXPECT_EQ(
      errorOf("mode: [subgraph, operater]"),
      "a.yaml:1: key `mode`: found `subgraph, operater`, expected subgraph or operator, not `operater`");
  EXPECT_THAT(errorOf("mode: []"), HasSubstr("expected subgraph, operator or both"));
  EXPECT_THAT(errorOf("mode: Subgraph"), HasSubstr("not `Subgraph`"));
  EXPECT_THAT(errorOf("mode: subgraph,"), HasSubstr("not ``"));
}

TEST(ConfigTest, UnknownKeyIsAnsweredWithTheNearest) {
  EXPECT_EQ(errorOf("budget:\n  trails: 3\n"),
            "a.yaml:2: unknown key `budget.trails`; the nearest known key is `budget.trials`");
  EXPECT_EQ(errorOf("\nbugdet:\n  time: 3m\n"),
            "a.yaml:2: unknown key `bugdet`; the nearest known key is `budget`");
  EXPECT_EQ(errorOf("budget:\n  threads: 3\n"),
            "a.yaml:2: unknown key `budget.threads`; the nearest known key is `target.threads`");
}

TEST(ConfigTest, WrongTypeNamesLineFoundAndExpected) {
  EXPECT_EQ(errorOf("target:\n  threads: many\n"),
            "a.yaml:2: key `target.threads`: found `many`, expected a whole number from 0 to 1000000000");
  EXPECT_EQ(errorOf("target:\n  threads: -1\n"),
            "a.yaml:2: key `target.threads`: found `-1`, expected a whole number from 0 to 1000000000");
  EXPECT_EQ(errorOf("output:\n  quiet: yes\n"),
            "a.yaml:2: key `output.quiet`: found `yes`, expected true or false");
  EXPECT_EQ(errorOf("target:\n  threads: [1]\n"),
            "a.yaml:2: key `target.threads`: found a sequence, expected a single value");
  EXPECT_EQ(errorOf("target:\n  threads: {a: 1}\n"),
            "a.yaml:2: key `target.threads`: found a mapping, expected a single value");
  EXPECT_EQ(errorOf("target:\n  threads:\n"),
            "a.yaml:2: key `target.threads`: found nothing, expected a single value");
  EXPECT_EQ(errorOf("target: 3\n"), "a.yaml:1: section `target`: found a single value, expected a mapping");
  EXPECT_EQ(errorOf("- a\n"), "a.yaml:1: found a sequence, expected a mapping of sections");
  EXPECT_EQ(errorOf("target:\n  isa: sse\n"),
            "a.yaml:2: key `target.isa`: found `sse`, expected one of native, avx2, avx512");
  EXPECT_THAT(errorOf("target:\n  input_shapes: [[1]]\n"), HasSubstr("a.yaml:2"));
}

TEST(ConfigTest, RepeatedKeyIsRefused) {
  EXPECT_EQ(errorOf("budget:\n  time: 3m\n  time: 4m\n"),
            "a.yaml:3: key `budget.time` is given twice, expected once");
  EXPECT_EQ(errorOf("budget:\n  time: 3m\nbudget:\n  trials: 4\n"),
            "a.yaml:3: key `budget` is given twice, expected once");
}

TEST(ConfigTest, BrokenYamlNamesTheLine) {
  EXPECT_THAT(errorOf("mode: [subgraph\nx"), HasSubstr("a.yaml:2: not valid YAML"));
}

TEST(ConfigTest, MissingFileIsNamed) {
  Config config;
  EXPECT_THAT(llvm::toString(applyConfigFile(config, "/nowhere/a.yaml")),
              HasSubstr("/nowhere/a.yaml: cannot read"));
}

TEST(ConfigTest, TimesTakeUnits) {
  for (auto [text, ms] : {std::pair("3m", 180000),
                          {"90s", 90000},
                          {"1h", 3600000},
                          {"1.5s", 1500},
                          {"20ms", 20},
                          {"none", 0}}) {
    Config config;
    ASSERT_EQ(llvm::toString(setConfigValue(config, "budget.time", {text})), "") << text;
    EXPECT_EQ(config.budget.time.count(), ms) << text;
  }
  for (const char *text : {"3", "m", "", "-3m", "3 m", "3d", "1.2.3s", "0s", "1e9h"}) {
    Config config;
    EXPECT_THAT(llvm::toString(setConfigValue(config, "budget.time", {text})),
                HasSubstr("expected a time like"))
        << text;
  }
}

TEST(ConfigTest, ShippedConfigsLoad) {
  for (const char *name : {"default", "quick", "thorough"}) {
    Config config;
    std::string file = std::string(AUTOTUNE_SOURCE_DIR "/configs/") + name + ".yaml";
    EXPECT_EQ(llvm::toString(applyConfigFile(config, file)), "");
    if (name == std::string("default"))
      EXPECT_EQ(config, Config()) << "default.yaml must say what happens without it";
  }
}

TEST(ConfigTest, EveryKeyIsDocumented) {
  auto page = llvm::MemoryBuffer::getFile(AUTOTUNE_SOURCE_DIR "/docs/config.md");
  ASSERT_TRUE(bool(page)) << "docs/config.md is missing";
  Config config;
  for (const ConfigField &field : configFields(config))
    EXPECT_TRUE((*page)->getBuffer().contains("`" + field.path + "`"))
        << field.path << " is missing in docs/config.md";
}

} // namespace
