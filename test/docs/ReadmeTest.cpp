// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Promises of the written pages that a machine can check.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>
#include <string>

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = AUTOTUNE_SOURCE_DIR;

std::string readFile(const fs::path &path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ReadmeTest, IsShort) {
  std::string text = readFile(kRoot / "README.md");
  ASSERT_FALSE(text.empty());
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 150);
}

TEST(ReadmeTest, PathsInTheMapExist) {
  std::string text = readFile(kRoot / "README.md");
  static const std::regex row(R"(\n\| `([A-Za-z_/.]+/)` \|)");
  int rows = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), row), end; it != end; ++it, ++rows)
    EXPECT_TRUE(fs::is_directory(kRoot / (*it)[1].str())) << (*it)[1];
  EXPECT_GE(rows, 10) << "the map of folders is missing";
}

TEST(ReadmeTest, LinkedFilesExist) {
  static const std::regex link(R"(\]\(([A-Za-z0-9_/.\-]+)\))");
  for (const char *page : {"README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/config.md"}) {
    std::string text = readFile(kRoot / page);
    EXPECT_FALSE(text.empty()) << page;
    for (std::sregex_iterator it(text.begin(), text.end(), link), end; it != end; ++it)
      EXPECT_TRUE(fs::exists((kRoot / page).parent_path() / (*it)[1].str()))
          << page << " links to " << (*it)[1];
  }
}

TEST(ReadmeTest, CommandsOfThePageAreExecutable) {
  for (const char *script : {"scripts/quickstart.sh", "scripts/check.sh", ".ci/run"}) {
    fs::file_status status = fs::status(kRoot / script);
    ASSERT_TRUE(fs::is_regular_file(status)) << script;
    EXPECT_NE(status.permissions() & fs::perms::owner_exec, fs::perms::none)
        << script << " is not executable";
  }
}

} // namespace
