// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A linalg.generic rather than linalg.copy: kernels hold generics only.

#include "passes/CopyOp.h"

using namespace mlir;

namespace autotune {

linalg::GenericOp createCopy(OpBuilder &b, Location loc, Value source, Value dest, AffineMap sourceMap) {
  auto type = cast<ShapedType>(dest.getType());
  auto rank = unsigned(type.getRank());
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<AffineMap> maps = {sourceMap ? sourceMap : identity, identity};
  SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  SmallVector<Type> results;
  if (isa<RankedTensorType>(type))
    results.push_back(type);
  return b.create<linalg::GenericOp>(
      loc, results, source, dest, maps, kinds,
      [](OpBuilder &body, Location at, ValueRange args) { body.create<linalg::YieldOp>(at, args[0]); });
}

} // namespace autotune
