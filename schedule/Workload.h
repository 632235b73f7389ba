// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A workload: one operator stripped of names and constants. Its canonical text is what records are keyed by.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace autotune {

enum class Numerics { Default, Strict };

/// What the root of a workload does; decides which knobs make sense.
enum class OpClass {
  Contraction,   // multiply-accumulate over reduction dims with an operand that lacks a parallel dim (GEMM,
                 // conv)
  Depthwise,     // multiply-accumulate where every parallel dim of the output indexes every input
  Reduction,     // any other reduction: pooling, sums, maxima
  Elementwise,   // no reduction dim, arithmetic body
  Movement,      // no arithmetic: transpose, pad, copy, gather
  Normalization, // several passes over each row: softmax, layer normalisation
  Attention,     // two products with a softmax between them; dims: batch…, rows, width, then columns, depth
  Recurrence,    // steps that multiply the state before them; dims: directions, rows, units, then steps, numbers
                 // of the state, gates; inputs: the projected input, the weight, …
};

/// One loop of the root operator, in the order of the linalg op's loops. Parallel loops come first.
struct LoopDim {
  int64_t extent = 1;
  bool reduction = false;
  bool operator==(const LoopDim &) const = default;
};

/// `coefficient * loop`, one summand of an index expression.
struct IndexTerm {
  int dim = 0;
  int64_t coefficient = 1;
  bool operator==(const IndexTerm &) const = default;
};

/// An array read or written by the root operator.
struct OperandInfo {
  std::string dtype;                          // MLIR spelling: "f32", "i8", …
  std::vector<int64_t> shape;                 // extents of the buffer the kernel is given, halo included
  std::vector<int64_t> offsets;               // first element read or written along each axis of the buffer
  std::vector<std::vector<IndexTerm>> index;  // one sum of terms per axis; an empty sum is the constant 0
  bool constant = false;                      // a weight: packed at compile time, streamed from memory
  bool operator==(const OperandInfo &) const = default;
};

/// An operator with its fused elementwise tail, on final static shapes.
struct Workload {
  std::string kind;  // "conv2d", "depthwise_conv2d", "matmul", "batch_matmul", "pool_max", "elementwise", …
  OpClass opClass = OpClass::Elementwise;
  std::vector<LoopDim> dims;
  std::vector<OperandInfo> inputs;  // of the root only
  OperandInfo output;
  std::vector<std::string> epilogue;  // fused tail, or all of an elementwise op: "arith.addf", "math.exp", …
  std::string body;                   // digest of the kernel's canonical IR: equal bodies are the same program
  int threads = 1;
  Numerics numerics = Numerics::Default;

  /// One line of text per field, in a fixed order; `parse(text())` gives the same workload back.
  std::string text() const;
  /// Errors name the line, what was found and what was expected.
  static llvm::Expected<Workload> parse(llvm::StringRef text);
  /// 16 hex digits of the XXH3 hash of `text()`.
  std::string key() const;

  /// Floating-point (or integer) operations of the root: 2 per multiply-accumulate.
  double flops() const;
  /// Bytes of all operand buffers that the loops reach, each counted once.
  double bytes() const;
  double bytesRead() const;
  double bytesWritten() const;

  /// Shapes of the root's operands, for people: "1x8x58x58x8, 8x8x3x3x8x8 -> 1x8x56x56x8"; types other than f32 are
  /// said ("1x64xi8").
  std::string shapesText() const;

  bool operator==(const Workload &) const = default;
};

/// "contraction", "depthwise", "reduction", …
llvm::StringRef opClassName(OpClass opClass);
/// "default", "strict".
llvm::StringRef numericsName(Numerics numerics);
/// Bytes of one element of an operand in memory.
int64_t elementBytes(llvm::StringRef dtype);
/// 16 hex digits of the XXH3-64 hash of `text`: how every key of the project is made.
std::string hashText(llvm::StringRef text);

} // namespace autotune
