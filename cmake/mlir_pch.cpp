// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An empty unit that owns the precompiled header which all MLIR libraries share.
