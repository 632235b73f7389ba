// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged, foreign and unfitting files are errors with a reason, never crashes.
#include "TestArtifact.h"

#include "runtime/deploy/Artifact.h"
#include "runtime/deploy/CpuFeatures.h"
#include "runtime/deploy/Model.h"
#include "runtime/deploy/RuntimeError.h"

#include <gmock/gmock.h>
#include <random>

using namespace autotune::deploy;
using namespace autotune::deploy::test;
using testing::HasSubstr;

namespace {

/// The error of loading `path`; AUTOTUNE_OK if it loads.
std::pair<autotune_status, std::string> loadError(const std::string &path, bool verify = false) {
  try {
    Model model(path, verify);
    return {AUTOTUNE_OK, ""};
  } catch (const RuntimeError &error) {
    return {error.status(), error.what()};
  }
}

void expectError(const std::string &path, autotune_status status, const std::string &text) {
  auto [found, message] = loadError(path);
  EXPECT_EQ(found, status) << message;
  EXPECT_THAT(message, HasSubstr(text));
}

} // namespace

TEST(Artifact, LoadsAndKeepsItsManifest) {
  Model model(writeArtifact(), /*verifyConstants=*/true);
  EXPECT_EQ(model.manifest().model, "tiny");
  EXPECT_EQ(model.manifest().profiles.size(), 2u);
  EXPECT_EQ(reinterpret_cast<const float *>(model.constants())[5], 5.0f);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(model.constants()) % 4096, 0u);
}

TEST(Artifact, LoadsFromARelativePath) {
  std::string path = writeArtifact();
  size_t slash = path.rfind('/');
  ASSERT_EQ(chdir(path.substr(0, slash).c_str()), 0);
  EXPECT_EQ(loadError(path.substr(slash + 1)).first, AUTOTUNE_OK);
}

TEST(Artifact, AReplacedFileIsLoadedAnewWhileTheOldOneLives) {
  std::string path = writeArtifact();
  Model before(path, true);
  ArtifactParts parts;
  nlohmann::json manifest = goodManifest();
  manifest["model"] = "replacement";
  parts.manifest = manifest.dump();
  ASSERT_EQ(std::rename(writeArtifact(parts).c_str(), path.c_str()), 0);
  Model after(path, true);
  EXPECT_EQ(before.manifest().model, goodManifest()["model"].get<std::string>());
  EXPECT_EQ(after.manifest().model, "replacement");
}

TEST(Artifact, WithoutConstantsLoads) {
  ArtifactParts parts;
  parts.constants.clear();
  nlohmann::json manifest = goodManifest();
  manifest["constants_bytes"] = 0;
  manifest["profiles"][0]["steps"].clear();
  manifest["profiles"].erase(1);
  parts.manifest = manifest.dump();
  EXPECT_EQ(loadError(writeArtifact(parts), true).second, "");
}

TEST(Artifact, MissingFileAndDirectoryAreFileErrors) {
  expectError("/nonexistent/model.so", AUTOTUNE_ERROR_FILE,
              "/nonexistent/model.so: cannot open: No such file");
  expectError("/tmp", AUTOTUNE_ERROR_FILE, "not a regular file");
}

TEST(Artifact, EveryTruncationIsAnError) {
  std::string bytes = artifactBytes();
  std::vector<size_t> lengths = {0, 1, 31, 32, 63, 64, 95, 96, 97, 4096, bytes.size() / 2};
  for (size_t cut = 1; cut <= 64; ++cut)
    lengths.push_back(bytes.size() - cut);
  for (size_t length : lengths)
    EXPECT_EQ(loadError(writeFile(bytes.substr(0, length))).first, AUTOTUNE_ERROR_FORMAT) << length;
}

TEST(Artifact, BytesBehindTheTrailerAreAnError) {
  expectError(writeFile(artifactBytes() + "x"), AUTOTUNE_ERROR_FORMAT, "no trailer");
}

TEST(Artifact, RandomBytesAreAnError) {
  std::mt19937 random(1);
  std::string bytes(20000, '\0');
  for (char &byte : bytes)
    byte = static_cast<char>(random());
  expectError(writeFile(bytes), AUTOTUNE_ERROR_FORMAT, "no trailer");
}

TEST(Artifact, AnyFlippedTrailerByteIsAnErrorWhenVerifying) {
  std::string good = artifactBytes();
  for (size_t i = good.size() - sizeof(AutotuneTrailer); i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
    EXPECT_EQ(loadError(writeFile(bytes), true).first, AUTOTUNE_ERROR_FORMAT) << i;
  }
}

TEST(Artifact, DamagedCodeIsAnError) {
  size_t offset = 0;
  std::string good = artifactBytes({}, &offset);
  for (size_t i = 0; i < offset; i += 1 + i / 8) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0xff);
    EXPECT_EQ(loadError(writeFile(bytes)).first, AUTOTUNE_ERROR_FORMAT) << i;
  }
}

TEST(Artifact, DamagedConstantsAreFoundByTheChecksumOnly) {
  size_t offset = 0;
  std::string bytes = artifactBytes({}, &offset);
  bytes[offset + 17] ^= 1;
  std::string path = writeFile(bytes);
  EXPECT_EQ(loadError(path, false).first, AUTOTUNE_OK);
  auto [status, message] = loadError(path, true);
  EXPECT_EQ(status, AUTOTUNE_ERROR_FORMAT);
  EXPECT_THAT(message, HasSubstr("checksum"));
}

TEST(Artifact, AnotherAbiVersionIsNamed) {
  ArtifactParts parts;
  parts.object = TEST_ARTIFACT_OLD_ABI;
  expectError(writeArtifact(parts), AUTOTUNE_ERROR_VERSION, "ABI version 99, this runtime has 1");
}

TEST(Artifact, AMissingSymbolIsNamed) {
  ArtifactParts parts;
  parts.object = TEST_ARTIFACT_NO_SYMBOL;
  expectError(writeArtifact(parts), AUTOTUNE_ERROR_FORMAT, "no symbol 'autotune_artifact'");
}

TEST(Artifact, ConstantsOfAnotherSizeThanTheManifestSaysAreAnError) {
  ArtifactParts parts;
  parts.constants.resize(100);
  expectError(writeArtifact(parts), AUTOTUNE_ERROR_FORMAT, "512 bytes of constants, the file has 400");
}

TEST(Artifact, AnUnknownInstructionSetIsAnError) {
  ArtifactParts parts;
  nlohmann::json manifest = goodManifest();
  manifest["device"]["isa"] = "sve2";
  parts.manifest = manifest.dump();
  expectError(writeArtifact(parts), AUTOTUNE_ERROR_CPU, "unknown instruction set 'sve2'");
}

TEST(Artifact, CodeForAnotherProcessorDoesNotLoad) {
  ArtifactParts parts;
  nlohmann::json manifest = goodManifest();
  manifest["device"]["isa"] = "avx512";
  parts.manifest = manifest.dump();
  std::string path = writeArtifact(parts);
  CpuFeatures cpu{.avx2 = true, .avx512 = false};
  try {
    Model model(path, false, cpu);
    ADD_FAILURE() << "expected an error";
  } catch (const RuntimeError &error) {
    EXPECT_EQ(error.status(), AUTOTUNE_ERROR_CPU);
    EXPECT_EQ(
        std::string(error.what()),
        path +
            ": the code needs AVX-512 (F, BW, CD, DQ, VL), this processor has AVX2; compile the model with "
            "--isa avx2 or on this machine");
  }
  cpu.avx512 = true;
  EXPECT_NO_THROW(Model(path, false, cpu));
}

TEST(CpuFeatures, SaysWhatIsMissing) {
  CpuFeatures none, avx2, avx512;
  avx2.avx2 = true;
  avx512.avx2 = avx512.avx512 = true;
  EXPECT_EQ(explainIsaMismatch("avx2", avx2), "");
  EXPECT_EQ(explainIsaMismatch("avx2", avx512), "");
  EXPECT_EQ(explainIsaMismatch("avx512", avx512), "");
  EXPECT_THAT(explainIsaMismatch("avx512", avx2), HasSubstr("needs AVX-512"));
  EXPECT_THAT(explainIsaMismatch("avx512", avx2), HasSubstr("this processor has AVX2"));
  EXPECT_THAT(explainIsaMismatch("avx2", none), HasSubstr("neither"));
}
