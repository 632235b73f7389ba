// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Benchmark.h"

#include "runtime/deploy/MemoryLimit.h"
#include "runtime/deploy/RuntimeError.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

namespace autotune {
namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::vector<std::byte> makeInput(const deploy::TensorSpec &spec, unsigned seed) {
  std::vector<std::byte> bytes(spec.bytes);
  if (spec.dtype != AUTOTUNE_F32)
    return bytes;
  std::minstd_rand random(seed + 1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
    float value = uniform(random);
    std::memcpy(&bytes[i], &value, sizeof(float));
  }
  return bytes;
}

void requireMemory(const deploy::ProfileSpec &profile) {
  deploy::MemoryNeed need{profile.arenaBytes, 0};
  for (const std::vector<deploy::TensorSpec> *tensors : {&profile.inputs, &profile.outputs})
    for (const deploy::TensorSpec &tensor : *tensors)
      need.inputsAndOutputs += tensor.bytes;
  if (std::string shortage = deploy::explainMemoryShortage(need, deploy::memoryLimit()); !shortage.empty())
    throw deploy::RuntimeError(AUTOTUNE_ERROR_MEMORY, "an inference " + shortage);
}

} // namespace

Latency summarize(std::vector<double> samplesNs) {
  std::sort(samplesNs.begin(), samplesNs.end());
  // Nearest rank: the smallest sample that a share of the samples does not exceed.
  auto at = [&](double share) {
    return samplesNs[size_t(std::ceil(share * double(samplesNs.size()))) - 1] / 1e6;
  };
  return {samplesNs.front() / 1e6, at(0.5), at(0.9)};
}

BenchmarkRun::BenchmarkRun(std::shared_ptr<const deploy::Model> model, size_t profile, int threads)
    : session(model, threads), profile(profile) {
  const deploy::ProfileSpec &spec = model->profile(profile);
  requireMemory(spec);
  buffers.reserve(spec.inputs.size() + spec.outputs.size());
  for (const deploy::TensorSpec &input : spec.inputs)
    inputs.push_back(buffers.emplace_back(makeInput(input, unsigned(buffers.size()))).data());
  for (const deploy::TensorSpec &output : spec.outputs)
    outputs.push_back(buffers.emplace_back(output.bytes).data());
}

double BenchmarkRun::timeNs() { return timeStepsNs({}); }

double BenchmarkRun::timeStepsNs(std::span<int64_t> steps) {
  Clock::time_point start = Clock::now();
  session.run(profile, inputs, outputs, steps);
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

std::vector<HostTensor> BenchmarkRun::outputTensors() const {
  std::vector<HostTensor> tensors;
  for (const deploy::TensorSpec &spec : session.model().profile(profile).outputs) {
    const char *begin = static_cast<const char *>(outputs[tensors.size()]);
    tensors.push_back({spec.name, spec.dtypeName, spec.shape, std::vector<char>(begin, begin + spec.bytes)});
  }
  return tensors;
}

std::vector<std::vector<double>> timeInterleaved(const std::vector<BenchmarkRun *> &programs,
                                                 const BenchmarkOptions &options) {
  for (Clock::time_point start = Clock::now();
       secondsSince(start) < options.warmUpSeconds * double(programs.size());)
    for (BenchmarkRun *program : programs)
      program->timeNs();
  std::vector<std::vector<double>> samples(programs.size());
  Clock::time_point start = Clock::now();
  while (samples.front().size() < options.minRuns ||
         secondsSince(start) < options.seconds * double(programs.size()))
    for (size_t i = 0; i < programs.size(); ++i)
      samples[i].push_back(programs[i]->timeNs());
  return samples;
}

llvm::json::Object benchmarkJson(const std::string &model, int threads, size_t runs, const Latency &latency) {
  return llvm::json::Object{
      {"schema_version", 1},
      {"model", model},
      {"threads", threads},
      {"runs", int64_t(runs)},
      {"latency_ms",
       llvm::json::Object{{"min", latency.minMs}, {"median", latency.medianMs}, {"p90", latency.p90Ms}}},
  };
}

} // namespace autotune
