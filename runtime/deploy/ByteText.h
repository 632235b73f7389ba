// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes for people.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace autotune::deploy {

/// "512 B", "9.2 MiB", "1.3 TiB".
inline std::string byteText(double bytes) {
  constexpr const char *kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < sizeof(kUnits) / sizeof(*kUnits); ++unit)
    bytes /= 1024;
  char text[64];
  std::snprintf(text, sizeof text, unit ? "%.1f %s" : "%.0f %s", bytes, kUnits[unit]);
  return text;
}

} // namespace autotune::deploy
