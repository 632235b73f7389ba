// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every field of the manifest is checked before use.
#include "TestArtifact.h"

#include "runtime/deploy/Manifest.h"
#include "runtime/deploy/RuntimeError.h"

#include <gmock/gmock.h>

using namespace autotune::deploy;
using nlohmann::json;
using testing::HasSubstr;

namespace {

constexpr uint32_t kKernels = 2;

std::string parseError(const std::string &text) {
  try {
    parseManifest(text.c_str(), kKernels);
    return "";
  } catch (const RuntimeError &error) {
    return error.what();
  }
}

/// The message after the value at `pointer` was replaced.
std::string errorWith(const char *pointer, const json &value) {
  json manifest = test::goodManifest();
  manifest[json::json_pointer(pointer)] = value;
  return parseError(manifest.dump());
}

} // namespace

TEST(Manifest, ReadsTensorsAndSteps) {
  Manifest manifest = parseManifest(test::goodManifest().dump().c_str(), kKernels);
  ASSERT_EQ(manifest.profiles.size(), 2u);
  const ProfileSpec &profile = manifest.profiles[1];
  EXPECT_EQ(profile.inputs[0].text(), "x: 2x4x16xf32");
  EXPECT_EQ(profile.inputs[0].bytes, 512u);
  EXPECT_EQ(profile.arenaBytes, 576u);
  ASSERT_EQ(profile.steps.size(), 2u);
  EXPECT_EQ(profile.steps[0].args[2].place, ArgPlace::Arena);
  EXPECT_EQ(profile.steps[0].args[2].offset, 64u);
}

TEST(Manifest, KernelsAreDescribedWhereTheCompilerDid) {
  json manifest = test::goodManifest();
  Manifest plain = parseManifest(manifest.dump().c_str(), kKernels);
  ASSERT_EQ(plain.kernels.size(), 2u);
  EXPECT_EQ(plain.kernels[1].kind, "");
  json kernel = {{"kind", "conv"},       {"class", "contraction"}, {"shapes", "1x8 -> 1x8"},
                 {"tail", "arith.addf"}, {"schedule", "rows=4"},   {"schedule_source", "near"},
                 {"flops", 123},         {"bytes_read", 64},       {"bytes_written", 32},
                 {"scratch_bytes", 4096}};
  manifest["kernels"] = {kernel, kernel};
  manifest["denormals"] = "flushed";
  manifest["profiles"][0]["tensor_bytes"] = 1000;
  Manifest described = parseManifest(manifest.dump().c_str(), kKernels);
  EXPECT_EQ(described.kernels[1].kind, "conv");
  EXPECT_EQ(described.kernels[1].source, "near");
  EXPECT_EQ(described.kernels[1].flops, 123);
  EXPECT_EQ(described.kernels[1].scratchBytes, 4096u);
  EXPECT_EQ(described.denormals, Denormals::Flushed);
  EXPECT_EQ(described.profiles[0].tensorBytes, 1000u);
  kernel.erase("shapes");
  manifest["kernels"] = {kernel, kernel};
  EXPECT_EQ(parseError(manifest.dump()), "manifest: kernels[0] lacks 'shapes'");
  EXPECT_THAT(errorWith("/kernels", json::array()), HasSubstr("an array of 2 kernels"));
  EXPECT_THAT(errorWith("/denormals", "rounded"), HasSubstr("expected flushed or kept"));
}

TEST(Manifest, NamesTheFieldTheValueAndTheExpectation) {
  EXPECT_EQ(errorWith("/profiles/0/steps/1/kernel", 2),
            "manifest: profiles[0].steps[1].kernel is 2, expected an integer from 0 to 1");
  EXPECT_EQ(errorWith("/profiles/1/inputs/0/dtype", "f31"),
            "manifest: profiles[1].inputs[0].dtype is \"f31\", expected one of f32 f64 f16 bf16 i8 ui8 i16 "
            "i32 i64 i1");
  EXPECT_EQ(errorWith("/format", 2), "manifest: format 2, expected 1");
}

TEST(Manifest, RefusesOffsetsOutsideTheirBuffer) {
  EXPECT_THAT(errorWith("/profiles/0/steps/0/args/0/2", 257), HasSubstr("from 0 to 256"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/args/0/1", 1), HasSubstr("args[0][1] is 1"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/args/1/1", 513), HasSubstr("from 0 to 512"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/args/2/1", -1), HasSubstr("is -1"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/args/2/1", 321), HasSubstr("from 0 to 320"));
}

TEST(Manifest, RefusesWrongTypesAndSizes) {
  EXPECT_THAT(errorWith("/profiles", json::array()), HasSubstr("at least one profile"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/chunks", 0), HasSubstr("chunks is 0"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/chunks", 1.5), HasSubstr("an integer"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/parallel", 1), HasSubstr("true or false"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/args/0", json::array()), HasSubstr("starts with input"));
  EXPECT_THAT(errorWith("/profiles/0/steps/0/args/0", {"heap", 0}), HasSubstr("starts with input"));
  EXPECT_THAT(errorWith("/profiles/0/inputs/0/shape", {-1, 3}), HasSubstr("shape[0] is -1"));
  EXPECT_THAT(errorWith("/profiles/0/inputs/0/shape", {1 << 30, 1 << 30}), HasSubstr("fits in memory"));
  EXPECT_THAT(errorWith("/threads", 0), HasSubstr("threads is 0"));
  EXPECT_THAT(errorWith("/constants_bytes", 18446744073709551615u), HasSubstr("constants_bytes"));
  EXPECT_THAT(errorWith("/device", "cpu"), HasSubstr("device is \"cpu\", expected an object"));
}

TEST(Manifest, EveryTruncationIsAnError) {
  std::string text = test::goodManifest().dump();
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(parseError(text.substr(0, length)), "") << length;
}

TEST(Manifest, EachMissingFieldIsNamed) {
  for (const char *key : {"format", "model", "tool_version", "llvm_version", "device", "threads",
                          "constants_bytes", "profiles"}) {
    json manifest = test::goodManifest();
    manifest.erase(key);
    EXPECT_EQ(parseError(manifest.dump()), "manifest: document lacks '" + std::string(key) + "'");
  }
}
