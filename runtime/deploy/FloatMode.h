// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The floating-point mode that kernels run in, whatever mode their caller is in.
#pragma once

#include <immintrin.h>

namespace autotune::deploy {

/// What becomes of numbers below the least normal one, in operands and results.
enum class Denormals {
  Flushed, // they are zero: on many processors the exact way costs a hundred cycles for each
  Kept,    // IEEE 754
};

/// While it lives, the calling thread rounds to nearest, traps nothing, and treats denormals as said. Then
/// its MXCSR is what it was before.
class FloatMode {
public:
  explicit FloatMode(Denormals denormals) : before(_mm_getcsr()) {
    _mm_setcsr(kDefault | (denormals == Denormals::Flushed ? kFlushed : 0));
  }
  FloatMode(const FloatMode &) = delete;
  FloatMode &operator=(const FloatMode &) = delete;
  ~FloatMode() { _mm_setcsr(before); }

private:
  static constexpr unsigned kDefault = 0x1f80; // all exceptions masked, none raised, to nearest
  static constexpr unsigned kFlushed = 0x8040; // results to zero, operands are zero

  unsigned before;
};

} // namespace autotune::deploy
