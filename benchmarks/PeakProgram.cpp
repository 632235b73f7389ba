// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The project's own passes and loader; nothing is prepared for the benchmark.
#include "benchmarks/PeakProgram.h"

#include "benchmarks/ThreadClock.h"
#include "cost_model/AnalyticalModel.h"
#include "passes/ExtractGraph.h"
#include "runtime/build/FirstError.h"
#include "runtime/deploy/RuntimeError.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <limits>

namespace autotune::benchmarks {
namespace {

bool isContraction(const UniqueKernel &kernel) {
  return kernel.workload && kernel.workload->opClass == OpClass::Contraction;
}

} // namespace

PeakProgram::PeakProgram(const std::string &path, std::vector<bool> counted, double flops)
    : session(std::make_shared<deploy::Model>(path), 1), counted(std::move(counted)), flops(flops),
      stepNs(this->counted.size()), leastNs(this->counted.size(), std::numeric_limits<int64_t>::max()) {
  const deploy::ProfileSpec &profile = session.model().profile(0);
  auto makeBuffer = [&](const deploy::TensorSpec &spec) {
    std::vector<float> &buffer = buffers.emplace_back(spec.bytes / sizeof(float));
    for (size_t i = 0; i < buffer.size(); ++i)
      buffer[i] = float(i % 17) / 16 - 0.5f;
    return buffer.data();
  };
  for (const deploy::TensorSpec &spec : profile.inputs)
    inputs.push_back(makeBuffer(spec));
  for (const deploy::TensorSpec &spec : profile.outputs)
    outputs.push_back(makeBuffer(spec));
}

double PeakProgram::sample() {
  int64_t start = threadNs();
  session.run(0, inputs, outputs, stepNs);
  int64_t ns = threadNs() - start;
  // Single steps are known in wall time only: what the others take is the least that they ever took.
  for (size_t step = 0; step < stepNs.size(); ++step)
    if (!counted[step]) {
      leastNs[step] = std::min(leastNs[step], stepNs[step]);
      ns -= leastNs[step];
    }
  return flops / double(ns);
}

llvm::Expected<std::unique_ptr<ProblemCompiler>>
ProblemCompiler::create(mlir::MLIRContext &context, Problem problem, const Device &device) {
  std::unique_ptr<ProblemCompiler> result(new ProblemCompiler(std::move(problem), device));
  {
    FirstError errors(context);
    result->module = mlir::parseSourceString<mlir::ModuleOp>(result->problem.text, &context);
    if (!result->module)
      return errors.take(result->problem.name);
  }
  auto main = result->module->lookupSymbol<mlir::func::FuncOp>("main");
  Partition partition = result->problem.partition(extractGraph(main));
  llvm::Expected<ModelPlan> plan = planModel(*result->module, partition, {device, 1, Numerics::Default});
  if (!plan)
    return plan.takeError();
  result->plan = std::move(*plan);
  return result;
}

const Workload &ProblemCompiler::contraction() const {
  return *llvm::find_if(plan.kernels, isContraction)->workload;
}

std::vector<PredictedSchedule> ProblemCompiler::schedules(size_t count) const {
  return topSchedules(contraction(), buildSpace(contraction(), device), AnalyticalModel(device), count);
}

llvm::Expected<std::unique_ptr<PeakProgram>> ProblemCompiler::compile(const Schedule &schedule,
                                                                      const std::string &path) {
  AnalyticalModel model(device);
  ChooseSchedule choose = [&](const Workload &workload) -> llvm::Expected<Schedule> {
    if (workload.opClass == OpClass::Contraction)
      return schedule;
    return topSchedules(workload, buildSpace(workload, device), model, 1).front().schedule;
  };
  const ModelPlan *profile = &plan;
  if (llvm::Error error =
          compiler.compile(profile, choose, {problem.name, AUTOTUNE_VERSION, device, 1}, path))
    return std::move(error);
  double flops = 0;
  std::vector<bool> counted;
  for (const PlanStep &step : plan.steps) {
    const UniqueKernel &kernel = plan.kernels[step.kernel];
    flops += isContraction(kernel) ? kernel.workload->flops() : 0;
    counted.push_back(isContraction(kernel) || !kernel.workload);
  }
  try {
    return std::make_unique<PeakProgram>(path, std::move(counted), flops);
  } catch (const deploy::RuntimeError &error) {
    return llvm::createStringError(llvm::Twine(path) + ": " + error.what());
  }
}

} // namespace autotune::benchmarks
