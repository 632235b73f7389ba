// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs of a tiny model: values, profiles, buffers that change, several sessions at once.
#include "TestArtifact.h"

#include "runtime/deploy/RuntimeError.h"
#include "runtime/deploy/Session.h"

#include <gmock/gmock.h>
#include <thread>

using namespace autotune::deploy;
using testing::HasSubstr;

namespace {

std::shared_ptr<const Model> loadModel() { return std::make_shared<const Model>(test::writeArtifact()); }

void expectRunIsRight(Session &session, size_t profile, float start) {
  size_t count = 64 * (profile + 1);
  std::vector<float> input(count), output(count, -1);
  for (size_t i = 0; i < count; ++i)
    input[i] = start + static_cast<float>(i);
  const void *inputs[] = {input.data()};
  void *outputs[] = {output.data()};
  session.run(profile, inputs, outputs);
  for (size_t i = 0; i < count; ++i)
    ASSERT_EQ(output[i], 2 * (input[i] + static_cast<float>(i))) << i;
}

template <typename Body> std::string errorOf(Body &&body) {
  try {
    body();
    return "";
  } catch (const RuntimeError &error) {
    return error.what();
  }
}

} // namespace

TEST(Session, ComputesEveryProfileOnAnyNumberOfThreads) {
  auto model = loadModel();
  for (int threads : {1, 2, 5}) {
    Session session(model, threads);
    EXPECT_LE(session.threads(), threads);
    for (int repeat = 0; repeat < 50; ++repeat)
      expectRunIsRight(session, repeat % 2, static_cast<float>(repeat));
  }
}

TEST(Session, TakesTheThreadsOfTheModelByDefault) { EXPECT_EQ(Session(loadModel(), 0).threads(), 1); }

TEST(Session, KeepsTheModelAlive) {
  auto model = loadModel();
  Session session(model, 2);
  model.reset();
  expectRunIsRight(session, 0, 3);
}

TEST(Session, FollowsBuffersThatChange) {
  Session session(loadModel(), 1);
  std::vector<float> a(64, 1), b(64, 2), out(64), other(64);
  const void *inputs[] = {a.data()};
  void *outputs[] = {out.data()};
  session.run(0, inputs, outputs);
  EXPECT_EQ(out[3], 8);
  inputs[0] = b.data();
  session.run(0, inputs, outputs);
  EXPECT_EQ(out[3], 10);
  outputs[0] = other.data();
  a.assign(64, 5);
  inputs[0] = a.data();
  session.run(0, inputs, outputs);
  EXPECT_EQ(other[3], 16);
  EXPECT_EQ(out[3], 10);
}

TEST(Session, TimesEachStep) {
  Session session(loadModel(), 2);
  std::vector<float> in(64), out(64);
  const void *inputs[] = {in.data()};
  void *outputs[] = {out.data()};
  std::vector<int64_t> times(2, -1);
  session.run(0, inputs, outputs, times);
  EXPECT_GE(times[0], 0);
  EXPECT_GE(times[1], 0);
  std::vector<int64_t> wrong(3);
  EXPECT_THAT(errorOf([&] { session.run(0, inputs, outputs, wrong); }), HasSubstr("3 steps, expected 2"));
}

TEST(Session, WrongProfileCountsAndNullBuffersAreErrors) {
  Session session(loadModel(), 1);
  std::vector<float> in(64), out(64);
  const void *inputs[] = {in.data(), in.data()};
  void *outputs[] = {out.data()};
  void *nothing[] = {nullptr};
  auto one = std::span<const void *const>(inputs, 1);
  EXPECT_EQ(errorOf([&] { session.run(2, one, outputs); }), "profile 2, expected below 2");
  EXPECT_EQ(errorOf([&] { session.run(0, inputs, outputs); }), "2 inputs given, expected 1");
  EXPECT_EQ(errorOf([&] { session.run(0, one, nothing); }), "output 0 ('y') is a null pointer");
  EXPECT_EQ(errorOf([&] { Session(loadModel(), -1); }), "-1 threads, expected 0 to 4096");
}

TEST(Session, SeveralOverOneModelRunAtOnce) {
  auto model = loadModel();
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back([&model, caller] {
      Session session(model, 2);
      for (int repeat = 0; repeat < 200; ++repeat)
        expectRunIsRight(session, repeat % 2, static_cast<float>(caller * 1000 + repeat));
    });
  for (std::thread &caller : callers)
    caller.join();
}

TEST(Model, AnUnlistedShapeListsTheProfiles) {
  auto model = loadModel();
  std::vector<std::vector<int64_t>> shapes = {{2, 4, 16}};
  EXPECT_EQ(model->findProfile(shapes), 1u);
  shapes[0][0] = 3;
  EXPECT_EQ(
      errorOf([&] { model->findProfile(shapes); }),
      "no profile for the input shapes (3x4x16); the model was compiled for: 0 = (x: 1x4x16xf32); 1 = (x: "
      "2x4x16xf32)");
  EXPECT_THAT(errorOf([&] { model->findProfile({}); }), HasSubstr("no profile for the input shapes ()"));
}
