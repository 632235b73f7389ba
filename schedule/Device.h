// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device: what code is generated for and where it is measured.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>

namespace autotune {

enum class Isa { Avx2, Avx512 };

/// Figures measured on the device; stored beside the key and never part of it.
struct DevicePeaks {
  double fmaGflops = 0;            // f32, one core
  double l1GBs = 0, l2GBs = 0;     // read bandwidth of one core
  double memoryGBs = 0;            // read bandwidth of one core from memory
  double forkJoinNs = 0;           // cost of one parallel step over all threads
};

struct Device {
  std::string vendor;   // "AuthenticAMD"
  int family = 0, model = 0;
  Isa isa = Isa::Avx2;  // the one that code is generated for, not the widest the machine has
  int64_t l1Bytes = 0, l2Bytes = 0, l3Bytes = 0;  // l1, l2 of one core; l3 shared
  int cores = 1;                                   // physical
  std::optional<DevicePeaks> peaks;

  int vectorBytes() const { return isa == Isa::Avx512 ? 64 : 32; }
  /// Of a vector, what one unit computes or loads in a cycle. Zen 4 (AMD's family 25 has AVX-512 from there on)
  /// takes AVX-512 in halves.
  int datapathBytes() const { return vendor == "AuthenticAMD" && family == 25 ? 32 : vectorBytes(); }
  int vectorRegisters() const { return isa == Isa::Avx512 ? 32 : 16; }

  /// "amd-25-1-avx2-l1_32k-l2_512k": vendor, family, model, ISA used, L1 and L2; a legal folder name.
  std::string key() const;
};

/// What this machine is (hwloc and cpuid). Error: neither AVX2+FMA nor AVX-512, or `isa` wider than the machine's.
llvm::Expected<Device> detectDevice(std::optional<Isa> isa = std::nullopt);
/// "avx2" / "avx512".
llvm::StringRef isaName(Isa isa);

} // namespace autotune
