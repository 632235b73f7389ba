// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The session times each step.
#include "benchmarks/CompiledProblem.h"

#include <algorithm>

namespace autotune::benchmarks {

CompiledProblem::CompiledProblem(const std::string &path, std::vector<bool> counted, int threads)
    : session(std::make_shared<deploy::Model>(path), threads), counted(std::move(counted)),
      stepNs(this->counted.size()) {
  const deploy::ProfileSpec &profile = session.model().profile(0);
  for (const deploy::TensorSpec &spec : profile.inputs)
    inputs.push_back(makeBuffer(spec));
  for (const deploy::TensorSpec &spec : profile.outputs)
    outputs.push_back(makeBuffer(spec));
}

void *CompiledProblem::makeBuffer(const deploy::TensorSpec &spec) {
  return buffers.emplace_back((spec.bytes + sizeof(Line) - 1) / sizeof(Line)).data();
}

void CompiledProblem::setInputs(const std::vector<std::vector<float>> &values) {
  for (size_t i = 0; i < values.size(); ++i)
    std::copy(values[i].begin(), values[i].end(), buffers[i].front().values);
}

RunTimes CompiledProblem::run() {
  session.run(0, inputs, outputs, stepNs);
  RunTimes times;
  for (size_t step = 0; step < stepNs.size(); ++step)
    (counted[step] ? times.counted : times.others) += double(stepNs[step]);
  return times;
}

std::vector<float> CompiledProblem::output() const {
  const auto *begin = static_cast<const float *>(outputs.front());
  return {begin, begin + session.model().profile(0).outputs.front().bytes / sizeof(float)};
}

} // namespace autotune::benchmarks
