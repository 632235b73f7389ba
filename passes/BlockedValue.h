// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values in blocked layout: their shapes and the conversions at the borders of a chain.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace autotune {

/// How one axis of a plain tensor is split: [.., C, ..] becomes [.., ceil(C/block), .., block].
struct ChannelSplit {
  int64_t axis = 1;
  int64_t block = 8;

  mlir::RankedTensorType blockedType(mlir::RankedTensorType plain) const;
  int64_t blocks(int64_t channels) const { return (channels + block - 1) / block; }
  bool operator==(const ChannelSplit &) const = default;
};

/// Keeps the blocked twin of each plain value and makes conversions where one is missing.
class BlockedValues {
public:
  void set(mlir::Value plain, mlir::Value blocked, ChannelSplit split) { entries[plain] = {blocked, split}; }
  /// The twin under `split`; made right after the definition of `plain` when absent or split in another way.
  mlir::Value get(mlir::OpBuilder &b, mlir::Value plain, ChannelSplit split);
  bool contains(mlir::Value plain) const { return entries.contains(plain); }
  /// The plain value of `blocked`, shaped `type`: a transpose, a reshape, and a slice where channels were padded.
  static mlir::Value unpack(mlir::OpBuilder &b, mlir::Value blocked, mlir::RankedTensorType type, ChannelSplit split);

private:
  struct Entry {
    mlir::Value blocked;
    ChannelSplit split;
  };
  llvm::DenseMap<mlir::Value, Entry> entries;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> conversions; // by plain value and block
};

} // namespace autotune
