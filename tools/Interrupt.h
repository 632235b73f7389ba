// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ctrl-C: the first asks to stop, the second leaves at once.
#pragma once

#include <atomic>

namespace autotune {

/// Takes over SIGINT and SIGTERM. The flag becomes true at the first; the process exits with 130 at the
/// second. Files are only ever renamed into place when complete, so leaving at once loses nothing but the
/// work in flight.
const std::atomic<bool> &installInterruptHandler();

} // namespace autotune
