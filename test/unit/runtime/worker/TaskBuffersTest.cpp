// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/worker/TaskBuffers.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace autotune::worker;
using testing::HasSubstr;

namespace {

KernelTask mixedTask() {
  KernelTask task;
  task.args = {{ArgRole::Input, "f32", 400},  {ArgRole::Weight, "f32", 4000}, {ArgRole::Input, "i64", 80},
               {ArgRole::Output, "f32", 100}, {ArgRole::Weight, "i8", 33},    {ArgRole::Output, "i8", 7}};
  task.streamedWeightBytes = 10'000;
  return task;
}

TaskBuffers create(const KernelTask &task) {
  llvm::Expected<TaskBuffers> buffers = TaskBuffers::create(task, 0);
  EXPECT_TRUE(static_cast<bool>(buffers));
  return std::move(*buffers);
}

} // namespace

TEST(TaskBuffers, RotatesEqualCopiesOfTheWeightsOnly) {
  TaskBuffers buffers = create(mixedTask());
  ASSERT_EQ(buffers.weightCopies(), 3u);
  void *const *first = buffers.nextArgs();
  void *const *second = buffers.nextArgs();
  EXPECT_EQ(first[0], second[0]);
  EXPECT_EQ(first[3], second[3]);
  EXPECT_NE(first[1], second[1]);
  EXPECT_EQ(std::memcmp(first[1], second[1], 4000), 0);
  EXPECT_EQ(std::memcmp(first[4], second[4], 33), 0);
  buffers.nextArgs();
  EXPECT_EQ(buffers.nextArgs(), first);
}

TEST(TaskBuffers, AlignsEveryArgument) {
  TaskBuffers buffers = create(mixedTask());
  void *const *args = buffers.nextArgs();
  for (size_t i = 0; i < 6; ++i)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(args[i]) % 64, 0u) << i;
}

TEST(TaskBuffers, DrawsFloatsBetweenMinusOneAndOneAndZeroForIndices) {
  TaskBuffers buffers = create(mixedTask());
  void *const *args = buffers.nextArgs();
  float sum = 0;
  for (int i = 0; i < 100; ++i) {
    float value = static_cast<float *>(args[0])[i];
    EXPECT_GE(value, -1);
    EXPECT_LT(value, 1);
    sum += value;
  }
  EXPECT_LT(std::abs(sum), 30);
  EXPECT_NE(std::memcmp(args[0], args[1], 400), 0);
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(static_cast<int64_t *>(args[2])[i], 0);
}

TEST(TaskBuffers, SeesWritesAroundOutputs) {
  TaskBuffers buffers = create(mixedTask());
  void *const *args = buffers.nextArgs();
  EXPECT_FALSE(buffers.damagedGuard());
  std::memset(args[3], 0, 100);
  std::memset(args[5], 0, 7);
  EXPECT_FALSE(buffers.damagedGuard());
  static_cast<char *>(args[5])[7] = 0;
  EXPECT_EQ(buffers.damagedGuard(), 1u);
  buffers.clearOutputs();
  EXPECT_FALSE(buffers.damagedGuard());
  static_cast<char *>(args[3])[-1] = 0;
  EXPECT_EQ(buffers.damagedGuard(), 0u);
}

TEST(TaskBuffers, RefusesWhatDoesNotFit) {
  KernelTask task = mixedTask();
  auto errorOf = [&](int64_t limit) {
    auto buffers = TaskBuffers::create(task, limit);
    return buffers ? std::string() : llvm::toString(buffers.takeError());
  };
  EXPECT_THAT(errorOf(5000), HasSubstr("more than the limit of 5000"));
  task.args[0].bytes = 401;
  EXPECT_THAT(errorOf(0), HasSubstr("argument 0 has 401 bytes, expected a multiple of 4"));
  task.args[0] = {ArgRole::Input, "complex", 8};
  EXPECT_THAT(errorOf(0), HasSubstr("unknown type 'complex'"));
}

TEST(TaskBuffers, WinogradFiltersAreTransforms) {
  constexpr int kFilters = 8;
  KernelTask task;
  task.args = {{ArgRole::Weight, "f32", 2 * 16 * kFilters * 4, 2, kFilters}, {ArgRole::Output, "f32", 4}};
  TaskBuffers buffers = create(task);
  const auto *points = static_cast<const float *>(buffers.nextArgs()[0]);
  for (const float *block : {points, points + 16 * kFilters})
    for (int filter = 0; filter < kFilters; ++filter)
      for (int row = 0; row < 4; ++row) {
        // G of F(2 x 2, 3 x 3): the second and third point of a row add up to the first and last.
        auto at = [&](int column) { return block[(row * 4 + column) * kFilters + filter]; };
        EXPECT_NEAR(at(1) + at(2), at(0) + at(3), 1e-6);
        EXPECT_NE(at(0), 0);
      }
  task.args[0].winogradOutputs = 3;
  llvm::Expected<TaskBuffers> refused = TaskBuffers::create(task, 0);
  ASSERT_FALSE(bool(refused));
  EXPECT_THAT(llvm::toString(refused.takeError()), HasSubstr("expected f32 for 2 or 4"));
}
