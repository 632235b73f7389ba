// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/MemoryCheck.h"

#include "runtime/deploy/MemoryLimit.h"

namespace autotune {
namespace {

/// Shapes of users may multiply to more than 64 bits hold.
double bytesOf(const std::vector<PlanTensor> &tensors) {
  double sum = 0;
  for (const PlanTensor &tensor : tensors) {
    auto bytes = double(elementBytes(tensor.dtype));
    for (int64_t extent : tensor.shape)
      bytes *= double(extent);
    sum += bytes;
  }
  return sum;
}

} // namespace

llvm::Error checkMemory(const ImportedModel &model, const ModelPlan &plan) {
  double tensors = std::min(bytesOf(plan.inputs) + bytesOf(plan.outputs), 9e18);
  std::string shortage =
      deploy::explainMemoryShortage({uint64_t(plan.arenaBytes), uint64_t(tensors)}, deploy::memoryLimit());
  if (shortage.empty())
    return llvm::Error::success();
  return llvm::createStringError(model.path + ": an inference " + shortage);
}

} // namespace autotune
