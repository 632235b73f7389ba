// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/HistoryLog.h"

#include "tools/Codegen.h"

#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

namespace autotune {

std::string historyPath(const std::string &configured) {
  if (!configured.empty())
    return configured;
  llvm::SmallString<128> path;
  if (std::optional<std::string> data = llvm::sys::Process::GetEnv("XDG_DATA_HOME"); data && !data->empty()) {
    path = *data;
  } else {
    llvm::sys::path::home_directory(path);
    llvm::sys::path::append(path, ".local", "share");
  }
  llvm::sys::path::append(path, "autotune", "history.db");
  return path.str().str();
}

llvm::Expected<std::vector<TrialOutcome>> HistoryLog::load(const Workload &workload) {
  TrialFilter filter;
  filter.workloadKey = workload.key();
  filter.deviceKey = deviceKey;
  filter.codegen = currentCodegen(workload.kind);
  llvm::Expected<std::vector<Trial>> trials = history.query(filter);
  if (!trials)
    return trials.takeError();
  std::vector<TrialOutcome> outcomes;
  for (const Trial &trial : *trials) {
    if (const auto *timing = std::get_if<Timing>(&trial.outcome))
      outcomes.emplace_back(trial.schedule, Measurement{timing->medianNs, timing->spreadNs, timing->runs});
    else
      outcomes.emplace_back(trial.schedule, Failure{std::get<TrialFailure>(trial.outcome).stage,
                                                    std::get<TrialFailure>(trial.outcome).reason});
  }
  return outcomes;
}

llvm::Error HistoryLog::add(const Workload &workload, llvm::ArrayRef<TrialOutcome> outcomes) {
  std::vector<Trial> trials;
  for (const auto &[schedule, outcome] : outcomes) {
    Trial trial{workload.text(),  schedule,     deviceKey, {}, currentCodegen(workload.kind),
                AUTOTUNE_VERSION, currentDate()};
    if (const auto *measurement = std::get_if<Measurement>(&outcome))
      trial.outcome = Timing{measurement->medianNs, measurement->spreadNs, measurement->runs};
    else
      trial.outcome = TrialFailure{std::get<Failure>(outcome).stage, std::get<Failure>(outcome).reason};
    trials.push_back(std::move(trial));
  }
  return history.add(trials);
}

} // namespace autotune
