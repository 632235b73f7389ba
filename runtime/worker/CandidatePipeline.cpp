// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop over poll(): whoever is idle gets the next piece of work, whoever has an outcome is listened to.
#include "runtime/worker/CandidatePipeline.h"

#include "schedule/Errors.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace autotune::worker {

namespace {

constexpr llvm::StringLiteral kFolderPrefix = "autotune-candidates-";

int64_t threeQuartersOfMemory() {
  return static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) / 4 * 3 * sysconf(_SC_PAGESIZE);
}

Clock::duration nanoseconds(double value) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double, std::nano>(value));
}

WorkerFailure referenceFailure(const WorkerFailure &cause) {
  return {"reference", "the reference failed (" + cause.stage + "): " + cause.reason};
}

/// Folders of runs that were killed: their names tell whose they were.
void removeFoldersOfDeadRuns(llvm::StringRef parent) {
  std::error_code code;
  for (llvm::sys::fs::directory_iterator at(parent, code), end; !code && at != end; at.increment(code)) {
    llvm::StringRef name = llvm::sys::path::filename(at->path());
    pid_t pid = 0;
    bool ours = name.consume_front(kFolderPrefix) && !name.split('-').first.getAsInteger(10, pid) && pid > 0;
    if (ours && kill(pid, 0) != 0 && errno == ESRCH)
      (void)llvm::sys::fs::remove_directories(at->path()); // another run may be doing the same
  }
}

} // namespace

/// A kernel on its way: waiting, in a builder, built, done. `outcome` of a built one is what measuring gave.
struct CandidatePipeline::Job {
  std::optional<std::string> schedule; // none: the plain reference
  std::string path;
  WorkerProcess *builder = nullptr;
  bool waiting = true;
  std::optional<BuiltKernel> built;
  std::optional<Reply> outcome;
};

/// Jobs of one call. With `paired` the two jobs are measured by one request.
struct CandidatePipeline::Batch {
  std::deque<Job> jobs;
  Job *reference = nullptr; // among `jobs`; null when the task has its reference already
  Job *measured = nullptr;  // what the measurer is busy with; null and busy: preparing
  bool paired = false;

  bool done() const {
    return std::all_of(jobs.begin(), jobs.end(), [](const Job &job) { return job.outcome.has_value(); });
  }
  bool building() const {
    return std::any_of(jobs.begin(), jobs.end(), [](const Job &job) { return !job.outcome && !job.built; });
  }
  /// A built job, or the first of a pair when both are built. A pair is of no use with one of them failed.
  Job *nextToMeasure() {
    auto ready = [](const Job &job) { return job.built && !job.outcome; };
    if (paired) {
      for (size_t i : {0, 1})
        if (jobs[i].outcome && std::holds_alternative<WorkerFailure>(*jobs[i].outcome))
          fail(std::get<WorkerFailure>(Reply(*jobs[i].outcome)));
      return ready(jobs[0]) && ready(jobs[1]) ? &jobs[0] : nullptr;
    }
    auto job = std::find_if(jobs.begin(), jobs.end(), ready);
    return job == jobs.end() ? nullptr : &*job;
  }
  void fail(const WorkerFailure &failure) {
    for (Job &job : jobs)
      if (!job.outcome)
        job.outcome = failure;
  }
};

llvm::Expected<std::unique_ptr<CandidatePipeline>> CandidatePipeline::create(PipelineOptions options) {
  llvm::SmallString<128> parent, folder;
  llvm::sys::path::system_temp_directory(/*erasedOnReboot=*/true, parent);
  removeFoldersOfDeadRuns(parent);
  std::string name = (kFolderPrefix + llvm::Twine(getpid())).str();
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory(name, folder))
    return makeError("cannot create a temporary folder: {0}", code.message());
  if (options.memoryLimitBytes == 0)
    options.memoryLimitBytes = threeQuartersOfMemory();
  options.compileWorkers = std::max(1, options.compileWorkers);
  return std::unique_ptr<CandidatePipeline>(new CandidatePipeline(std::move(options), folder.str().str()));
}

CandidatePipeline::CandidatePipeline(PipelineOptions given, std::string folder)
    : options(std::move(given)), folder(std::move(folder)) {
  WorkerOptions workerOptions;
  workerOptions.memoryLimitBytes = options.memoryLimitBytes;
  for (int i = 0; i < options.compileWorkers; ++i)
    builders.push_back(std::make_unique<WorkerProcess>(options.command, workerOptions));
  measurer = std::make_unique<WorkerProcess>(options.command, workerOptions);
}

CandidatePipeline::~CandidatePipeline() {
  builders.clear();
  measurer.reset();
  (void)llvm::sys::fs::remove_directories(folder);
}

llvm::Expected<std::vector<Reply>> CandidatePipeline::measure(const KernelTask &task,
                                                              llvm::ArrayRef<std::string> schedules) {
  Batch batch;
  for (const std::string &schedule : schedules)
    batch.jobs.emplace_back().schedule = schedule;
  if (llvm::Error error = run(task, batch))
    return error;
  std::vector<Reply> outcomes;
  for (size_t i = 0; i < schedules.size(); ++i)
    outcomes.push_back(std::move(*batch.jobs[i].outcome));
  return outcomes;
}

llvm::Expected<Reply> CandidatePipeline::confirm(const KernelTask &task, const std::string &first,
                                                 const std::string &second) {
  Batch batch;
  batch.paired = true;
  batch.jobs.emplace_back().schedule = first;
  batch.jobs.emplace_back().schedule = second;
  if (llvm::Error error = run(task, batch))
    return error;
  // A failure of either is the outcome; otherwise both hold the same.
  bool firstFailed = std::holds_alternative<WorkerFailure>(*batch.jobs[0].outcome);
  return std::move(*batch.jobs[firstFailed ? 0 : 1].outcome);
}

llvm::Error CandidatePipeline::run(const KernelTask &task, Batch &batch) {
  if (!references.count(task.id)) {
    // Behind the candidates, but built first: see startBuilds.
    batch.reference = &batch.jobs.emplace_back();
    batch.reference->schedule = task.referenceSchedule;
  }
  std::vector<WorkerProcess *> workers = {measurer.get()};
  for (std::unique_ptr<WorkerProcess> &builder : builders)
    workers.push_back(builder.get());
  llvm::Error error = serve(task, batch, workers);
  // An outcome that nobody waits for any more must not be taken for one of the next batch.
  for (WorkerProcess *worker : workers)
    if (worker->busy())
      worker->kill();
  removeFiles(batch);
  return error;
}

llvm::Error CandidatePipeline::serve(const KernelTask &task, Batch &batch,
                                     std::span<WorkerProcess *const> workers) {
  while (true) {
    if (llvm::Error error = startBuilds(task, batch))
      return error;
    if (llvm::Error error = startMeasuring(task, batch))
      return error;
    if (batch.done())
      return llvm::Error::success();
    WorkerProcess::waitAny(workers);
    collectBuilds(batch);
    collectMeasurement(task, batch);
  }
}

llvm::Error CandidatePipeline::startBuilds(const KernelTask &task, Batch &batch) {
  auto known = references.find(task.id);
  if (known != references.end() && std::holds_alternative<WorkerFailure>(known->second))
    return llvm::Error::success(); // nothing can be checked
  for (std::unique_ptr<WorkerProcess> &builder : builders) {
    if (builder->busy())
      continue;
    Job *next = batch.reference && batch.reference->waiting ? batch.reference : nullptr;
    for (Job &job : batch.jobs)
      if (!next && job.waiting && !job.outcome)
        next = &job;
    if (!next)
      break;
    next->waiting = false;
    next->builder = builder.get();
    next->path = folder + "/" + std::to_string(nextFile++) + ".so";
    BuildRequest request{task.kernel, task.workload, next->schedule, next->path};
    if (llvm::Error error = builder->start(request, options.compileLimit, "compiling"))
      return error;
  }
  return llvm::Error::success();
}

void CandidatePipeline::collectBuilds(Batch &batch) {
  for (Job &job : batch.jobs) {
    if (!job.builder)
      continue;
    std::optional<Reply> reply = job.builder->poll();
    if (!reply)
      continue;
    job.builder = nullptr;
    if (auto *built = std::get_if<BuiltKernel>(&*reply))
      job.built = std::move(*built);
    else if (std::holds_alternative<WorkerFailure>(*reply))
      job.outcome = std::move(*reply);
    else
      job.outcome = WorkerFailure{"worker", "compiling: an answer to another question"};
  }
}

bool CandidatePipeline::prepared(const KernelTask &task) const {
  return preparedTask == task.id && preparedGeneration == measurer->generation();
}

Clock::duration CandidatePipeline::measureLimit(const KernelTask &task) const {
  auto best = bestNs.find(task.id);
  if (best == bestNs.end())
    return options.firstMeasureLimit;
  // The check, a warm-up, one slow sample, each at the limit; and what a good one may use for its samples.
  return std::max(options.leastMeasureLimit, nanoseconds(best->second * options.slowFactor * 8) +
                                                 std::chrono::nanoseconds(options.timing.budgetNs) * 4);
}

Request CandidatePipeline::measuringRequest(const KernelTask &task, const Batch &batch,
                                            const Job &job) const {
  if (batch.paired)
    return ConfirmRequest{*batch.jobs[0].built, *batch.jobs[1].built, options.confirmPairs};
  MeasureRequest request{*job.built, options.timing};
  auto best = bestNs.find(task.id);
  if (best != bestNs.end())
    request.limits.slowNs = static_cast<int64_t>(best->second * options.slowFactor);
  return request;
}

const Reply *CandidatePipeline::findReference(const KernelTask &task, Batch &batch) {
  auto known = references.find(task.id);
  if (known != references.end())
    return &known->second;
  Job &job = *batch.reference;
  if (job.outcome)
    return &references.emplace(task.id, referenceFailure(std::get<WorkerFailure>(*job.outcome)))
                .first->second;
  if (!job.built)
    return nullptr;
  job.outcome = Prepared{};
  return &references.emplace(task.id, *job.built).first->second;
}

llvm::Error CandidatePipeline::startMeasuring(const KernelTask &task, Batch &batch) {
  if (measurer->busy())
    return llvm::Error::success();
  const Reply *reference = findReference(task, batch);
  if (!reference)
    return llvm::Error::success();
  if (const auto *failure = std::get_if<WorkerFailure>(reference))
    batch.fail(*failure);
  if (!options.overlap && batch.building())
    return llvm::Error::success();
  Job *job = batch.nextToMeasure();
  if (!job)
    return llvm::Error::success();
  if (llvm::Error error = measurer->ensureRunning())
    return error;
  if (!prepared(task)) {
    batch.measured = nullptr;
    PrepareRequest request{task, std::get<BuiltKernel>(*reference)};
    return measurer->start(request, options.referenceLimit, "running the reference");
  }
  batch.measured = job;
  return measurer->start(measuringRequest(task, batch, *job), measureLimit(task), "measuring");
}

void CandidatePipeline::collectMeasurement(const KernelTask &task, Batch &batch) {
  std::optional<Reply> reply = measurer->poll();
  if (!reply)
    return;
  if (!batch.measured) {
    if (const auto *failure = std::get_if<WorkerFailure>(&*reply)) {
      references[task.id] = referenceFailure(*failure);
      batch.fail(std::get<WorkerFailure>(references[task.id]));
    } else {
      preparedTask = task.id;
      preparedGeneration = measurer->generation();
    }
    return;
  }
  if (const auto *timing = std::get_if<Timing>(&*reply)) {
    auto [best, isNew] = bestNs.emplace(task.id, timing->medianNs);
    best->second = std::min(best->second, timing->medianNs);
  }
  batch.measured->outcome = *reply;
  if (batch.paired)
    batch.jobs[1].outcome = *reply;
  batch.measured = nullptr;
}

void CandidatePipeline::removeFiles(Batch &batch) {
  for (Job &job : batch.jobs)
    if (&job != batch.reference && !job.path.empty())
      (void)llvm::sys::fs::remove(job.path);
}

std::vector<int> CandidatePipeline::workerPids() const {
  std::vector<int> pids;
  auto add = [&](const WorkerProcess &worker) {
    if (worker.pid() >= 0)
      pids.push_back(worker.pid());
  };
  for (const std::unique_ptr<WorkerProcess> &builder : builders)
    add(*builder);
  add(*measurer);
  return pids;
}

} // namespace autotune::worker
