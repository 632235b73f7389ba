// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the root of a subgraph is computed: the names that partitions use, and what each makes of a
// convolution.
#pragma once

#include "schedule/Workload.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace autotune {

/// "direct", "view", "winograd2", "winograd4".
llvm::ArrayRef<llvm::StringLiteral> algorithmNames();

/// Winograd's minimal filtering F(m x m, 3 x 3): each tile of m x m outputs takes (m + 2)^2 products for
/// every pair of channels, where the direct algorithm takes 9 m^2 (A. Lavin and S. Gray, "Fast Algorithms for
/// Convolutional Neural Networks", 2016). "winograd4" for m = 4.
std::string winogradName(int64_t outputs);
/// m of an algorithm's name or of a workload's kind ("winograd4_conv"); 0 for every other.
int64_t winogradOutputs(llvm::StringRef name);

/// G g G^T of the 3x3 filter at `taps`, for tiles of `outputs` = 2 or 4: (m + 2)^2 values in rows, `stride` apart.
/// Computed in double and rounded once; G is that of Lavin and Gray for the points 0, 1, -1 (and 2, -2).
void transformFilter(int64_t outputs, const float *taps, float *target, int64_t stride);

/// A 3x3 convolution of stride 1 and dilation 1 over channels in blocks.
struct BlockedConvolution {
  int64_t images = 1;
  int64_t outBlocks = 1, inBlocks = 1, block = 16; // channels are blocks * block
  int64_t height = 1, width = 1;                   // of the output
  std::string dtype = "f32";
};

/// Loops (n, oh, ow, ob, v | ib, kh, kw, ic). Epilogue, body and threads are left to the caller, here and
/// below.
Workload directConvolution(const BlockedConvolution &shape);

/// The products that F(m x m, 3 x 3) consists of, m = `outputs`: loops (p, t, o, v | k) over the (m + 2)^2
/// points of a tile, the tiles of all images, blocks of output channels, the channels of one, and input
/// channels. The inputs are the transformed image [p, t, k] and the transformed filters [o, p, k, v].
Workload winogradProducts(const BlockedConvolution &shape, int64_t outputs);

} // namespace autotune
