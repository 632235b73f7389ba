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
};

/// A chain of operators that share a layout, and the layout that was chosen for it.
struct ChosenLayout {
  LayoutChain chain;
  Region region;
  LayoutChoice choice;
};

/// Schedules by workload key.
using ScheduleTable = std::map<std::string, ScheduleChoice>;

struct ChosenProfile {
  std::vector<ChosenLayout> layouts; // empty if a partition file decided
  Partition partition;
  ModelPlan plan;
  ScheduleTable schedules;
  std::optional<ModelRecord> record; // the record that decided all of it
  Modes recordModes{false, false};   // the passes whose results it holds

  LookupCounts lookup() const;
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

/// The partition with these layouts, planned. `profile.layouts` may have been changed by a search.
llvm::Error replan(ChosenProfile &chosen, const ImportedProfile &profile, const Device &device,
                   const ChoiceTarget &target);

/// Fills `schedules` for every workload of the plan that has none yet.
void chooseSchedules(ChosenProfile &chosen, const Resolver &resolver);

/// For the compiler: the table's schedules.
ChooseSchedule scheduleLookup(const ScheduleTable &table);

} // namespace autotune
