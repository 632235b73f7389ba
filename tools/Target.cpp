// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/Target.h"

namespace autotune {

llvm::Expected<Device> targetDevice(const TargetConfig &target) {
  if (target.isa == IsaChoice::Native)
    return detectDevice();
  return detectDevice(target.isa == IsaChoice::Avx2 ? Isa::Avx2 : Isa::Avx512);
}

int targetThreads(const TargetConfig &target, const Device &device) {
  return target.threads > 0 ? int(target.threads) : device.cores;
}

Numerics targetNumerics(const TargetConfig &target) {
  return target.numerics == NumericsChoice::Strict ? Numerics::Strict : Numerics::Default;
}

} // namespace autotune
