// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The end of a tuning run: the whole model against the untuned one, and the record of what was accepted.
#include "tools/RunModel.h"
#include "tools/TuneModel.h"
#include "tools/VerifyModel.h"
#include "tuner/Acceptance.h"

#include "llvm/Support/FileUtilities.h"

namespace autotune {
namespace {

SearchOutcome outcomeOf(bool improved) {
  return improved ? SearchOutcome::Improved : SearchOutcome::DefaultBest;
}

Timing timingOf(const Measurement &measurement) {
  return {measurement.medianNs, measurement.spreadNs, measurement.runs};
}

} // namespace

llvm::Expected<std::shared_ptr<const deploy::Model>> ModelTuner::build(const ChosenProfile &chosen) {
  // A new name each time: the loader takes a second library of the same name for the first.
  std::string path = folder + "/whole_" + std::to_string(builds++) + ".so";
  llvm::FileRemover remover(path);
  if (llvm::Error error = compiler.compile({&chosen.plan}, scheduleLookup(chosen.schedules),
                                           {model.name, AUTOTUNE_VERSION, options.device, target.threads,
                                            target.keepDenormals(), scheduleSources(chosen.schedules)},
                                           path))
    return error;
  return loadCompiledModel(path);
}

llvm::Expected<Comparison> ModelTuner::verify(const ChosenProfile &candidate, size_t index) {
  showStage("verifying the whole model");
  auto before = build(untuned[index]);
  if (!before)
    return before.takeError();
  auto after = build(candidate);
  if (!after)
    return after.takeError();
  // Each program holds one profile.
  llvm::Expected<ComparisonOutcome> outcome =
      compareModels(*before, *after, 0, target.threads, model.outputQuanta);
  if (!outcome)
    return outcome.takeError();
  ++result.verifications;
  if (const auto *failure = std::get_if<Failure>(&*outcome)) {
    result.failures.push_back({failure->stage, failure->reason, 1});
    Comparison lost;
    lost.ratio = lost.low = lost.high = 0;
    return lost;
  }
  const Comparison &comparison = std::get<Comparison>(*outcome);
  display.message(llvm::formatv("whole model: {0:f3} ms untuned, {1:f3} ms tuned; {2:f3}x [{3:f3}, {4:f3}]",
                                comparison.first.medianNs / 1e6, comparison.second.medianNs / 1e6,
                                comparison.ratio, comparison.low, comparison.high)
                      .str());
  return comparison;
}

/// Keeps the tuned whole if it is faster outside the noise; else tries its operators in the untuned
/// partition; else stays untuned.
llvm::Error ModelTuner::accept(ChosenProfile &chosen, size_t index) {
  llvm::Expected<Comparison> comparison = verify(chosen, index);
  if (!comparison)
    return comparison.takeError();
  if (!isImprovement(*comparison) && !(chosen.partition == untuned[index].partition)) {
    ++result.records.rejectedAsNoise;
    ChosenProfile other;
    other.layouts = untuned[index].layouts;
    if (llvm::Error error = replan(other, model.profiles[index], *untunedKnowledge, target))
      return error;
    chooseSchedules(other, knowledge->resolver());
    comparison = verify(other, index);
    if (!comparison)
      return comparison.takeError();
    chosen = std::move(other);
  }
  bool improved = isImprovement(*comparison);
  if (!improved) {
    ++result.records.rejectedAsNoise;
    if (comparison->first.runs == 0) {
      // Nothing but the untuned program gave right results: it is timed alone.
      comparison = verify(untuned[index], index);
      if (!comparison)
        return comparison.takeError();
    }
    chosen = std::move(untuned[index]);
  }
  double untunedMs = comparison->first.medianNs / 1e6;
  result.untuned.ms += untunedMs;
  result.tuned.ms += improved ? comparison->second.medianNs / 1e6 : untunedMs;
  return recordModel(chosen, index, *comparison, improved);
}

llvm::Error ModelTuner::recordModel(const ChosenProfile &chosen, size_t index, const Comparison &comparison,
                                    bool improved) {
  // Some operators alone do not make a tuned model, unless it was one before.
  Modes modes = options.config.mode;
  if (!options.config.operators.only.empty())
    modes.operators = modesBefore.operators;
  if (!modes.subgraph && !modes.operators)
    return llvm::Error::success();
  ModelRecord record;
  record.name = model.name;
  record.keyText = modelKeyText(model, index, target, modes);
  record.deviceKey = options.device.key();
  record.outcome = outcomeOf(improved);
  record.untuned = timingOf(comparison.first);
  record.tuned = improved ? timingOf(comparison.second) : record.untuned;
  if (improved)
    record.speedup = {comparison.ratio, comparison.low, comparison.high};
  record.check = {comparison.standard, comparison.metrics};
  record.provenance = provenance();
  record.provenance.trials = budget->trials();
  record.partition = chosen.partition.text(model.profiles[index].graph);
  // Without them, schedules are looked up one by one: other models may have records for them.
  if (modes.operators)
    for (const auto &[key, choice] : chosen.schedules)
      record.schedules[key] = choice.schedule;
  return put(record);
}

} // namespace autotune
