// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that has to be chosen for one profile of a model, chosen without measuring.
#pragma once

#include "runtime/build/ModelCompiler.h"
#include "tools/ImportedModel.h"
#include "tools/Knowledge.h"
#include "tools/ResultFile.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autotune {

/// What a choice is for, beside the device.
struct ChoiceTarget {
  int threads = 1;
  Numerics numerics = Numerics::Default;
  std::string partitionFile; // empty: by records or default
  bool useModelRecord = true;

  bool keepDenormals() const { return numerics == Numerics::Strict; }
};

/// A region and what was decided of it: the layout of a chain of operators, or the algorithm of a
/// convolution, which stands for all subgraphs that are equal.
struct ChosenRegion {
  LayoutChain chain; // that the region is (part of)
  Region region;
  std::string name;                       // for people
  double weight = 0;                      // regions of more are settled first
  RegionChoice untuned;                   // without a record
  std::vector<RegionChoice> alternatives; // that a search measures
  ResolvedRegion choice;
};

/// By the region's key.
using AlgorithmTable = std::map<std::string, ChosenRegion>;

/// Schedules by workload key.
using ScheduleTable = std::map<std::string, ScheduleChoice>;

struct ChosenProfile {
  std::vector<ChosenRegion> layouts; // empty if a partition file decided
  AlgorithmTable algorithms;         // likewise, and if a model's record did
  Partition partition;
  ModelPlan plan;
  ScheduleTable schedules;
  std::optional<ModelRecord> record; // the record that decided all of it
  Modes recordModes{false, false};   // the passes whose results it holds

  LookupCounts lookup() const;
  /// Regions without an exact, fresh record.
  size_t missedRegions() const;
  /// True if nothing was guessed: what --require-hits asks for.
  bool isAllHits() const;
};

/// Channels of a block where nothing else is known: one vector.
int untunedBlock(const Device &device);

/// The key text of a model's record: content, shapes, threads, numerics, and which passes it was tuned by.
std::string modelKeyText(const ImportedModel &model, size_t profile, const ChoiceTarget &target,
                         const Modes &modes);

/// Partition by the model's record, else by the records of its regions, else the default; schedules likewise.
llvm::Expected<ChosenProfile> chooseProfile(const ImportedModel &model, size_t profile, Knowledge &knowledge,
                                            const ChoiceTarget &target);

/// The partition with these layouts and algorithms, planned; both may have been changed by a search.
/// Algorithms that the table lacks are looked up or picked by the cost model.
llvm::Error replan(ChosenProfile &chosen, const ImportedProfile &profile, const Knowledge &knowledge,
                   const ChoiceTarget &target);

/// Fills `schedules` for every workload of the plan that has none yet.
void chooseSchedules(ChosenProfile &chosen, const Resolver &resolver);

/// Where each schedule came from, by workload key: "exact", "near, stale", …
std::map<std::string, std::string> scheduleSources(const ScheduleTable &table);

/// For the compiler: the table's schedules.
ChooseSchedule scheduleLookup(const ScheduleTable &table);

} // namespace autotune
