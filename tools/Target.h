// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device and thread count that a configuration stands for on this machine.
#pragma once

#include "schedule/Device.h"
#include "schedule/Workload.h"
#include "tools/Config.h"

namespace autotune {

/// Error: the machine lacks the ISA asked for.
llvm::Expected<Device> targetDevice(const TargetConfig &target);
/// 0 stands for the physical cores.
int targetThreads(const TargetConfig &target, const Device &device);
Numerics targetNumerics(const TargetConfig &target);

} // namespace autotune
