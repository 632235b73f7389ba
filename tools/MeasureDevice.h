// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures what a device can do at best, and how steady its clock is.
#pragma once

#include "schedule/Device.h"

namespace autotune {

/// Takes about half a second. Needs the device's ISA on this machine (`detectDevice` made sure). `threads`:
/// of the parallel steps whose cost is measured.
DevicePeaks measurePeaks(const Device &device, int threads);

/// One sample of the f32 multiply-add peak of the calling thread's core; takes about a millisecond.
double sampleFmaGflops(Isa isa);

/// Read bandwidth of the calling thread over `bytes` that it reads again and again: of the cache that holds
/// them, or of the memory.
double measureReadGBs(const Device &device, int64_t bytes);

/// Times of one fixed loop of about a millisecond, relative to their median.
struct DeviceNoise {
  double spreadPercent = 0; // median absolute deviation
  double p90Percent = 0;    // how much slower the slowest tenth is, at least
};
DeviceNoise measureNoise(const Device &device);

} // namespace autotune
