// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small convolutional model with its weights, its partitions and its answer.
#pragma once

#include "runtime/build/ModelPlan.h"
#include "schedule/Schedule.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace autotune::test {

/// Each of `count` operators by itself and plain.
Partition singleOperators(int count);

/// Pads, convolves 3x3, cuts at zero, adds the input again, averages over space, multiplies to ten classes:
/// x [1, 16, 6, 6] -> mean [1, 16], classes [1, 10].
class TestModel {
public:
  TestModel();

  std::string text() const;
  /// The numbered module of `text`, in a context that lives as long as this object.
  mlir::ModuleOp module();
  Partition plainPartition() const { return singleOperators(7); }
  /// Blocks of eight channels, tails with their roots.
  Partition blockedPartition() const;

  struct Answer {
    std::vector<float> mean, classes;
  };
  Answer compute(const std::vector<float> &x) const;

  static constexpr int64_t kChannels = 16, kSize = 6, kClasses = 10;

private:
  std::vector<float> filter, bias, weights;
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> parsed;
};

/// A model that takes next to no time: x [8, 8] and y [8, 8] are multiplied by one constant matrix of ones
/// (operators "first" and "second") and added ("sum").
std::string twinsText();
/// Channels that fill no block of eight: three of an image, ten, ten, twelve; strides, a depthwise convolution and a
/// padded maximum. x [1, 3, 9, 9] -> y [1, 12, 2, 2]. Nine operators; `oddChannelsPartition` blocks all of them.
std::string oddChannelsText();
Partition oddChannelsPartition(int block);
/// `text` as a module whose @main is numbered; fails the test when it does not parse.
mlir::OwningOpRef<mlir::ModuleOp> parseModel(mlir::MLIRContext &context, const std::string &text);
/// The first value of every knob: always legal.
llvm::Expected<Schedule> firstSchedule(const Workload &workload);
/// For one thread of a machine with AVX2.
PlanOptions planOptions();

} // namespace autotune::test
