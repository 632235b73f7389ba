// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels compute in a mode of their own; the caller keeps its own. Looks at modes and results, never at
// times.
#include "TestArtifact.h"

#include "runtime/deploy/Session.h"

#include <atomic>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>

using namespace autotune::deploy;

namespace {

constexpr unsigned kFlushBits = 0x8040, kRoundUp = 0x4000, kInvalidUnmasked = 0x80;
constexpr float kDenormal = std::numeric_limits<float>::denorm_min() * 64;

/// Sets the thread's mode for one test.
struct CallerMode {
  explicit CallerMode(unsigned mode) : before(_mm_getcsr()) { _mm_setcsr(mode); }
  ~CallerMode() { _mm_setcsr(before); }
  unsigned before;
};

/// The mode of whoever computes a chunk, without the flags that say what has happened.
void noteModes(void *const *args, int64_t begin, int64_t end) {
  auto *modes = static_cast<std::atomic<unsigned> *>(args[0]);
  for (int64_t chunk = begin; chunk < end; ++chunk)
    modes[chunk] = _mm_getcsr() & ~0x3fu;
}

void expectModes(Denormals denormals, int threads, unsigned expected) {
  ThreadTeam team(threads, denormals);
  for (unsigned callerMode :
       {0x1f80u, 0x1f80u | kFlushBits, 0x1f80u | kRoundUp, 0x1f80u & ~kInvalidUnmasked}) {
    CallerMode caller(callerMode);
    for (int repeat = 0; repeat < 20; ++repeat) {
      std::atomic<unsigned> modes[64] = {};
      void *args[] = {modes};
      team.run([&] { team.dispatch(noteModes, args, 64); });
      for (const std::atomic<unsigned> &mode : modes)
        ASSERT_EQ(mode.load(), expected) << "caller in mode " << callerMode;
      ASSERT_EQ(_mm_getcsr(), callerMode);
    }
  }
}

/// What 2 * (x + 0) is for the first element of the test model, whose first constant is 0.
float twice(const char *denormals, int threads) {
  test::ArtifactParts parts;
  nlohmann::json manifest = test::goodManifest();
  if (denormals)
    manifest["denormals"] = denormals;
  parts.manifest = manifest.dump();
  Session session(std::make_shared<const Model>(test::writeArtifact(parts)), threads);
  std::vector<float> input(64, kDenormal), output(64, -1);
  const void *inputs[] = {input.data()};
  void *outputs[] = {output.data()};
  session.run(0, inputs, outputs);
  return output[0];
}

} // namespace

TEST(FloatMode, EveryThreadFlushesAndTheCallersModeComesBack) {
  for (int threads : {1, 2, 4})
    expectModes(Denormals::Flushed, threads, 0x1f80 | kFlushBits);
}

TEST(FloatMode, KeptDenormalsAreKeptWhateverTheCallersMode) {
  for (int threads : {1, 2, 4})
    expectModes(Denormals::Kept, threads, 0x1f80);
}

TEST(FloatMode, TheCallersModeComesBackAfterAnException) {
  ThreadTeam team(2);
  CallerMode caller(0x1f80 | kRoundUp);
  EXPECT_THROW(team.run([] { throw std::runtime_error("stop"); }), std::runtime_error);
  EXPECT_EQ(_mm_getcsr(), 0x1f80 | kRoundUp);
}

TEST(FloatMode, TheArtifactSaysWhatBecomesOfDenormals) {
  for (int threads : {1, 2}) {
    EXPECT_EQ(twice("flushed", threads), 0);
    EXPECT_EQ(twice("kept", threads), 2 * kDenormal);
    EXPECT_EQ(twice(nullptr, threads), 2 * kDenormal)
        << "artifacts of older compilers were made for IEEE 754";
  }
}
