// RUN: autotune-opt %s --autotune-outline-kernels -split-input-file | FileCheck %s

// A root with its tail is one kernel; the tail runs over the loops of the root, (n, h, w, c), not its own.
#in = affine_map<(n, h, w, c, i) -> (n, i, h, w)>
#weights = affine_map<(n, h, w, c, i) -> (c, i)>
#out = affine_map<(n, h, w, c, i) -> (n, c, h, w)>
#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
// CHECK-DAG: #[[$ROOT_OUT:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d2)>
// CHECK-DAG: #[[$TAIL:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<1x4x5x5xf32>, %[[W:.+]]: tensor<8x4xf32>)
func.func @main(%x: tensor<1x4x5x5xf32>, %w: tensor<8x4xf32>) -> tensor<1x8x5x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x5x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
  // CHECK: %[[E:.+]] = tensor.empty() : tensor<1x8x5x5xf32>
  // CHECK: %[[Y:.+]] = call @kernel_0(%[[X]], %[[W]], %[[E]]) {autotune.id = 0 : i64, autotune.subgraph = 7 : i64}
  // CHECK-NEXT: return %[[Y]]
  %y = linalg.generic {indexing_maps = [#in, #weights, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
         ins(%x, %w : tensor<1x4x5x5xf32>, tensor<8x4xf32>) outs(%f : tensor<1x8x5x5xf32>)
         attrs = {autotune.id = 0 : i64, autotune.subgraph = 7 : i64} {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x8x5x5xf32>
  %z = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%y : tensor<1x8x5x5xf32>) outs(%e : tensor<1x8x5x5xf32>)
         attrs = {autotune.id = 1 : i64, autotune.subgraph = 7 : i64} {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %p, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x8x5x5xf32>
  return %z : tensor<1x8x5x5xf32>
}
// CHECK: func.func @kernel_0(%[[KX:.+]]: tensor<1x4x5x5xf32>, %[[KW:.+]]: tensor<8x4xf32>, %[[DEST:.+]]: tensor<1x8x5x5xf32>) -> tensor<1x8x5x5xf32>
// CHECK: %[[FILL:.+]] = linalg.fill
// CHECK: %[[ROOT:.+]] = linalg.generic {indexing_maps = [#{{.+}}, #{{.+}}, #[[$ROOT_OUT]]]
// CHECK-SAME: ins(%[[KX]], %[[KW]] : {{.*}}) outs(%[[FILL]] :
// CHECK-NOT: autotune
// CHECK: %[[TAILED:.+]] = linalg.generic {indexing_maps = [#[[$TAIL]], #[[$TAIL]]]
// CHECK-SAME: ins(%[[ROOT]] : {{.*}}) outs(%[[DEST]] :
// CHECK: return %[[TAILED]]

// -----

// Operators without a subgraph are kernels by themselves, and named ops become generic. Dead operators leave nothing.
// CHECK-LABEL: func.func @main
func.func @main(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[Y:.+]] = call @kernel_0(
  %y = linalg.matmul ins(%a, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%f : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: %[[Z:.+]] = call @kernel_1(%[[Y]],
  %z = linalg.exp ins(%y : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: return %[[Y]], %[[Z]]
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}
// CHECK: func.func @kernel_0
// CHECK-NOT: linalg.matmul
// CHECK: linalg.generic
// CHECK: func.func @kernel_1
// CHECK-NOT: linalg.exp
// CHECK: math.exp

// -----

// A constant comes in as an argument; a scalar is made inside.
#map1 = affine_map<(m) -> (m)>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[C:.+]] = arith.constant dense<2.000000e+00> : tensor<8xf32>
  %c = arith.constant dense<2.0> : tensor<8xf32>
  %two = arith.constant 2.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  // CHECK: call @kernel_0(%{{.*}}, %[[C]], %{{.*}})
  %y = linalg.generic {indexing_maps = [#map1, #map1, #map1], iterator_types = ["parallel"]}
         ins(%x, %c : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %n = arith.addf %m, %two : f32
    linalg.yield %n : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
// CHECK: func.func @kernel_0
// CHECK: arith.constant 2.000000e+00 : f32

// -----

// An operator that starts from the elements of a value updates a copy of it.
#map2 = affine_map<(i, j) -> (i)>
#map3 = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>, %[[DATA:.+]]: tensor<8xf32>)
func.func @main(%x: tensor<4xf32>, %data: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK: %[[COPY:.+]] = call @[[OWN:.+]](%[[DATA]], %{{.*}})
  // CHECK: call @[[UPDATE:.+]](%[[X]], %[[COPY]])
  %y = linalg.generic {indexing_maps = [#map3, #map2], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<4xf32>) outs(%data : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

// Workloads have their parallel loops first, whatever the order in the model.
#map4 = affine_map<(i, j) -> (i, j)>
#map5 = affine_map<(i, j) -> (j)>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4x8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %y = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["reduction", "parallel"]}
         ins(%x : tensor<4x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %y : tensor<8xf32>
}
// CHECK: func.func @kernel_0
// CHECK: iterator_types = ["parallel", "reduction"]
