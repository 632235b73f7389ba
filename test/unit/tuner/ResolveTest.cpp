// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lookup order, marks and reports of choices made without measuring.
#include "tuner/Resolve.h"
#include "cost_model/AnalyticalModel.h"
#include "test/unit/Results.h"
#include "test/unit/schedule/TestWorkloads.h"
#include "tuner/ModelSearch.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>

using namespace autotune;
using testing::HasSubstr;

namespace {

struct ResolveTest : testing::Test {
  ResolveTest() : user(make("user")), builtin(make("builtin")) {}
  ~ResolveTest() override { llvm::sys::fs::remove_directories(folder); }

  Repository make(const char *name) {
    if (folder.empty())
      EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("autotune-resolve", folder));
    llvm::SmallString<128> path = folder;
    llvm::sys::path::append(path, name);
    OpenOptions options;
    options.create = true;
    options.toolVersion = "0.1.0";
    return llvm::cantFail(Repository::open(path, options));
  }
  OperatorRecord record(const Workload &workload, const char *schedule) {
    OperatorRecord record(workload);
    record.deviceKey = device.key();
    record.outcome = SearchOutcome::Improved;
    record.schedule = valueOf(Schedule::parse(schedule));
    record.untunedSchedule = record.schedule;
    record.untuned = {1000, 1, 10};
    record.tuned = {800, 1, 10};
    record.speedup = {1.25, 1.2, 1.3};
    record.check.standard = "contraction";
    record.provenance = {"0.1.0", codegen, "2026-11-30T08:41:06Z", 1, 8};
    return record;
  }
  void put(Repository &repository, const OperatorRecord &record) {
    EXPECT_EQ(valueOf(repository.put(record)), PutResult::Added);
  }
  Resolver resolver() {
    ResolveSources sources;
    sources.user = &user;
    sources.builtin = &builtin;
    sources.model = &model;
    sources.codegen = [this](llvm::StringRef) { return codegen; };
    sources.diagnose = [this](const Diagnostic &diagnostic) { diagnostics.push_back(diagnostic); };
    return Resolver(device, sources);
  }

  llvm::SmallString<128> folder;
  Device device = testDevice();
  CodegenVersion codegen = {"19.1.7", 1};
  AnalyticalModel model{device};
  Repository user, builtin;
  std::vector<Diagnostic> diagnostics;
  Workload workload = packedMatmul(128, 768, 768);
  const char *first = "cache_planes=1 cache_rows=1 order=0 planes=1 rows=6 unroll=1";
  const char *second = "cache_planes=2 cache_rows=1 order=1 planes=1 rows=6 unroll=4";
};

} // namespace

TEST_F(ResolveTest, WithoutRecordsTheModelPicks) {
  ScheduleChoice choice = resolver().schedule(workload);
  EXPECT_EQ(choice.source, ChoiceSource::Model);
  EXPECT_EQ(choice.schedule, topSchedules(workload, buildSpace(workload, device), model, 1).front().schedule);
  EXPECT_FALSE(choice.isHit());
  EXPECT_EQ(choice.trace.size(), 4u);
}

TEST_F(ResolveTest, WithoutAModelTheFirstScheduleIsTheDefault) {
  ScheduleChoice choice = Resolver(device, {}).schedule(workload);
  EXPECT_EQ(choice.source, ChoiceSource::Default);
  EXPECT_TRUE(buildSpace(workload, device).contains(workload, choice.schedule));
}

TEST_F(ResolveTest, TheUsersRecordComesBeforeTheBuiltinOne) {
  put(builtin, record(workload, first));
  EXPECT_EQ(resolver().schedule(workload).source, ChoiceSource::Builtin);
  put(user, record(workload, second));
  ScheduleChoice choice = resolver().schedule(workload);
  EXPECT_EQ(choice.source, ChoiceSource::Exact);
  EXPECT_EQ(choice.schedule.text(), second);
  EXPECT_TRUE(choice.isHit());
  EXPECT_EQ(choice.note, "");
}

TEST_F(ResolveTest, AnotherCodeGeneratorMakesARecordStale) {
  put(user, record(workload, first));
  codegen.number = 2;
  ScheduleChoice choice = resolver().schedule(workload);
  EXPECT_EQ(choice.source, ChoiceSource::Exact);
  EXPECT_TRUE(choice.stale);
  EXPECT_FALSE(choice.isHit());
  EXPECT_THAT(choice.note, HasSubstr("stale"));
  EXPECT_THAT(resolver().seeds(workload), testing::Contains(valueOf(Schedule::parse(first))));
}

TEST_F(ResolveTest, ANearShapeIsLegalisedAndMarked) {
  Workload near = packedMatmul(256, 768, 768);
  put(user,
      record(near, topSchedules(near, buildSpace(near, device), model, 1).front().schedule.text().c_str()));
  ScheduleChoice choice = resolver().schedule(workload);
  EXPECT_EQ(choice.source, ChoiceSource::Near);
  EXPECT_THAT(choice.note, HasSubstr("distance 1.00"));
  EXPECT_TRUE(buildSpace(workload, device).contains(workload, choice.schedule));
}

TEST_F(ResolveTest, ANearShapeThatTheModelThinksBadIsNotUsed) {
  put(user,
      record(packedMatmul(256, 768, 768), "cache_planes=1 cache_rows=1 order=0 planes=1 rows=1 unroll=1"));
  ScheduleChoice choice = resolver().schedule(workload);
  EXPECT_EQ(choice.source, ChoiceSource::Model);
  EXPECT_THAT(choice.trace[choice.trace.size() - 2], HasSubstr("slower than the model's pick"));
}

TEST_F(ResolveTest, AnIllegalRecordIsReportedAndMissed) {
  put(user, record(workload, "rows=6"));
  EXPECT_EQ(resolver().schedule(workload).source, ChoiceSource::Model);
  ASSERT_FALSE(diagnostics.empty());
  EXPECT_THAT(diagnostics[0].message, HasSubstr("found no knob"));
}

TEST_F(ResolveTest, ABrokenRecordIsReportedAndMissed) {
  OperatorRecord good = record(workload, first);
  put(user, good);
  std::string path = user.directory() + "/" + device.key() + "/operator/" + recordFileName(good);
  std::ofstream(path) << "garbage";
  EXPECT_EQ(resolver().schedule(workload).source, ChoiceSource::Model);
  EXPECT_FALSE(diagnostics.empty());
}

TEST_F(ResolveTest, RecordsOfAnotherDeviceAreNamed) {
  OperatorRecord other = record(workload, first);
  other.deviceKey = testDevice(Isa::Avx512).key();
  put(user, other);
  EXPECT_THAT(resolver().schedule(workload).trace.front(),
              HasSubstr("there are records for " + other.deviceKey));
}

TEST_F(ResolveTest, AnotherCoreCountIsMarked) {
  put(user, record(workload, first));
  Device larger = device;
  larger.cores = 64;
  EXPECT_EQ(messageOf(user.putDevice(larger)), "");
  EXPECT_THAT(resolver().schedule(workload).note, HasSubstr("64"));
}

TEST_F(ResolveTest, LayoutsComeFromSubgraphRecords) {
  Region region = {"conv-chain", "v0 = conv2d(in0)\n", {0}};
  EXPECT_EQ(resolver().region(region, {8, ""}, {{8, ""}, {16, ""}}).source, ChoiceSource::Default);
  SubgraphRecord record;
  static_cast<RecordBase &>(record) = this->record(workload, first);
  record.name = region.name;
  record.keyText = region.text;
  record.decisions = {{"channel_block", "16"}};
  record.alternatives = {{record.decisions, record.tuned}};
  EXPECT_EQ(valueOf(user.put(record)), PutResult::Added);
  ResolvedRegion choice = resolver().region(region, {8, ""}, {{8, ""}, {16, ""}});
  EXPECT_EQ(choice.source, ChoiceSource::Exact);
  EXPECT_EQ(choice.region, (RegionChoice{16, ""}));
}

TEST_F(ResolveTest, ARecordOfADecisionThatTheRegionCannotHaveIsAMiss) {
  for (const Decisions &decisions : {Decisions{{"channel_block", "9"}}, Decisions{{"algorithm", "direct"}},
                                     Decisions{{"channel_block", "8"}, {"algorithm", "guess"}},
                                     Decisions{{"channel_block", "8"}, {"colour", "red"}},
                                     Decisions{{"channel_block", "8"}, {"algorithm", "view"}},
                                     Decisions{{"channel_block", "16"}, {"algorithm", "direct"}}}) {
    Region region = {"conv", "v0 = conv2d(in0)\n" + decisions.front().second + decisions.back().second, {0}};
    SubgraphRecord record;
    static_cast<RecordBase &>(record) = this->record(workload, first);
    record.name = region.name;
    record.keyText = region.text;
    record.decisions = decisions;
    record.alternatives = {{record.decisions, record.tuned}};
    EXPECT_EQ(valueOf(user.put(record)), PutResult::Added);
    ResolvedRegion choice = resolver().region(region, {8, "winograd4"}, {{8, "direct"}, {8, "winograd4"}});
    EXPECT_EQ(choice.source, ChoiceSource::Default);
    EXPECT_EQ(choice.region, (RegionChoice{8, "winograd4"}));
    EXPECT_THAT(choice.trace.front(), HasSubstr("record that"));
  }
}
