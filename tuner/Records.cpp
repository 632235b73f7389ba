// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results of searches as records of the knowledge base.
#include "tuner/Records.h"

using namespace autotune;

static Timing timing(const Measurement &measurement) {
  return {measurement.medianNs, measurement.spreadNs, measurement.runs};
}

static void fill(RecordBase &record, const Comparison &comparison, SearchOutcome outcome,
                 const Device &device, Provenance provenance, int64_t trials) {
  record.deviceKey = device.key();
  record.outcome = outcome;
  record.untuned = timing(comparison.first);
  record.tuned = timing(comparison.second);
  record.speedup = {comparison.ratio, comparison.low, comparison.high};
  record.check.standard = comparison.standard;
  record.check.metrics = comparison.metrics;
  record.provenance = std::move(provenance);
  record.provenance.trials = trials;
}

OperatorRecord autotune::operatorRecord(const TaskResult &result, const Device &device,
                                        Provenance provenance) {
  OperatorRecord record(result.task->workload);
  record.schedule = result.schedule;
  record.untunedSchedule = result.task->untuned;
  fill(record, result.comparison, result.outcome, device, std::move(provenance), result.trials);
  return record;
}

SubgraphRecord autotune::subgraphRecord(const SubgraphResult &result, const Device &device,
                                        Provenance provenance) {
  SubgraphRecord record;
  record.name = result.region.name;
  record.keyText = result.region.text;
  record.decisions = result.choice.decisions();
  for (const auto &[choice, outcome] : result.alternatives)
    if (const auto *measurement = std::get_if<Measurement>(&outcome))
      record.alternatives.push_back({choice.decisions(), timing(*measurement)});
  fill(record, result.comparison, result.outcome, device, std::move(provenance), result.measurements);
  return record;
}
