// Filters are transformed at compile time; a kernel that does not take the op whole computes them back.
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=partition=%S/Inputs/winograd.yaml | FileCheck %s
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=partition=%S/Inputs/winograd.yaml --autotune-outline-kernels | FileCheck %s --check-prefix=KERNEL
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=partition=%S/Inputs/winograd.yaml --autotune-outline-kernels --autotune-decompose | FileCheck %s --check-prefix=PLAIN

// CHECK-LABEL: func.func @main
// CHECK: %[[U:.+]] = arith.constant dense<{{.*}}> : tensor<2x36x8x8xf32>
// CHECK: %[[W:.+]] = autotune.winograd_filter %[[U]] outputs 4 : tensor<2x36x8x8xf32> -> tensor<2x1x3x3x8x8xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %[[W]] : tensor<1x1x8x8x8xf32>, tensor<2x1x3x3x8x8xf32>)

// The transformed filters are what the kernel is given.
// KERNEL: call @[[K:kernel_[0-9]+]]({{.*}}tensor<2x36x8x8xf32>
// KERNEL: func.func @[[K]](%{{.*}}: tensor<1x1x8x8x8xf32>, %[[U:.+]]: tensor<2x36x8x8xf32>, %{{.*}}: tensor<1x2x6x6x8xf32>)
// KERNEL: autotune.winograd_filter %[[U]]

// PLAIN-NOT: autotune.winograd_filter
func.func @main(%x: tensor<1x8x8x8xf32>) -> tensor<1x16x6x6xf32> {
  %w = arith.constant dense<1.0> : tensor<16x8x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x8x8x8xf32>, tensor<16x8x3x3xf32>)
         outs(%f : tensor<1x16x6x6xf32>) -> tensor<1x16x6x6xf32>
  return %y : tensor<1x16x6x6xf32>
}
