// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Limits are found where the system keeps them; what exceeds them is refused before anything is allocated.
#include "TestArtifact.h"

#include "runtime/deploy/ByteText.h"
#include "runtime/deploy/MemoryLimit.h"
#include "runtime/deploy/autotune_runtime.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace autotune::deploy;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

/// A folder that stands for the root of the file system.
class MemoryLimits : public testing::Test {
protected:
  void SetUp() override {
    root = fs::path(testing::TempDir()) / ("autotune_memory_" + std::to_string(getpid()));
    fs::create_directories(root);
  }
  void TearDown() override { fs::remove_all(root); }
  void write(const std::string &path, const std::string &text) {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  MemoryLimit limit() const { return memoryLimit(root.string()); }

  fs::path root;
};

} // namespace

TEST_F(MemoryLimits, WithoutGroupsTheMachineIsTheLimit) {
  EXPECT_EQ(limit().owner, "this machine has");
  EXPECT_GT(limit().bytes, uint64_t(1) << 20);
}

TEST_F(MemoryLimits, TheLeastOfAllGroupsAroundTheProcessCounts) {
  write("proc/self/cgroup", "0::/pod/box\n");
  write("sys/fs/cgroup/pod/box/memory.max", "max\n");
  write("sys/fs/cgroup/pod/memory.max", "1000000\n");
  EXPECT_EQ(limit().bytes, 1000000u);
  EXPECT_EQ(limit().owner, "the process's control group allows");
  write("sys/fs/cgroup/pod/box/memory.max", "4000\n");
  EXPECT_EQ(limit().bytes, 4000u);
}

TEST_F(MemoryLimits, AContainerSeesItsOwnMountOnly) {
  write("proc/self/cgroup", "0::/names/of/the/host\n");
  write("sys/fs/cgroup/memory.max", "5000\n");
  EXPECT_EQ(limit().bytes, 5000u);
}

TEST_F(MemoryLimits, TheFirstVersionOfGroupsCountsToo) {
  write("proc/self/cgroup", "9:name=systemd:/\n4:memory:/job\n3:cpuset:/\nnonsense\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "7000\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(limit().bytes, 7000u);
}

TEST_F(MemoryLimits, ShortagesSayWhatIsNeededAndWhatThereIs) {
  MemoryLimit small{1 << 20, "this machine has"};
  EXPECT_EQ(explainMemoryShortage({1 << 20, 0}, small), "");
  EXPECT_EQ(explainMemoryShortage({1 << 19, 1 << 19}, small), "");
  EXPECT_EQ(explainMemoryShortage({3 << 20, 0}, small),
            "needs 3.0 MiB of memory for intermediate tensors, this machine has 1.0 MiB");
  EXPECT_EQ(explainMemoryShortage({1 << 19, 1 << 20}, small),
            "needs 512.0 KiB of memory for intermediate tensors and 1.0 MiB for inputs and outputs, this "
            "machine has "
            "1.0 MiB");
  uint64_t most = std::numeric_limits<uint64_t>::max();
  EXPECT_THAT(explainMemoryShortage({most, most}, small), HasSubstr("16.0 EiB"))
      << "sums must not wrap around";
}

TEST(ByteText, ChoosesAUnit) {
  EXPECT_EQ(byteText(0), "0 B");
  EXPECT_EQ(byteText(1023), "1023 B");
  EXPECT_EQ(byteText(1536), "1.5 KiB");
  EXPECT_EQ(byteText(3e15), "2.7 PiB");
}

namespace {

autotune_status createSession(const nlohmann::json &manifest, int threads) {
  test::ArtifactParts parts;
  parts.manifest = manifest.dump();
  autotune_model *model = nullptr;
  EXPECT_EQ(autotune_model_load(test::writeArtifact(parts).c_str(), 0, &model), AUTOTUNE_OK)
      << autotune_last_error();
  autotune_session *session = nullptr;
  autotune_status status = autotune_session_create(model, threads, &session);
  EXPECT_EQ(session == nullptr, status != AUTOTUNE_OK);
  autotune_session_free(session);
  autotune_model_free(model);
  return status;
}

nlohmann::json kernelOf(int64_t scratchBytes) {
  return {{"kind", "elementwise"}, {"class", "elementwise"},       {"shapes", ""}, {"tail", ""},
          {"schedule", ""},        {"schedule_source", ""},        {"flops", 0},   {"bytes_read", 0},
          {"bytes_written", 0},    {"scratch_bytes", scratchBytes}};
}

} // namespace

TEST(SessionMemory, AnArenaBeyondTheMachineIsRefusedWithItsSize) {
  nlohmann::json manifest = test::goodManifest();
  manifest["profiles"][1]["arena_bytes"] = int64_t(1) << 46;
  EXPECT_EQ(createSession(manifest, 1), AUTOTUNE_ERROR_MEMORY);
  EXPECT_THAT(autotune_last_error(),
              HasSubstr("the model needs 64.0 TiB of memory for intermediate tensors, "));
}

TEST(SessionMemory, EachThreadOfAParallelStepTakesItsScratch) {
  nlohmann::json manifest = test::goodManifest();
  int64_t half = int64_t(memoryLimit().bytes / 2) + (1 << 20);
  manifest["kernels"] = {kernelOf(0), kernelOf(half)};
  EXPECT_EQ(createSession(manifest, 1), AUTOTUNE_OK);
  EXPECT_EQ(createSession(manifest, 2), AUTOTUNE_ERROR_MEMORY);
  for (nlohmann::json &profile : manifest["profiles"])
    profile["steps"][1]["parallel"] = false;
  EXPECT_EQ(createSession(manifest, 2), AUTOTUNE_OK);
}
