// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loaded model: code, constants and checked manifest. Immutable, so any number of sessions may share it.
#pragma once

#include "runtime/deploy/ArtifactImage.h"
#include "runtime/deploy/CpuFeatures.h"
#include "runtime/deploy/Manifest.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace autotune::deploy {

class Model {
public:
  /// Throws RuntimeError: no artifact, damaged, another version, or code that this processor cannot run.
  /// `cpu`: of the processor that is to run it.
  explicit Model(const std::string &path, bool verifyConstants = false,
                 const CpuFeatures &cpu = CpuFeatures::host());

  const Manifest &manifest() const { return contents; }
  const char *manifestText() const { return image.description().manifest; }
  /// Throws RuntimeError (AUTOTUNE_ERROR_ARGUMENT) if out of range.
  const ProfileSpec &profile(size_t index) const;
  /// The profile whose inputs have these shapes. Throws RuntimeError (AUTOTUNE_ERROR_SHAPE) that lists the
  /// profiles.
  size_t findProfile(std::span<const std::vector<int64_t>> shapes) const;

  AutotuneKernel kernel(uint32_t index) const { return image.description().kernels[index]; }
  const std::byte *constants() const { return image.constants().data(); }

private:
  ArtifactImage image;
  Manifest contents;
};

} // namespace autotune::deploy
