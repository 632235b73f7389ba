// Rows that are reduced whole inside the register tile: vectors are combined first, one horizontal reduction is last.
// RUN: autotune-opt %s --autotune-tile-kernel=tiles=0:1 --autotune-vectorize-kernel -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @row_max
// CHECK-NOT: linalg.generic
// CHECK: vector.reduction <maximumf>, %{{.*}} : vector<32xf32> into f32
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @row_max(%x: tensor<4x32xf32>, %dest: tensor<4xf32>) -> tensor<4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%low : f32) outs(%dest : tensor<4xf32>) -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<4x32xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %p, %o : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// Straight-line code for a hundred thousand elements would take LLVM minutes: such an op stays for scalar loops.
// CHECK-LABEL: func.func @long
// CHECK: linalg.generic
// CHECK-NOT: vector.
func.func @long(%x: tensor<1x100000xf32>, %dest: tensor<1xf32>) -> tensor<1xf32> {
  %low = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%low : f32) outs(%dest : tensor<1xf32>) -> tensor<1xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<1x100000xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %p, %o : f32
    linalg.yield %m : f32
  } -> tensor<1xf32>
  return %y : tensor<1xf32>
}
