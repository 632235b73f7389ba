// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tuner and its worker processes say to each other: one JSON object a line, one reply to each
// request.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace autotune::worker {

enum class ArgRole {
  Input,  // an activation: in cache as its producer left it
  Weight, // a constant: streamed from beyond the L2 cache
  Output,
};

/// A buffer that the kernel is given, in the order of its arguments.
struct KernelArg {
  ArgRole role = ArgRole::Input;
  std::string dtype; // MLIR spelling
  int64_t bytes = 0;
  /// m of filters that are transformed for Winograd's F(m x m, 3 x 3); 0 for any other data. Only the
  /// transforms of filters mean something to such a kernel, not any numbers. Values of one point stand together
  /// for `winogradFilters` filters, then come those of the next point.
  int64_t winogradOutputs = 0, winogradFilters = 0;
  /// Floats are between minus and plus this. Weights that a recurrence multiplies its state with again and again
  /// are small: otherwise roundings grow from step to step, and candidates no longer agree with the reference.
  double scale = 1;
};

/// How outputs are compared with the reference's; see OutputCheck.h.
enum class CheckKind { Exact, Elementwise, Reduction, Contraction };

struct CheckPolicy {
  CheckKind kind = CheckKind::Exact;
  int64_t reductionSize = 1; // values summed up for one output element
};

/// What all candidates of one workload share.
struct KernelTask {
  std::string id;                               // the workload's key
  std::string kernel;                           // MLIR text of the kernel
  std::string workload;                         // canonical text
  std::optional<std::string> referenceSchedule; // none: the plain build
  std::vector<KernelArg> args;
  CheckPolicy check;
  int threads = 1;
  /// Bytes of weights that the model streams between two runs of this kernel; copies of the weights are
  /// rotated until they are at least that much.
  int64_t streamedWeightBytes = 0;
};

/// Asks for one kernel: no schedule means the plain reference build.
struct BuildRequest {
  std::string kernel;
  std::string workload;
  std::optional<std::string> schedule;
  std::string path; // where the shared library is to be written
};

/// A kernel in a shared library.
struct BuiltKernel {
  std::string path;
  std::string symbol;
  int64_t chunks = 1;
};

/// Makes `request` the current task: inputs are drawn, the reference is run and its outputs kept.
struct PrepareRequest {
  KernelTask task;
  BuiltKernel reference;
};

struct TimingLimits {
  int minSamples = 5;
  int maxSamples = 60;
  int64_t budgetNs = 60'000'000; // stop then, stable or not, once there are `minSamples`
  int64_t slowNs = 0; // a kernel whose run takes longer is not worth more than one sample; 0: no limit
};

/// Checks and times a candidate of the current task.
struct MeasureRequest {
  BuiltKernel kernel;
  TimingLimits limits;
};

/// Checks two candidates of the current task and times them in turns.
struct ConfirmRequest {
  BuiltKernel first, second;
  int pairs = 15;
};

using Request = std::variant<BuildRequest, PrepareRequest, MeasureRequest, ConfirmRequest>;

struct Prepared {};

/// Time of one run of a kernel.
struct Timing {
  double medianNs = 0;
  double madNs = 0; // median absolute deviation
  int samples = 0;
};

/// How far a checked output was from the reference's.
struct CheckMetrics {
  double maxError = 0;   // absolute
  double boundShare = 0; // largest share of the allowed error that an element used, 0 to 1

  void include(double error, double allowed) {
    maxError = std::max(maxError, error);
    if (allowed > 0)
      boundShare = std::max(boundShare, error / allowed);
  }
};

/// `ratio` is the median over pairs of first / second: above 1, the second is faster. 95 % bootstrap
/// interval.
struct PairedTiming {
  double ratio = 1, low = 1, high = 1;
  Timing first, second;
  CheckMetrics check; // of the second
};

struct WorkerFailure {
  std::string stage; // "compile", "load", "check", "reference", "crash", "timeout", "worker"
  std::string reason;
};

using Reply = std::variant<BuiltKernel, Prepared, Timing, PairedTiming, WorkerFailure>;

/// One line without its end. Text that is not UTF-8 is repaired.
std::string encode(const Request &request);
std::string encode(const Reply &reply);
/// Errors say what is wrong with the line; they mean that the two sides do not fit together.
llvm::Expected<Request> decodeRequest(llvm::StringRef line);
llvm::Expected<Reply> decodeReply(llvm::StringRef line);

} // namespace autotune::worker
