// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tuner's measurement log in the local history file.
#pragma once

#include "knowledge_base/History.h"
#include "tuner/OperatorTuner.h"

#include <string>

namespace autotune {

/// The file that a configured name stands for: $XDG_DATA_HOME/autotune/history.db if it is empty.
std::string historyPath(const std::string &configured);

class HistoryLog : public MeasurementLog {
public:
  HistoryLog(History history, std::string deviceKey)
      : history(std::move(history)), deviceKey(std::move(deviceKey)) {}

  llvm::Expected<std::vector<TrialOutcome>> load(const Workload &workload) override;
  llvm::Error add(const Workload &workload, llvm::ArrayRef<TrialOutcome> trials) override;

private:
  History history;
  std::string deviceKey;
};

} // namespace autotune
