// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether what was measured on one device holds on another; and the text form of devices.
#pragma once

#include "schedule/Device.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>

namespace autotune {

enum class DeviceMatchKind {
  Exact,
  Compatible, // same micro-architecture, ISA and private caches; core count or L3 differ: usable, marked
  Miss,       // not usable
};

struct DeviceMatch {
  DeviceMatchKind kind = DeviceMatchKind::Exact;
  /// Which field differs and how: "cores: 64 in the record, 2 here". Empty when exact.
  std::string difference;
};

/// `record`: where it was measured. `here`: where it would be used.
DeviceMatch compareDevices(const Device &record, const Device &here);

/// The content of device.yaml; round-trips.
std::string deviceText(const Device &device);
/// Errors say what was found and what was expected.
llvm::Expected<Device> parseDevice(llvm::StringRef text);

} // namespace autotune
