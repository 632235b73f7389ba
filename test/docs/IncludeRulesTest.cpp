// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "IncludeRules.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

using namespace autotune;
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

namespace {

const fs::path kRoot = AUTOTUNE_SOURCE_DIR;

bool isSource(const fs::path &path) { return path.extension() == ".h" || path.extension() == ".cpp"; }

std::string readFile(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(IncludeRulesTest, EveryFolderKeepsItsBorders) {
  for (const IncludeRule &rule : includeRules()) {
    int files = 0;
    for (const fs::directory_entry &entry : fs::recursive_directory_iterator(kRoot / rule.folder)) {
      if (!isSource(entry.path()))
        continue;
      ++files;
      EXPECT_THAT(forbiddenIncludes(fs::relative(entry.path(), kRoot).string(), readFile(entry.path())),
                  IsEmpty());
    }
    EXPECT_GT(files, 0) << rule.folder << " has no sources: the rule checks nothing";
  }
}

TEST(IncludeRulesTest, ForbiddenIncludesAreFound) {
  EXPECT_THAT(forbiddenIncludes("tuner/A.cpp", "#include \"tuner/A.h\"\n\n#include \"passes/Lower.h\"\n"),
              ElementsAre("tuner/A.cpp:3: tuner may not include passes/Lower.h"));
  EXPECT_THAT(forbiddenIncludes("schedule/A.h", "  #  include <mlir/IR/Builders.h>"),
              ElementsAre("schedule/A.h:1: schedule may not include mlir/IR/Builders.h"));
  EXPECT_THAT(forbiddenIncludes("runtime/deploy/A.cpp", "#include \"llvm/ADT/STLExtras.h\""),
              testing::SizeIs(1));
  EXPECT_THAT(forbiddenIncludes("runtime/worker/A.cpp", "#include \"tuner/Resolve.h\""), testing::SizeIs(1));
  EXPECT_THAT(forbiddenIncludes("passes/A.cpp", "#include \"llvm/Support/CommandLine.h\""),
              testing::SizeIs(1));
}

TEST(IncludeRulesTest, AllowedIncludesAreNot) {
  EXPECT_THAT(forbiddenIncludes(
                  "tuner/A.cpp",
                  "#include \"knowledge_base/Record.h\"\n#include <vector>\n#include <tbb/task_arena.h>\n"),
              IsEmpty());
  EXPECT_THAT(forbiddenIncludes("runtime/worker/A.cpp", "#include \"tuner/Measurer.h\"\n"), IsEmpty());
  EXPECT_THAT(
      forbiddenIncludes("tools/A.cpp", "#include \"llvm/Support/CommandLine.h\"\n#include \"passes/A.h\"\n"),
      IsEmpty());
  EXPECT_THAT(forbiddenIncludes("schedule/A.cpp", "// #include \"mlir/IR/Builders.h\"\n"), IsEmpty());
}

TEST(IncludeRulesTest, EveryTopFolderWithSourcesHasARule) {
  const std::vector<std::string> free = {"test", "benchmarks", "build", "cmake"};
  for (const fs::directory_entry &entry : fs::directory_iterator(kRoot)) {
    std::string name = entry.path().filename().string();
    if (!entry.is_directory() || name[0] == '.' || std::count(free.begin(), free.end(), name))
      continue;
    bool sources = false;
    for (const fs::directory_entry &inner : fs::recursive_directory_iterator(entry.path()))
      sources = sources || isSource(inner.path());
    bool ruled = std::any_of(includeRules().begin(), includeRules().end(), [&](const IncludeRule &rule) {
      return rule.folder.substr(0, rule.folder.find('/')) == name;
    });
    EXPECT_TRUE(!sources || ruled) << name << "/ has C++ sources but no include rule";
  }
}

} // namespace
