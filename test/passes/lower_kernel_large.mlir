// RUN: autotune-opt %s --autotune-lower-kernel | FileCheck %s

// A value of 1 MiB between two operators that were not tiled does not fit the stack: it lives on the heap for one call.
// CHECK-LABEL: llvm.func internal @kernel_body
// CHECK:         %[[SLOT:.*]] = llvm.call @malloc
// CHECK:         llvm.call @free(%[[SLOT]])
// CHECK-NEXT:    llvm.return
func.func @large(%x: tensor<512x512xf32>, %dest: tensor<512x512xf32>, %begin: index, %end: index) -> tensor<512x512xf32> {
  %e = tensor.empty() : tensor<512x512xf32>
  %y = linalg.exp ins(%x : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %z = linalg.transpose ins(%y : tensor<512x512xf32>) outs(%dest : tensor<512x512xf32>) permutation = [1, 0]
  return %z : tensor<512x512xf32>
}
