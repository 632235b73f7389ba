// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One tile of each idea that is taken whole, as vectors.
#pragma once

#include "dialect/AutotuneDialect.h"
#include "passes/VectorCode.h"

namespace autotune {

/// softmax of the row of `input` at `outer`, stored in `dest`. Three passes over a row that stays in L1:
/// greatest, exponentials with their sum, quotients. `lanes` is the width of the vectors.
mlir::Value emitSoftmaxRow(Builder &b, mlir::linalg::SoftmaxOp op, mlir::ValueRange outer, int64_t lanes,
                           mlir::Value dest);

/// The same for a layer normalisation: mean, variance, result.
mlir::Value emitLayerNormRow(Builder &b, LayerNormOp op, mlir::ValueRange outer, int64_t lanes,
                             mlir::Value dest);

/// Sizes of an attention kernel.
struct AttentionTiling {
  int64_t rows = 16;    // query rows of a tile
  int64_t values = 8;   // keys, then elements of values, beside each other in registers
  int64_t columns = 64; // keys between two updates of the running maximum
};

/// Rows of attention at a time, by the online softmax of Milakov and Gimelshein (2018) that FlashAttention
/// made known. Lanes are rows of the query, so that maxima and sums of rows stay in their lanes; keys and
/// values are read number by number. Scores exist for `tiling.columns` keys at a time, in scratch memory.
class AttentionTile {
public:
  /// Scratch memory is allocated where `b` stands: outside of the loops.
  AttentionTile(Builder &b, AttentionOp op, const AttentionTiling &tiling);

  /// Stores the result for `rows` rows from `row` on at the batch position `batch`.
  mlir::Value emit(Builder &b, mlir::ValueRange batch, mlir::Value row, int64_t rows, mlir::Value dest);

private:
  struct Tile;
  AttentionOp op;
  AttentionTiling tiling;
  int64_t columns, depth, width;
  mlir::Value queries, scores, results, factors; // scratch, each row one lane
};

/// Sizes of a recurrence kernel.
struct RecurrenceTiling {
  int64_t rows = 1;   // batch rows that share each weight
  int64_t units = 16; // hidden units beside each other in registers, all their gates with them
  int64_t depth = 64; // numbers of the state that all rows are multiplied with before the next ones
};

/// All steps of a recurrence for some rows of the batch. Lanes are hidden units; the state is read number by
/// number and lives in scratch memory, once as the steps read it and once as they write it. Tiles that would
/// reach beyond the last unit or row begin earlier and compute some again, to the same values.
class RecurrenceTile {
public:
  /// Scratch memory for `mostRows` rows is allocated where `b` stands: outside of the loops.
  RecurrenceTile(Builder &b, RecurrenceOp op, int64_t mostRows, const RecurrenceTiling &tiling);

  /// Stores the results of `rows` rows from `row` on in `direction`.
  mlir::Value emit(Builder &b, mlir::Value direction, mlir::Value row, int64_t rows, mlir::Value dest);

private:
  struct Run;
  RecurrenceOp op;
  RecurrenceTiling tiling;
  int64_t hidden, gates, lanes, planes;
  mlir::Value hiddens, cells;  // scratch [2, rows, hidden]; no cells but of lstm
  mlir::Value updates, resets; // scratch [1, rows, hidden] of gru, where the reset multiplies the state
  mlir::Value sums; // scratch for the registers of every tile of rows, where they cannot stay there
};

} // namespace autotune
