// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Artifacts load with the deployed runtime and give the model's answers; a failure leaves nothing behind.
#include "TestKernel.h"
#include "TestModel.h"
#include "runtime/build/ModelCompiler.h"
#include "runtime/deploy/Session.h"
#include "test/unit/KernelContext.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gmock/gmock.h>

using namespace autotune;
using namespace autotune::test;
using testing::HasSubstr;

namespace {

class ArtifactWriter : public testing::Test {
protected:
  void SetUp() override { ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("autotune-test", folder)); }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) const { return (folder + "/" + name).str(); }
  int filesInFolder() const {
    std::error_code code;
    int count = 0;
    for (llvm::sys::fs::directory_iterator it(folder, code), end; it != end && !code; it.increment(code))
      ++count;
    return count;
  }

  ArtifactInfo info(int threads = 1) const { return {"test", "0.0", testDevice(), threads}; }

  llvm::Error compile(llvm::ArrayRef<const ModelPlan *> plans, const std::string &file, int threads = 1) {
    ModelCompiler compiler(testDevice(), 1);
    return compiler.compile(plans, firstSchedule, info(threads), file);
  }

  void expectRight(const std::string &file, const TestModel &model, int threads) {
    deploy::Session session(std::make_shared<const deploy::Model>(file, /*verifyConstants=*/true), threads);
    for (unsigned seed : {21u, 22u}) {
      std::vector<float> x = numbers(16 * 36, seed), mean(16), classes(10);
      TestModel::Answer answer = model.compute(x);
      const void *inputs[] = {x.data()};
      void *outputs[] = {mean.data(), classes.data()};
      session.run(0, inputs, outputs);
      for (size_t i = 0; i < mean.size(); ++i)
        ASSERT_NEAR(mean[i], answer.mean[i], 1e-4) << i;
      for (size_t i = 0; i < classes.size(); ++i)
        ASSERT_NEAR(classes[i], answer.classes[i], 1e-4) << i;
    }
  }

  /// A plan that compiles in no time.
  ModelPlan smallPlan() {
    if (!small)
      small = parseModel(*context, twinsText());
    return valueOf(planModel(*small, singleOperators(3), planOptions()));
  }

  llvm::SmallString<128> folder;
  TestModel model;
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  mlir::OwningOpRef<mlir::ModuleOp> small;
};

} // namespace

TEST_F(ArtifactWriter, AModelGivesItsAnswerUnderEveryPartition) {
  for (const Partition &partition : {model.plainPartition(), model.blockedPartition()}) {
    ModelPlan plan = valueOf(planModel(model.module(), partition, planOptions()));
    ASSERT_EQ(messageOf(compile({&plan}, path("model.so"))), "");
    expectRight(path("model.so"), model, 1);
  }
  EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(ArtifactWriter, ThreadsGiveTheSameAnswer) {
  PlanOptions options = planOptions();
  options.threads = 2;
  ModelPlan plan = valueOf(planModel(model.module(), model.blockedPartition(), options));
  ASSERT_EQ(messageOf(compile({&plan}, path("model.so"), 2)), "");
  expectRight(path("model.so"), model, 2);
}

TEST_F(ArtifactWriter, ChannelsThatFillNoBlockGiveTheAnswerOfThePlainModel) {
  auto module = parseModel(*context, oddChannelsText());
  std::vector<float> x = numbers(3 * 81, 23), expected;
  for (int block : {0, 8, 16}) {
    ModelPlan plan = valueOf(planModel(*module, oddChannelsPartition(block), planOptions()));
    ASSERT_EQ(messageOf(compile({&plan}, path("model.so"))), "");
    deploy::Session session(std::make_shared<const deploy::Model>(path("model.so"), true), 1);
    std::vector<float> y(12 * 4);
    const void *inputs[] = {x.data()};
    void *outputs[] = {y.data()};
    session.run(0, inputs, outputs);
    if (block == 0)
      expected = y;
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], expected[i], 1e-4 * (1 + std::abs(expected[i])))
          << "block " << block << ", element " << i;
  }
  EXPECT_NE(expected.front(), 0);
}

TEST_F(ArtifactWriter, TheManifestSaysWhatWasCompiledAndProfilesShareKernels) {
  ModelPlan plan = smallPlan();
  ASSERT_EQ(messageOf(compile({&plan, &plan}, path("model.so"))), "");
  deploy::Model loaded(path("model.so"), true);
  const deploy::Manifest &manifest = loaded.manifest();
  EXPECT_EQ(manifest.model, "test");
  EXPECT_EQ(manifest.deviceKey, testDevice().key());
  EXPECT_EQ(manifest.isa, "avx2");
  ASSERT_EQ(manifest.profiles.size(), 2u);
  EXPECT_EQ(manifest.profiles[0].inputs[1].text(), "input_1: 8x8xf32");
  ASSERT_EQ(manifest.profiles[0].steps.size(), plan.steps.size());
  EXPECT_EQ(manifest.profiles[0].steps[1].label, "second");
  for (size_t i = 0; i < plan.steps.size(); ++i)
    EXPECT_EQ(manifest.profiles[0].steps[i].kernel, manifest.profiles[1].steps[i].kernel);
}

TEST_F(ArtifactWriter, CompilingTwiceGivesTheSameBytes) {
  ModelPlan plan = smallPlan();
  auto bytes = [&](llvm::StringRef name) {
    EXPECT_EQ(messageOf(compile({&plan}, path(name))), "");
    auto buffer = llvm::MemoryBuffer::getFile(path(name), false, false);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  };
  std::string first = bytes("one.so");
  EXPECT_FALSE(first.empty());
  EXPECT_TRUE(first == bytes("two.so"));
}

TEST_F(ArtifactWriter, AnUnwritablePathIsNamedAndNothingIsLeft) {
  ModelPlan plan = smallPlan();
  std::string absent = path("absent/model.so");
  EXPECT_THAT(messageOf(compile({&plan}, absent)), HasSubstr(absent));
  EXPECT_FALSE(llvm::sys::fs::exists(path("absent")));
  // A folder stands where the file should go.
  std::string taken = path("taken.so");
  ASSERT_FALSE(llvm::sys::fs::create_directory(taken));
  EXPECT_THAT(messageOf(compile({&plan}, taken)), HasSubstr("cannot write '" + taken + "'"));
  EXPECT_TRUE(llvm::sys::fs::is_directory(taken));
  EXPECT_EQ(filesInFolder(), 1);
}

TEST_F(ArtifactWriter, AScheduleThatDoesNotFitLeavesNothing) {
  ModelPlan plan = smallPlan();
  ModelCompiler compiler(testDevice(), 1);
  auto nonsense = [](const Workload &) -> llvm::Expected<Schedule> { return Schedule{{{"nonsense", 1}}}; };
  EXPECT_NE(messageOf(compiler.compile({&plan}, nonsense, info(), path("model.so"))), "");
  EXPECT_EQ(filesInFolder(), 0);
}
