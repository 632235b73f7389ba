// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// autotune-bench-runner: keeps one compiled model loaded and runs it as often as its standard input says.
#include "runtime/deploy/autotune_runtime.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string &message) {
  std::cerr << "autotune-bench-runner: " << message << std::endl;
  std::exit(1);
}

void check(autotune_status status) {
  if (status != AUTOTUNE_OK)
    fail(autotune_last_error());
}

struct Tensor {
  autotune_tensor_info info{};
  std::vector<char> bytes;
};

nlohmann::json describe(const std::vector<Tensor> &tensors) {
  nlohmann::json list = nlohmann::json::array();
  for (const Tensor &tensor : tensors)
    list.push_back({{"name", tensor.info.name},
                    {"dtype", tensor.info.dtype_name},
                    {"shape", std::vector<int64_t>(tensor.info.dims, tensor.info.dims + tensor.info.rank)},
                    {"bytes", tensor.info.bytes}});
  return list;
}

/// A loaded model, the first of its profiles.
class Runner {
public:
  Runner(const std::string &path, int threads) {
    auto start = std::chrono::steady_clock::now();
    check(autotune_model_load(path.c_str(), AUTOTUNE_LOAD_DEFAULT, &model));
    check(autotune_session_create(model, threads, &session));
    loadMs = millisecondsSince(start);
    for (size_t i = 0; i < autotune_model_input_count(model, 0); ++i)
      check(autotune_model_input(model, 0, i, &inputs.emplace_back().info));
    for (size_t i = 0; i < autotune_model_output_count(model, 0); ++i)
      check(autotune_model_output(model, 0, i, &outputs.emplace_back().info));
    for (Tensor &tensor : inputs)
      inputAddresses.push_back(allocate(tensor));
    for (Tensor &tensor : outputs)
      outputAddresses.push_back(allocate(tensor));
  }
  ~Runner() {
    autotune_session_free(session);
    autotune_model_free(model);
  }
  Runner(const Runner &) = delete;
  Runner &operator=(const Runner &) = delete;

  std::string description() const {
    return nlohmann::json{{"threads", autotune_session_threads(session)},
                          {"load_ms", loadMs},
                          {"runtime_version", autotune_runtime_version()},
                          {"inputs", describe(inputs)},
                          {"outputs", describe(outputs)}}
        .dump();
  }

  double runMs() {
    auto start = std::chrono::steady_clock::now();
    check(autotune_session_run(session, 0, inputAddresses.data(), inputAddresses.size(),
                               outputAddresses.data(), outputAddresses.size()));
    return millisecondsSince(start);
  }

  void readInputs(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    for (Tensor &tensor : inputs)
      if (!file.read(tensor.bytes.data(), std::streamsize(tensor.info.bytes)))
        fail(path + ": too short for the inputs");
  }
  void writeOutputs(const std::string &path) const {
    std::ofstream file(path, std::ios::binary);
    for (const Tensor &tensor : outputs)
      file.write(tensor.bytes.data(), std::streamsize(tensor.info.bytes));
    if (!file.flush())
      fail(path + ": cannot be written");
  }

private:
  static double millisecondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  }
  static void *allocate(Tensor &tensor) {
    tensor.bytes.resize(tensor.info.bytes);
    return tensor.bytes.data();
  }

  autotune_model *model = nullptr;
  autotune_session *session = nullptr;
  double loadMs = 0;
  std::vector<Tensor> inputs, outputs;
  std::vector<const void *> inputAddresses;
  std::vector<void *> outputAddresses;
};

/// Answers one line: latencies in milliseconds for "run", "ok" for the rest.
std::string answer(Runner &runner, const std::string &line) {
  size_t blank = line.find(' ');
  std::string word = line.substr(0, blank), argument = blank == line.npos ? "" : line.substr(blank + 1);
  if (word == "inputs") {
    runner.readInputs(argument);
    return "ok";
  }
  if (word == "outputs") {
    runner.writeOutputs(argument);
    return "ok";
  }
  if (word != "run")
    fail("found '" + line + "', expected run N, inputs FILE or outputs FILE");
  std::ostringstream latencies;
  latencies.precision(9);
  for (int left = std::atoi(argument.c_str()); left > 0; --left)
    latencies << runner.runMs() << (left > 1 ? " " : "");
  return latencies.str();
}

} // namespace

int main(int argc, char **argv) {
  int threads = 0;
  if (argc == 4 && std::strcmp(argv[2], "--threads") == 0)
    threads = std::atoi(argv[3]);
  else if (argc != 2)
    fail("expected MODEL.so [--threads N]");
  Runner runner(argv[1], threads);
  std::cout << runner.description() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(runner, line) << std::endl;
}
