// RUN: autotune-opt %s --autotune-outline-kernels --autotune-place-buffers -split-input-file | FileCheck %s

// An operator with two results, both used, becomes two kernels that compute both and give one.
// CHECK-LABEL: func.func @main
// CHECK:         %[[E0:.*]] = tensor.empty() : tensor<8xf32>
// CHECK:         %[[V:.*]] = call @[[K0:.*]](%{{.*}}, %[[E0]]) : (tensor<8x16xf32>, tensor<8xf32>) -> tensor<8xf32>
// CHECK:         %[[E1:.*]] = tensor.empty() : tensor<8xi64>
// CHECK:         %[[I:.*]] = call @[[K1:.*]](%{{.*}}, %[[E1]]) : (tensor<8x16xf32>, tensor<8xi64>) -> tensor<8xi64>
// CHECK:         return %[[V]], %[[I]]
// CHECK:       func.func @[[K1]]
// CHECK:         %[[R:.*]]:2 = linalg.generic
// CHECK:         return %[[R]]#1
// CHECK:       func.func @[[K0]]
// CHECK:         %[[R:.*]]:2 = linalg.generic
// CHECK:         return %[[R]]#0
func.func @main(%x: tensor<8x16xf32>) -> (tensor<8xf32>, tensor<8xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant -1 : i64
  %ev = tensor.empty() : tensor<8xf32>
  %ei = tensor.empty() : tensor<8xi64>
  %fv = linalg.fill ins(%low : f32) outs(%ev : tensor<8xf32>) -> tensor<8xf32>
  %fi = linalg.fill ins(%none : i64) outs(%ei : tensor<8xi64>) -> tensor<8xi64>
  %r:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x16xf32>) outs(%fv, %fi : tensor<8xf32>, tensor<8xi64>) {
  ^bb0(%v: f32, %best: f32, %at: i64):
    %j = linalg.index 1 : index
    %here = arith.index_cast %j : index to i64
    %better = arith.cmpf ogt, %v, %best : f32
    %value = arith.select %better, %v, %best : f32
    %index = arith.select %better, %here, %at : i64
    linalg.yield %value, %index : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi64>
}

// -----

// Control flow is a kernel of its own; the number of steps, computed from a tensor, is computed in it.
// CHECK-LABEL: func.func @main
// CHECK:         call @[[K:.*]](%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NOT:     scf.for
// CHECK:       func.func @[[K]]
// CHECK:         tensor.extract
// CHECK:         scf.for
func.func @main(%x: tensor<4xf32>, %count: tensor<i32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = tensor.extract %count[] : tensor<i32>
  %steps = arith.index_cast %n : i32 to index
  %y = scf.for %i = %zero to %steps step %one iter_args(%v = %x) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %w = linalg.exp ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}

// -----

// A padding with a value that is known at run time only, and one that cuts off, are no borders.
// CHECK-LABEL: func.func @main
// CHECK-NOT:     tensor.pad
// CHECK:         return
// CHECK:         tensor.pad
// CHECK:         tensor.pad
func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<6xf32>, tensor<3xf32>) {
  %zero = arith.constant 0.0 : f32
  %v = tensor.extract %y[] : tensor<f32>
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %v : f32
  } : tensor<4xf32> to tensor<6xf32>
  %q = tensor.pad %x low[-2] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<4xf32> to tensor<3xf32>
  return %p, %q : tensor<6xf32>, tensor<3xf32>
}

// -----

// A reduction that starts from a value, with a tail: the value is one more input.
// CHECK-LABEL: func.func @main
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<8xf32>
// CHECK:         call @[[K:.*]](%{{.*}}, %{{.*}}, %[[E]])
// CHECK:       func.func @[[K]](%{{.*}}: tensor<8x16xf32>, %[[START:.*]]: tensor<8xf32>, %{{.*}}: tensor<8xf32>)
// CHECK:         outs(%[[START]]
func.func @main(%x: tensor<8x16xf32>, %start: tensor<8xf32>) -> tensor<8xf32> {
  %s = linalg.reduce ins(%x : tensor<8x16xf32>) outs(%start : tensor<8xf32>) dimensions = [1]
      {autotune.subgraph = 0 : i64}
    (%v: f32, %acc: f32) {
      %sum = arith.addf %v, %acc : f32
      linalg.yield %sum : f32
    }
  %e = tensor.empty() : tensor<8xf32>
  %y = linalg.exp {autotune.subgraph = 0 : i64} ins(%s : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
