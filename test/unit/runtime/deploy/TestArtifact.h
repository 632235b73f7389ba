// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes artifacts for tests: a shared object with a manifest filled in, constants and a trailer.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace autotune::deploy::test {

/// 64 elements: output = 2 (input + constant), in two steps of 4 chunks, with profiles of batch 1 and 2 (16
/// columns, `4 * batch` rows).
nlohmann::json goodManifest();
/// Enough for both profiles: element i is i.
std::vector<float> goodConstants();

struct ArtifactParts {
  std::string object = TEST_ARTIFACT;
  std::string manifest = goodManifest().dump();
  std::vector<float> constants = goodConstants();
};

/// The file's bytes; `constantsOffset` receives where the constants start.
std::string artifactBytes(const ArtifactParts &parts = {}, size_t *constantsOffset = nullptr);
/// Writes `bytes` to a new file in the test's own folder and returns its path.
std::string writeFile(const std::string &bytes);
std::string writeArtifact(const ArtifactParts &parts = {});

} // namespace autotune::deploy::test
