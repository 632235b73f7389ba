// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which schedule a workload gets without measuring, and why.
#pragma once

#include "cost_model/CostModel.h"
#include "knowledge_base/Repository.h"
#include "schedule/Device.h"
#include "schedule/Space.h"
#include "tuner/Region.h"
#include "tuner/RegionChoice.h"

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace autotune {

/// Where a choice came from, in the order in which they are asked.
enum class ChoiceSource { Exact, Builtin, Near, Model, Default };
/// "exact", "builtin", "near", "model", "default".
llvm::StringRef choiceSourceName(ChoiceSource source);

/// A choice and the way to it.
struct Choice {
  ChoiceSource source = ChoiceSource::Default;
  bool stale = false; // the record was made by another code generator
  std::string note;   // what a user should know of a choice that is not exact and fresh; may be empty
  std::vector<std::string> trace; // one line for each place that was asked

  /// What `--require-hits` accepts.
  bool isHit() const { return (source == ChoiceSource::Exact || source == ChoiceSource::Builtin) && !stale; }
};

struct ScheduleChoice : Choice {
  Schedule schedule;
  std::optional<OperatorRecord> record; // the one it came from
};

struct ResolvedRegion : Choice {
  RegionChoice region;
};

/// Null or empty: not asked.
struct ResolveSources {
  const Repository *user = nullptr;
  const Repository *builtin = nullptr;
  const CostModel *model = nullptr;
  /// The code generator that would compile the kind now.
  std::function<CodegenVersion(llvm::StringRef kind)> codegen = nullptr;
  /// Told of every record that cannot be used.
  std::function<void(const Diagnostic &)> diagnose = nullptr;
};

class Resolver {
public:
  Resolver(Device device, ResolveSources sources) : device(std::move(device)), sources(std::move(sources)) {}

  /// User record, built-in record, nearest shape (re-legalised; only if the model does not think it much
  /// worse than its own pick), model, first schedule of the space. Its loop nest is always legal.
  ScheduleChoice schedule(const Workload &workload) const;
  /// User record, built-in record, `untuned`. A record that decides on none of `legal` is broken.
  ResolvedRegion region(const Region &region, const RegionChoice &untuned,
                        llvm::ArrayRef<RegionChoice> legal) const;
  /// Schedules worth trying first when the workload is tuned: of stale and near records, re-legalised.
  std::vector<Schedule> seeds(const Workload &workload) const;

private:
  template <typename Record>
  std::optional<Record> lookUp(const Repository &repository, llvm::StringRef place, llvm::StringRef name,
                               llvm::StringRef key, Choice &choice) const;
  bool tryExact(const Repository *repository, ChoiceSource source, const Workload &workload,
                ScheduleChoice &choice) const;
  bool tryNear(const Workload &workload, const Space &space, ScheduleChoice &choice) const;
  std::vector<NearRecord> nearRecords(const Workload &workload, size_t count) const;
  void noteDevice(const Repository &repository, Choice &choice) const;
  bool isStale(const RecordBase &record) const;
  void diagnose(std::string file, std::string message) const;

  Device device;
  ResolveSources sources;
};

} // namespace autotune
