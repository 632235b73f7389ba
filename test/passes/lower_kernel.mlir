// RUN: autotune-opt %S/Inputs/conv_kernel.mlir --autotune-tile-kernel="tiles=0:1,1:1,3:1,2:4 reductions=5:1,6:1,7:1,8:1" --autotune-vectorize-kernel --autotune-lower-kernel | FileCheck %s
// RUN: autotune-opt %S/Inputs/matmul_kernel.mlir --autotune-tile-kernel="tiles=0:5,1:8 reductions=2:2 parallel=true" --autotune-vectorize-kernel --autotune-lower-kernel | FileCheck %s

// The body of a hot kernel is arithmetic on its buffers: it calls nothing, not even to allocate or to copy.
// CHECK: llvm.func internal @kernel_body(
// CHECK-SAME: !llvm.ptr {{.*}}llvm.noalias
// CHECK-SAME: i64, %{{.*}}: i64)
// CHECK-NOT: llvm.call
// CHECK-NOT: memcpy
// CHECK: llvm.fadd
// CHECK-NOT: llvm.call
// CHECK-NOT: memcpy
// CHECK: llvm.func @kernel(%[[ARGS:.+]]: !llvm.ptr, %[[BEGIN:.+]]: i64, %[[END:.+]]: i64)
// CHECK: %[[SLOT:.+]] = llvm.getelementptr %[[ARGS]]
// CHECK: %[[BUFFER:.+]] = llvm.load %[[SLOT]] : !llvm.ptr -> !llvm.ptr
// CHECK: llvm.call @kernel_body(%[[BUFFER]], {{.*}}, %[[BEGIN]], %[[END]])
// CHECK-NEXT: llvm.return
// CHECK-NOT: unrealized_conversion_cast
