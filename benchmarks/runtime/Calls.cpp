// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/runtime/Calls.h"

#include "benchmarks/ThreadClock.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>

namespace autotune::benchmarks {
namespace {

constexpr int kRunsBetweenClocks = 16;

void check(autotune_status status) {
  if (status != AUTOTUNE_OK)
    throw std::runtime_error(autotune_last_error());
}

autotune_session *createSession(autotune_model *model, int threads) {
  autotune_session *session = nullptr;
  check(autotune_session_create(model, threads, &session));
  return session;
}

} // namespace

double steadyNs() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

LoadedModel loadModel(const std::string &path) {
  autotune_model *model = nullptr;
  check(autotune_model_load(path.c_str(), AUTOTUNE_LOAD_DEFAULT, &model));
  return {model, &autotune_model_free};
}

ModelCalls::ModelCalls(autotune_model *model, int threads)
    : session(createSession(model, threads), &autotune_session_free) {
  for (Buffers &set : buffers) {
    autotune_tensor_info info;
    for (size_t i = 0; i < autotune_model_input_count(model, 0); ++i) {
      check(autotune_model_input(model, 0, i, &info));
      set.inputs.emplace_back(info.bytes / sizeof(float), 0.25f);
    }
    for (size_t i = 0; i < autotune_model_output_count(model, 0); ++i) {
      check(autotune_model_output(model, 0, i, &info));
      set.outputs.emplace_back(info.bytes / sizeof(float));
    }
    for (const std::vector<float> &tensor : set.inputs)
      set.inputAddresses.push_back(tensor.data());
    for (std::vector<float> &tensor : set.outputs)
      set.outputAddresses.push_back(tensor.data());
  }
  kept = buffers[0].inputs;
  kept.insert(kept.end(), buffers[0].outputs.begin(), buffers[0].outputs.end());
}

void ModelCalls::runOn(int set) {
  Buffers &at = buffers[set];
  check(autotune_session_run(session.get(), 0, at.inputAddresses.data(), at.inputAddresses.size(),
                             at.outputAddresses.data(), at.outputAddresses.size()));
}

void ModelCalls::runWithCopies() {
  Buffers &at = buffers[0];
  for (size_t i = 0; i < at.inputs.size(); ++i)
    std::copy(kept[i].begin(), kept[i].end(), at.inputs[i].begin());
  runOn(0);
  for (size_t i = 0; i < at.outputs.size(); ++i)
    std::copy(at.outputs[i].begin(), at.outputs[i].end(), kept[at.inputs.size() + i].begin());
}

LoadTime timeLoad(const std::string &path, int threads) {
  double start = steadyNs();
  LoadedModel model = loadModel(path);
  std::unique_ptr<autotune_session, decltype(&autotune_session_free)> session(
      createSession(model.get(), threads), &autotune_session_free);
  LoadTime time;
  time.loadMs = (steadyNs() - start) / 1e6;
  session.reset();
  ModelCalls calls(model.get(), threads);
  start = steadyNs();
  calls.run();
  time.firstRunMs = (steadyNs() - start) / 1e6;
  return time;
}

Throughput measureThroughput(autotune_model *model, int callers, double seconds) {
  ModelCalls alone(model, 1);
  alone.run();
  std::vector<Throughput> parts(static_cast<size_t>(callers)); // written once, at the end
  std::atomic<int> ready{0};
  auto work = [&](Throughput &part) {
    ModelCalls calls(model, 1);
    ++ready;
    while (ready.load() < callers)
      std::this_thread::yield();
    int64_t runs = 0, wrong = 0, processorNs = threadNs();
    double start = steadyNs(), end = start;
    for (; end - start < seconds * 1e9; end = steadyNs()) {
      for (int i = 0; i < kRunsBetweenClocks; ++i, ++runs) {
        calls.run();
        wrong += calls.output() != alone.output();
      }
    }
    part = {double(runs) / (end - start) * 1e9, double(threadNs() - processorNs) / (end - start), wrong};
  };
  std::vector<std::thread> threads;
  for (Throughput &part : parts)
    threads.emplace_back(work, std::ref(part));
  for (std::thread &thread : threads)
    thread.join();
  Throughput sum;
  for (const Throughput &part : parts) {
    sum.runsPerSecond += part.runsPerSecond;
    sum.processors += part.processors;
    sum.wrongResults += part.wrongResults;
  }
  return sum;
}

} // namespace autotune::benchmarks
