// Matrix products with a constant right side read it in panels.
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout -split-input-file | FileCheck %s
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=isa=avx512 -split-input-file | FileCheck %s --check-prefix=WIDE

// Two vectors wide where that divides N; the plain result is a reshape, no code.
// CHECK-DAG: #[[$A:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK-DAG: #[[$B:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
// CHECK-DAG: #[[$C:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[A:.+]]: tensor<4x6xf32>)
func.func @main(%a: tensor<4x6xf32>) -> tensor<4x32xf32> {
  %w = arith.constant dense<1.0> : tensor<6x32xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  // CHECK: %[[P:.+]] = linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$C]]]
  // CHECK-SAME: ins(%[[A]], %{{.*}} : tensor<4x6xf32>, tensor<2x6x16xf32>) outs(%{{.*}} : tensor<4x2x16xf32>)
  // CHECK: tensor.collapse_shape %[[P]] {{.*}} tensor<4x2x16xf32> into tensor<4x32xf32>
  // CHECK-NEXT: return
  // WIDE: outs(%{{.*}} : tensor<4x1x32xf32>)
  %y = linalg.matmul ins(%a, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%f : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}

// -----

// Ten columns: two panels of a vector, the second with six zero columns; the result is cut.
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<1x2xf32>) -> tensor<1x10xf32> {
  // CHECK-DAG: arith.constant dense<{{\[\[\[}}0.000000e+00, 1.000000e+00, 2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00, 6.000000e+00, 7.000000e+00], [1.000000e+01,{{.*}} 1.700000e+01]], {{\[\[}}8.000000e+00, 9.000000e+00, 0.000000e+00, {{.*}} [1.800000e+01, 1.900000e+01, 0.000000e+00
  %w = arith.constant dense<[[0., 1., 2., 3., 4., 5., 6., 7., 8., 9.], [10., 11., 12., 13., 14., 15., 16., 17., 18., 19.]]> : tensor<2x10xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x10xf32>) -> tensor<1x10xf32>
  // CHECK: linalg.generic
  // CHECK-SAME: tensor<1x2xf32>, tensor<2x2x8xf32>) outs(%{{.*}} : tensor<1x2x8xf32>)
  // CHECK: tensor.collapse_shape {{.*}} into tensor<1x16xf32>
  // CHECK: tensor.extract_slice {{.*}} [1, 10] [1, 1] : tensor<1x16xf32> to tensor<1x10xf32>
  %y = linalg.matmul ins(%a, %w : tensor<1x2xf32>, tensor<2x10xf32>) outs(%f : tensor<1x10xf32>) -> tensor<1x10xf32>
  return %y : tensor<1x10xf32>
}

// -----

// A product of two computed matrices stays as the model wrote it.
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<4x6xf32>, %b: tensor<6x32xf32>) -> tensor<4x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  // CHECK: linalg.matmul {autotune.id = 0 : i64, autotune.subgraph = 0 : i64}
  %y = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x32xf32>) outs(%f : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %y : tensor<4x32xf32>
}
