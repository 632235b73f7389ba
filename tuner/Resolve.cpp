// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The lookup order of schedules and layouts.
#include "tuner/Resolve.h"

#include "knowledge_base/DeviceMatch.h"
#include "schedule/Errors.h"
#include "tuner/ModelSearch.h"
#include "tuner/SpaceWalk.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace autotune;

/// Beyond a factor of four in the extents together, another shape's tiles say little.
static constexpr double kFarthest = 2;
/// A near record is dropped if the model predicts it this much slower than the model's pick.
static constexpr double kNearTolerance = 1.1;
static constexpr size_t kNearSeeds = 3;

static constexpr llvm::StringLiteral kSourceNames[] = {"exact", "builtin", "near", "model", "default"};

llvm::StringRef autotune::choiceSourceName(ChoiceSource source) { return kSourceNames[size_t(source)]; }

void Resolver::diagnose(std::string file, std::string message) const {
  if (sources.diagnose)
    sources.diagnose({std::move(file), std::move(message)});
}

bool Resolver::isStale(const RecordBase &record) const {
  return sources.codegen && record.isStale(sources.codegen(record.name));
}

/// Records of a device with another core count or L3 are used, and marked.
void Resolver::noteDevice(const Repository &repository, Choice &choice) const {
  llvm::Expected<std::optional<Device>> stored = repository.findDevice(device.key());
  if (!stored) {
    diagnose(device.key() + "/device.yaml", llvm::toString(stored.takeError()));
    return;
  }
  if (!*stored)
    return;
  DeviceMatch match = compareDevices(**stored, device);
  if (match.kind != DeviceMatchKind::Exact) {
    choice.note = match.difference;
    choice.trace.push_back("device: " + match.difference);
  }
}

/// Says which device the records are for when there is none for this one.
static std::string otherDevices(const Repository &repository, const Device &device) {
  std::vector<std::string> keys = repository.deviceKeys();
  if (keys.empty() || llvm::is_contained(keys, device.key()))
    return "no record";
  return llvm::formatv("no record for this device ({0}); there are records for {1}", device.key(),
                       keys.front());
}

template <typename Record>
std::optional<Record> Resolver::lookUp(const Repository &repository, llvm::StringRef place,
                                       llvm::StringRef name, llvm::StringRef key, Choice &choice) const {
  llvm::Expected<std::optional<Record>> found = repository.find<Record>(device.key(), name, key);
  if (!found) {
    std::string message = llvm::toString(found.takeError());
    choice.trace.push_back(llvm::formatv("{0}: broken record: {1}", place, message));
    diagnose(llvm::formatv("{0}-{1}", name, key), message);
    return std::nullopt;
  }
  if (!*found)
    choice.trace.push_back(llvm::formatv("{0}: {1}", place, otherDevices(repository, device)));
  return std::move(*found);
}

bool Resolver::tryExact(const Repository *repository, ChoiceSource source, const Workload &workload,
                        ScheduleChoice &choice) const {
  if (!repository)
    return false;
  llvm::StringRef place = choiceSourceName(source);
  std::optional<OperatorRecord> record =
      lookUp<OperatorRecord>(*repository, place, workload.kind, workload.key(), choice);
  if (!record)
    return false;
  llvm::Expected<LoopNest> nest = buildLoopNest(workload, record->schedule);
  if (!nest) {
    std::string message = llvm::toString(nest.takeError());
    choice.trace.push_back(llvm::formatv("{0}: illegal record: {1}", place, message));
    diagnose(recordFileName(*record), message);
    return false;
  }
  choice.source = source;
  choice.schedule = record->schedule;
  choice.stale = isStale(*record);
  noteDevice(*repository, choice);
  if (choice.stale)
    choice.note = llvm::formatv("stale: made by LLVM {0} code generator {1}", record->provenance.codegen.llvm,
                                record->provenance.codegen.number);
  choice.trace.push_back(llvm::formatv("{0}: {1} record of {2}, {3:F2}x", place, outcomeName(record->outcome),
                                       record->provenance.date, record->speedup.value));
  choice.record = std::move(record);
  return true;
}

std::vector<NearRecord> Resolver::nearRecords(const Workload &workload, size_t count) const {
  std::vector<NearRecord> records;
  std::vector<Diagnostic> diagnostics;
  for (const Repository *repository : {sources.user, sources.builtin})
    if (repository)
      llvm::append_range(records, repository->findNear(device.key(), workload, count, diagnostics));
  for (const Diagnostic &diagnostic : diagnostics)
    diagnose(diagnostic.file, diagnostic.message);
  llvm::sort(records, [](const NearRecord &a, const NearRecord &b) {
    return std::make_tuple(a.distance, a.record.key()) < std::make_tuple(b.distance, b.record.key());
  });
  return records;
}

bool Resolver::tryNear(const Workload &workload, const Space &space, ScheduleChoice &choice) const {
  std::vector<NearRecord> records = nearRecords(workload, 1);
  if (records.empty() || records.front().distance > kFarthest) {
    choice.trace.push_back(records.empty() ? "near: no record of this class"
                                           : "near: the nearest shape is too far");
    return false;
  }
  const OperatorRecord &record = records.front().record;
  std::optional<Schedule> schedule = SpaceWalk(workload, space).nearest(record.schedule);
  if (!schedule) {
    choice.trace.push_back("near: " + recordFileName(record) + " is not legal for this shape");
    return false;
  }
  if (sources.model) {
    std::vector<PredictedSchedule> pick = topSchedules(workload, space, *sources.model, 1);
    CostQuery query = {&workload, &*schedule};
    double ratio = sources.model->predict({&query, 1}).front() / pick.front().predictedNs;
    if (ratio > kNearTolerance) {
      choice.trace.push_back(llvm::formatv("near: {0} is predicted {1:F2}x slower than the model's pick",
                                           recordFileName(record), ratio));
      return false;
    }
  }
  choice.source = ChoiceSource::Near;
  choice.schedule = std::move(*schedule);
  choice.stale = isStale(record);
  choice.note = llvm::formatv("from {0}, distance {1:F2}", recordFileName(record), records.front().distance);
  choice.trace.push_back("near: " + choice.note);
  choice.record = record;
  return true;
}

ScheduleChoice Resolver::schedule(const Workload &workload) const {
  ScheduleChoice choice;
  if (tryExact(sources.user, ChoiceSource::Exact, workload, choice) ||
      tryExact(sources.builtin, ChoiceSource::Builtin, workload, choice))
    return choice;
  Space space = buildSpace(workload, device);
  if ((sources.user || sources.builtin) && tryNear(workload, space, choice))
    return choice;
  if (sources.model) {
    PredictedSchedule pick = topSchedules(workload, space, *sources.model, 1).front();
    choice.source = ChoiceSource::Model;
    choice.schedule = std::move(pick.schedule);
    choice.trace.push_back(llvm::formatv("model: {0:F1} us predicted", pick.predictedNs / 1e3));
    return choice;
  }
  choice.schedule = SpaceWalk(workload, space).first();
  choice.trace.push_back("default: first values of the space");
  return choice;
}

ResolvedRegion Resolver::region(const Region &region, const RegionChoice &untuned,
                                llvm::ArrayRef<RegionChoice> legal) const {
  ResolvedRegion choice;
  choice.region = untuned;
  const std::pair<const Repository *, ChoiceSource> places[] = {{sources.user, ChoiceSource::Exact},
                                                                {sources.builtin, ChoiceSource::Builtin}};
  for (auto [repository, source] : places) {
    if (!repository)
      continue;
    llvm::StringRef place = choiceSourceName(source);
    std::optional<SubgraphRecord> record =
        lookUp<SubgraphRecord>(*repository, place, region.name, region.key(), choice);
    if (!record)
      continue;
    llvm::Expected<RegionChoice> recorded = RegionChoice::parse(record->decisions);
    if (recorded && !llvm::is_contained(legal, *recorded))
      recorded = makeError("decides on {0}, which this region cannot have", recorded->text());
    if (!recorded) {
      std::string message = llvm::toString(recorded.takeError());
      diagnose(recordFileName(*record), message);
      choice.trace.push_back(llvm::formatv("{0}: record that {1}", place, message));
      continue;
    }
    choice.source = source;
    choice.region = *recorded;
    choice.stale = isStale(*record);
    noteDevice(*repository, choice);
    choice.trace.push_back(
        llvm::formatv("{0}: {1} record, {2}", place, outcomeName(record->outcome), recorded->text()));
    return choice;
  }
  choice.trace.push_back(llvm::formatv("default: {0}", untuned.text()));
  return choice;
}

std::vector<Schedule> Resolver::seeds(const Workload &workload) const {
  Space space = buildSpace(workload, device);
  SpaceWalk walk(workload, space);
  std::vector<Schedule> found;
  auto add = [&](const OperatorRecord &record) {
    if (std::optional<Schedule> schedule = walk.nearest(record.schedule))
      found.push_back(std::move(*schedule));
  };
  ScheduleChoice ignored;
  for (const Repository *repository : {sources.user, sources.builtin})
    if (repository)
      if (auto record = lookUp<OperatorRecord>(*repository, "seed", workload.kind, workload.key(), ignored))
        add(*record);
  for (const NearRecord &near : nearRecords(workload, kNearSeeds))
    if (near.distance <= kFarthest)
      add(near.record);
  return found;
}
