// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "benchmarks/operators/OneDnn.h"

#include "benchmarks/Turns.h"
#include "benchmarks/operators/OneDnnRecipe.h"
#include "schedule/Errors.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>
#include <dlfcn.h>
#include <unordered_map>

namespace autotune::benchmarks {
namespace {

constexpr int kQuickRuns = 5;

using Clock = std::chrono::steady_clock;

double nsBetween(Clock::time_point start, Clock::time_point end) {
  return std::chrono::duration<double, std::nano>(end - start).count();
}

void copyTo(dnnl::memory &memory, const std::vector<float> &values) {
  std::copy(values.begin(), values.end(), static_cast<float *>(memory.get_data_handle()));
}

class OneDnnOperator : public PeerOperator {
public:
  OneDnnOperator(const dnnl::engine &engine, const Recipe &recipe)
      : stream(engine), primitive(recipe.primitive), name(recipe.implementation) {
    for (const RecipeArgument &argument : recipe.arguments)
      add(engine, argument);
  }

  std::string implementation() const override { return name; }

  RunTimes run() override {
    auto begin = Clock::now();
    for (Conversion &conversion : before)
      conversion.run(stream);
    auto start = Clock::now();
    primitive.execute(stream, arguments);
    stream.wait();
    auto end = Clock::now();
    for (Conversion &conversion : after)
      conversion.run(stream);
    return {nsBetween(start, end), nsBetween(begin, start) + nsBetween(end, Clock::now())};
  }

  std::vector<float> output() const override {
    const auto *begin = static_cast<const float *>(result.get_data_handle());
    return {begin, begin + result.get_desc().get_size() / sizeof(float)};
  }

private:
  struct Conversion {
    dnnl::memory from, to;
    dnnl::reorder reorder;

    Conversion(dnnl::memory source, dnnl::memory target)
        : from(std::move(source)), to(std::move(target)), reorder(from, to) {}
    void run(dnnl::stream &stream) {
      reorder.execute(stream, from, to);
      stream.wait();
    }
  };

  void add(const dnnl::engine &engine, const RecipeArgument &argument) {
    dnnl::memory given(argument.given, engine);
    bool same = argument.given == argument.wanted;
    dnnl::memory wanted = same ? given : dnnl::memory(argument.wanted, engine);
    arguments.insert({argument.argument, wanted});
    if (!argument.values) {
      result = given;
      if (!same)
        after.emplace_back(wanted, given);
      return;
    }
    copyTo(given, *argument.values);
    if (same)
      return;
    Conversion conversion(given, wanted);
    if (argument.constant)
      conversion.run(stream);
    else
      before.push_back(conversion);
  }

  dnnl::stream stream;
  dnnl::primitive primitive;
  std::string name;
  std::unordered_map<int, dnnl::memory> arguments;
  std::vector<Conversion> before, after;
  dnnl::memory result;
};

/// oneDNN takes as many threads as OpenMP has, and brings its OpenMP along.
void setThreads(int threads) {
  if (auto *set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")))
    set(threads);
}

} // namespace

std::optional<std::string> oneDnnVersion() {
  const dnnl_version_t *version = dnnl_version();
  return llvm::formatv("{0}.{1}.{2}", version->major, version->minor, version->patch).str();
}

llvm::Expected<std::unique_ptr<PeerOperator>> makeOneDnnOperator(const Operator &op, const OperatorData &data,
                                                                 int threads) {
  setThreads(threads);
  try {
    dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    std::unique_ptr<OneDnnOperator> best;
    double bestNs = 0;
    for (const Recipe &recipe : oneDnnRecipes(engine, op, data)) {
      auto candidate = std::make_unique<OneDnnOperator>(engine, recipe);
      double ns = shortestNs(*candidate, kQuickRuns, threads);
      if (best && ns >= bestNs)
        continue;
      best = std::move(candidate);
      bestNs = ns;
    }
    return best;
  } catch (const dnnl::error &error) {
    return makeError("oneDNN: {0}", error.what());
  }
}

} // namespace autotune::benchmarks
