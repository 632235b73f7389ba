// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TestArtifact.h"

#include "runtime/deploy/Artifact.h"

#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace autotune::deploy::test {

using nlohmann::json;

static json profile(int batch) {
  json tensor = {{"name", "x"}, {"dtype", "f32"}, {"shape", {batch, 4, 16}}};
  json output = {{"name", "y"}, {"dtype", "f32"}, {"shape", {batch, 4, 16}}};
  json first = {{"kernel", 0},
                {"label", "add"},
                {"chunks", 4 * batch},
                {"parallel", true},
                {"args", {{"input", 0, 0}, {"constant", 0}, {"arena", 64}}}};
  json second = {{"kernel", 1},
                 {"label", "twice"},
                 {"chunks", 4 * batch},
                 {"parallel", true},
                 {"args", {{"arena", 64}, {"output", 0, 0}}}};
  return {{"inputs", {tensor}},
          {"outputs", {output}},
          {"arena_bytes", 64 + 256 * batch},
          {"steps", {first, second}}};
}

json goodManifest() {
  return {{"format", 1},
          {"model", "tiny"},
          {"tool_version", "0.1.0"},
          {"llvm_version", "19.1"},
          {"device", {{"key", "test"}, {"isa", "avx2"}}},
          {"threads", 1},
          {"constants_bytes", 128 * sizeof(float)},
          {"profiles", {profile(1), profile(2)}}};
}

std::vector<float> goodConstants() {
  std::vector<float> constants(128);
  for (size_t i = 0; i < constants.size(); ++i)
    constants[i] = static_cast<float>(i);
  return constants;
}

std::string artifactBytes(const ArtifactParts &parts, size_t *constantsOffset) {
  std::ifstream stream(parts.object, std::ios::binary);
  std::stringstream buffer;
  buffer << stream.rdbuf();
  std::string bytes = buffer.str();
  size_t place = bytes.find("@MANIFEST@");
  EXPECT_NE(place, std::string::npos) << parts.object;
  EXPECT_LT(parts.manifest.size(), 16384u);
  bytes.replace(place, parts.manifest.size() + 1, parts.manifest.c_str(), parts.manifest.size() + 1);
  bytes.resize((bytes.size() + AUTOTUNE_CONSTANTS_ALIGNMENT - 1) & ~size_t(AUTOTUNE_CONSTANTS_ALIGNMENT - 1));
  size_t constantBytes = parts.constants.size() * sizeof(float);
  AutotuneTrailer trailer;
  std::memcpy(trailer.magic, AUTOTUNE_TRAILER_MAGIC, sizeof(trailer.magic));
  trailer.constantsOffset = bytes.size();
  trailer.constantsBytes = constantBytes;
  trailer.checksum = XXH3_64bits(parts.constants.data(), constantBytes);
  trailer.codeChecksum = XXH3_64bits(bytes.data(), bytes.size());
  if (constantsOffset)
    *constantsOffset = bytes.size();
  bytes.append(reinterpret_cast<const char *>(parts.constants.data()), constantBytes);
  bytes.append(reinterpret_cast<const char *>(&trailer), sizeof(trailer));
  return bytes;
}

std::string writeFile(const std::string &bytes) {
  static std::atomic<int> counter{0};
  std::string path = testing::TempDir() + "autotune_artifact_" + std::to_string(getpid()) + "_" +
                     std::to_string(counter++) + ".so";
  std::ofstream(path, std::ios::binary) << bytes;
  // Nothing is left behind: each path is removed when the test program ends.
  struct Cleaner {
    std::vector<std::string> paths;
    ~Cleaner() {
      for (const std::string &path : paths)
        unlink(path.c_str());
    }
  };
  static Cleaner cleaner;
  cleaner.paths.push_back(path);
  return path;
}

std::string writeArtifact(const ArtifactParts &parts) { return writeFile(artifactBytes(parts)); }

} // namespace autotune::deploy::test
