// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Translates between the tuner's words and the workers'.
#include "runtime/worker/WorkerMeasurer.h"

#include "runtime/worker/OutputCheck.h"

namespace autotune {

using worker::KernelTask;

namespace {

Measurement toMeasurement(const worker::Timing &timing) {
  return {timing.medianNs, timing.madNs, timing.samples};
}

Failure toFailure(const worker::Reply &reply) {
  if (const auto *failure = std::get_if<worker::WorkerFailure>(&reply))
    return {failure->stage, failure->reason};
  return {"worker", "an answer to another question"};
}

} // namespace

llvm::Expected<const KernelTask *> WorkerMeasurer::findTask(const Workload &workload) {
  std::string key = workload.key();
  auto known = tasks.find(key);
  if (known != tasks.end())
    return &known->second;
  llvm::Expected<MeasuredKernel> kernel = source(workload);
  if (!kernel)
    return kernel.takeError();
  KernelTask task;
  task.id = key;
  task.kernel = std::move(kernel->text);
  task.workload = workload.text();
  if (kernel->reference)
    task.referenceSchedule = kernel->reference->text();
  task.args = std::move(kernel->args);
  task.check = worker::checkPolicyFor(workload);
  task.threads = workload.threads;
  task.streamedWeightBytes = kernel->streamedWeightBytes;
  return &tasks.emplace(key, std::move(task)).first->second;
}

llvm::Expected<std::vector<Outcome>> WorkerMeasurer::measure(const Workload &workload,
                                                             llvm::ArrayRef<Schedule> schedules) {
  llvm::Expected<const KernelTask *> task = findTask(workload);
  if (!task)
    return task.takeError();
  std::vector<std::string> texts;
  for (const Schedule &schedule : schedules)
    texts.push_back(schedule.text());
  llvm::Expected<std::vector<worker::Reply>> replies = pipeline->measure(**task, texts);
  if (!replies)
    return replies.takeError();
  std::vector<Outcome> outcomes;
  for (const worker::Reply &reply : *replies) {
    if (const auto *timing = std::get_if<worker::Timing>(&reply))
      outcomes.emplace_back(toMeasurement(*timing));
    else
      outcomes.emplace_back(toFailure(reply));
  }
  return outcomes;
}

llvm::Expected<ComparisonOutcome> WorkerMeasurer::confirm(const Workload &workload, const Schedule &first,
                                                          const Schedule &second) {
  llvm::Expected<const KernelTask *> task = findTask(workload);
  if (!task)
    return task.takeError();
  llvm::Expected<worker::Reply> reply = pipeline->confirm(**task, first.text(), second.text());
  if (!reply)
    return reply.takeError();
  const auto *paired = std::get_if<worker::PairedTiming>(&*reply);
  if (!paired)
    return ComparisonOutcome(toFailure(*reply));
  Comparison comparison;
  comparison.ratio = paired->ratio;
  comparison.low = paired->low;
  comparison.high = paired->high;
  comparison.first = toMeasurement(paired->first);
  comparison.second = toMeasurement(paired->second);
  comparison.standard = worker::standardName((*task)->check);
  comparison.metrics = {{"max_error", paired->check.maxError}, {"bound_share", paired->check.boundShare}};
  return ComparisonOutcome(std::move(comparison));
}

} // namespace autotune
