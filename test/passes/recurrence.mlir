// RUN: autotune-opt %s --split-input-file | autotune-opt --split-input-file | FileCheck %s
// RUN: autotune-opt %s --split-input-file --autotune-decompose | FileCheck %s --check-prefix=PIECES

// Taken whole: nothing is decomposed.
// CHECK-LABEL: func @whole
// CHECK: autotune.recurrence lstm %{{.*}}, %{{.*}} hidden(%{{.*}} : tensor<1x2x16xf32>) cell(%{{.*}} : tensor<1x2x16xf32>)
// CHECK-SAME: peepholes(%{{.*}} : tensor<1x48xf32>) lengths(%{{.*}} : tensor<2xi32>)
// CHECK-SAME: activations ["sigmoid", "tanh", "tanh"] {clip = 3.000000e+00 : f64, keeps_state, reverse}
// CHECK-SAME: tensor<9x2x1x64xf32>, tensor<1x16x64xf32> -> tensor<11x1x2x16xf32>
// PIECES-LABEL: func @whole
// PIECES: autotune.recurrence lstm
func.func @whole(%x: tensor<9x2x1x64xf32>, %r: tensor<1x16x64xf32>, %h: tensor<1x2x16xf32>, %c: tensor<1x2x16xf32>,
                 %p: tensor<1x48xf32>, %l: tensor<2xi32>) -> tensor<11x1x2x16xf32> {
  %y = autotune.recurrence lstm %x, %r hidden(%h : tensor<1x2x16xf32>) cell(%c : tensor<1x2x16xf32>)
     peepholes(%p : tensor<1x48xf32>) lengths(%l : tensor<2xi32>) activations ["sigmoid", "tanh", "tanh"]
     {clip = 3.0, keeps_state, reverse} : tensor<9x2x1x64xf32>, tensor<1x16x64xf32> -> tensor<11x1x2x16xf32>
  return %y : tensor<11x1x2x16xf32>
}

// -----

// No kernel takes f64: a product and an elementwise op for each step, the last step of the input first.
// CHECK-LABEL: func @backwards
// CHECK: autotune.recurrence rnn
// PIECES-LABEL: func @backwards
// PIECES-SAME: %[[X:.*]]: tensor<2x1x1x3xf64>
// PIECES: tensor.extract_slice %[[X]][1, 0, 0, 0]
// PIECES: linalg.matmul
// PIECES: math.tanh
// PIECES: tensor.extract_slice %[[X]][0, 0, 0, 0]
// PIECES: linalg.matmul
// PIECES: math.tanh
// PIECES: tensor.concat dim(0)
func.func @backwards(%x: tensor<2x1x1x3xf64>, %r: tensor<1x3x3xf64>) -> tensor<2x1x1x3xf64> {
  %y = autotune.recurrence rnn %x, %r activations ["tanh"] {reverse}
     : tensor<2x1x1x3xf64>, tensor<1x3x3xf64> -> tensor<2x1x1x3xf64>
  return %y : tensor<2x1x1x3xf64>
}

// -----

// Before the reset, all gates are one product; after it, two. Blocks of weights are put together again: of five
// units, the second block of four has the last four.
// CHECK-LABEL: func @resets
// CHECK: autotune.recurrence gru %{{.*}}, %{{.*}} state_bias(%{{.*}} : tensor<1x5xf64>) {{.*}} {linear_before_reset}
// PIECES-LABEL: func @resets
// PIECES-SAME: %{{.*}}: tensor<1x1x1x15xf64>, %[[R:.*]]: tensor<1x2x5x3x4xf64>
// PIECES: linalg.transpose {{.*}}permutation = [1, 2, 0, 3]
// PIECES: tensor.concat dim(2) {{.*}} : (tensor<5x3x1xf64>, tensor<5x3x4xf64>)
// PIECES: linalg.matmul {{.*}} tensor<5x15xf64>
// PIECES-NOT: linalg.matmul
func.func @resets(%x: tensor<1x1x1x15xf64>, %r: tensor<1x2x5x3x4xf64>, %b: tensor<1x5xf64>) -> tensor<1x1x1x5xf64> {
  %y = autotune.recurrence gru %x, %r state_bias(%b : tensor<1x5xf64>) activations ["sigmoid", "tanh"]
     {linear_before_reset} : tensor<1x1x1x15xf64>, tensor<1x2x5x3x4xf64> -> tensor<1x1x1x5xf64>
  return %y : tensor<1x1x1x5xf64>
}

// -----

// CHECK-LABEL: func @multiplies_state
// PIECES-LABEL: func @multiplies_state
// PIECES: linalg.matmul {{.*}} tensor<4x8xf64>
// PIECES: linalg.matmul {{.*}} tensor<4x4xf64>
func.func @multiplies_state(%x: tensor<1x2x1x12xf64>, %r: tensor<1x4x12xf64>) -> tensor<2x1x2x4xf64> {
  %y = autotune.recurrence gru %x, %r activations ["sigmoid", "tanh"] {keeps_state}
     : tensor<1x2x1x12xf64>, tensor<1x4x12xf64> -> tensor<2x1x2x4xf64>
  return %y : tensor<2x1x2x4xf64>
}
