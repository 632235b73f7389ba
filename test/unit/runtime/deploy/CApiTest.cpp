// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The C API: what it describes, what it refuses, who owns what.
#include "TestArtifact.h"

#include "runtime/deploy/autotune_runtime.h"

#include <gmock/gmock.h>
#include <thread>

using namespace autotune::deploy::test;
using testing::HasSubstr;

TEST(CApi, DescribesTheModel) {
  autotune_model *model = nullptr;
  ASSERT_EQ(autotune_model_load(writeArtifact().c_str(), AUTOTUNE_LOAD_VERIFY, &model), AUTOTUNE_OK);
  EXPECT_EQ(autotune_model_profile_count(model), 2u);
  EXPECT_EQ(autotune_model_input_count(model, 1), 1u);
  EXPECT_EQ(autotune_model_output_count(model, 1), 1u);
  EXPECT_EQ(autotune_model_step_count(model, 1), 2u);
  EXPECT_EQ(autotune_model_arena_bytes(model, 0), 320u);
  EXPECT_EQ(autotune_model_constant_bytes(model), 512u);
  EXPECT_EQ(autotune_model_threads(model), 1);
  EXPECT_STREQ(autotune_model_step_label(model, 0, 1), "twice");
  EXPECT_EQ(autotune_model_step_label(model, 0, 2), nullptr);
  EXPECT_EQ(autotune_model_input_count(model, 2), 0u);
  EXPECT_THAT(autotune_model_metadata(model), HasSubstr("\"llvm_version\":\"19.1\""));
  autotune_tensor_info info;
  ASSERT_EQ(autotune_model_input(model, 1, 0, &info), AUTOTUNE_OK);
  EXPECT_STREQ(info.name, "x");
  EXPECT_STREQ(info.dtype_name, "f32");
  EXPECT_EQ(info.dtype, AUTOTUNE_F32);
  ASSERT_EQ(info.rank, 3u);
  EXPECT_EQ(info.dims[0], 2);
  EXPECT_EQ(info.bytes, 512u);
  EXPECT_EQ(autotune_model_output(model, 1, 1, &info), AUTOTUNE_ERROR_ARGUMENT);
  EXPECT_STREQ(autotune_last_error(), "output 1, expected below 1");
  autotune_model_free(model);
}

TEST(CApi, RunsTheProfileOfTheShapesAfterTheModelWasFreed) {
  autotune_model *model = nullptr;
  ASSERT_EQ(autotune_model_load(writeArtifact().c_str(), AUTOTUNE_LOAD_DEFAULT, &model), AUTOTUNE_OK);
  const int64_t shape[] = {2, 4, 16};
  const int64_t *dims[] = {shape};
  size_t ranks[] = {3}, profile = 7;
  ASSERT_EQ(autotune_model_find_profile(model, dims, ranks, 1, &profile), AUTOTUNE_OK);
  EXPECT_EQ(profile, 1u);
  autotune_session *session = nullptr;
  ASSERT_EQ(autotune_session_create(model, 2, &session), AUTOTUNE_OK);
  EXPECT_GE(autotune_session_threads(session), 1);
  autotune_model_free(model);
  std::vector<float> in(128, 1), out(128);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  ASSERT_EQ(autotune_session_run(session, profile, inputs, 1, outputs, 1), AUTOTUNE_OK);
  EXPECT_EQ(out[127], 2 * (1 + 127));
  int64_t times[2] = {-1, -1};
  ASSERT_EQ(autotune_session_run_timed(session, profile, inputs, 1, outputs, 1, times, 2), AUTOTUNE_OK);
  EXPECT_GE(times[1], 0);
  EXPECT_EQ(autotune_session_run_timed(session, profile, inputs, 1, outputs, 1, nullptr, 0),
            AUTOTUNE_ERROR_ARGUMENT);
  autotune_session_free(session);
}

TEST(CApi, FailuresLeaveOutputsAloneAndSayWhy) {
  autotune_model *model = nullptr;
  EXPECT_EQ(autotune_model_load("/nonexistent", 0, &model), AUTOTUNE_ERROR_FILE);
  EXPECT_THAT(autotune_last_error(), HasSubstr("/nonexistent: cannot open"));
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(autotune_model_load(nullptr, 0, &model), AUTOTUNE_ERROR_ARGUMENT);
  EXPECT_STREQ(autotune_last_error(), "'path' is a null pointer");
  EXPECT_EQ(autotune_model_load("x", 8, &model), AUTOTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(autotune_session_create(nullptr, 1, nullptr), AUTOTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(autotune_session_run(nullptr, 0, nullptr, 0, nullptr, 0), AUTOTUNE_ERROR_ARGUMENT);
  EXPECT_EQ(autotune_model_find_profile(nullptr, nullptr, nullptr, 0, nullptr), AUTOTUNE_ERROR_ARGUMENT);
}

TEST(CApi, TheErrorTextBelongsToTheThread) {
  EXPECT_NE(autotune_model_load(nullptr, 0, nullptr), AUTOTUNE_OK);
  std::thread([] { EXPECT_STREQ(autotune_last_error(), ""); }).join();
  EXPECT_STRNE(autotune_last_error(), "");
}

TEST(CApi, FreeingNothingIsAllowed) {
  autotune_model_free(nullptr);
  autotune_session_free(nullptr);
}

TEST(CApi, HasTheProjectVersion) {
  EXPECT_THAT(autotune_runtime_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}
