// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of a kernel under measurement, in the memory and cache state that they have in a deployed
// model.
#pragma once

#include "runtime/deploy/MappedMemory.h"
#include "runtime/worker/Protocol.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace autotune::worker {

/// Random inputs, weights in several copies, outputs between guard bytes.
///
/// Activations share one allocation with huge pages, as a session's arena does. Weights have small pages, as
/// the mapped constants of an artifact do, and exist in so many copies that using one after the other finds
/// each outside of the L2 cache. Inputs and weights are read only: a kernel that writes to them crashes.
/// Values: floats uniform in [-1, 1) times the argument's scale, i8 and ui8 0 to 127, i1 0 or 1, wider
/// integers 0 (they may be indices); filters for Winograd's algorithm are transforms of such floats. The same
/// task gives the same values in every process.
class TaskBuffers {
public:
  /// Errors: unknown dtype, a size that is no multiple of it, more memory than `memoryLimitBytes`.
  static llvm::Expected<TaskBuffers> create(const KernelTask &task, int64_t memoryLimitBytes);

  /// Argument addresses for a run, each time with the next copy of the weights.
  void *const *nextArgs() {
    void *const *args = argSets[next].data();
    next = next + 1 == argSets.size() ? 0 : next + 1;
    return args;
  }
  size_t weightCopies() const { return argSets.size(); }

  /// Overwrites all outputs and guards with a pattern (a NaN in every float type): what a kernel leaves out
  /// shows.
  void clearOutputs();
  /// Index of an output whose guard bytes were written to.
  std::optional<size_t> damagedGuard() const;
  size_t outputCount() const { return outputs.size(); }
  std::span<const std::byte> output(size_t index) const { return outputs[index]; }
  const std::string &outputDtype(size_t index) const { return outputDtypes[index]; }

private:
  TaskBuffers() = default;
  void placeWeights(const KernelTask &task, size_t copies);

  deploy::MappedMemory inputMemory, outputMemory;
  std::vector<deploy::MappedMemory> weightMemory; // one a copy
  std::vector<std::vector<void *>> argSets;       // one a copy of the weights
  std::vector<std::span<std::byte>> outputs;
  std::vector<std::string> outputDtypes;
  size_t next = 0;
};

} // namespace autotune::worker
