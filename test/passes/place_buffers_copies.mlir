// Where nothing can be done in place, a copy kernel is added.
// RUN: autotune-opt %s --autotune-place-buffers -split-input-file | FileCheck %s

// A model input is padded: nothing of ours produces it.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @main(%x: tensor<4xf32>) -> tensor<6xf32> {
  %one = arith.constant 1.0 : f32
  // CHECK: %[[BORDER:.+]] = call @border(
  // CHECK: %[[COPY:.+]] = call @copy(%[[X]], %[[BORDER]]) : (tensor<4xf32>, tensor<6xf32>) -> tensor<6xf32>
  // CHECK: return %[[COPY]]
  %p = tensor.pad %x low[2] high[0] {
  ^bb0(%i: index):
    tensor.yield %one : f32
  } : tensor<4xf32> to tensor<6xf32>
  return %p : tensor<6xf32>
}

// -----

// A value is returned twice: each result needs a buffer of its own.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: %[[Y:.+]] = call @kernel_0
  // CHECK: %[[COPY:.+]] = call @copy(%[[Y]],
  // CHECK: return %[[Y]], %[[COPY]]
  %y = call @kernel_0(%x, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %y, %y : tensor<4xf32>, tensor<4xf32>
}
func.func @kernel_0(%in: tensor<4xf32>, %dest: tensor<4xf32>) -> tensor<4xf32> {
  %y = linalg.exp ins(%in : tensor<4xf32>) outs(%dest : tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// An input and a constant are returned as they are.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<4xf32>)
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[C:.+]] = arith.constant dense
  %c = arith.constant dense<1.0> : tensor<4xf32>
  // CHECK: %[[COPY0:.+]] = call @copy(%[[X]],
  // CHECK: %[[COPY1:.+]] = call @copy_0(%[[C]],
  // CHECK: return %[[COPY0]], %[[COPY1]]
  return %x, %c : tensor<4xf32>, tensor<4xf32>
}

// -----

// A value that a reshape reads must be whole: its padded twin is a copy.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x2xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %g = tensor.empty() : tensor<4x4xf32>
  // CHECK: %[[Y:.+]] = call @kernel_0({{.*}}) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: %[[BORDER:.+]] = call @border
  // CHECK: %[[P:.+]] = call @copy(%[[Y]], %[[BORDER]])
  // CHECK: call @kernel_1(%[[P]],
  // CHECK: tensor.collapse_shape %[[Y]]
  %y = call @kernel_0(%x, %e) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = tensor.pad %y low[1, 1] high[1, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<2x2xf32> to tensor<4x4xf32>
  %z = call @kernel_1(%p, %g) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %flat = tensor.collapse_shape %y [[0, 1]] : tensor<2x2xf32> into tensor<4xf32>
  return %z, %flat : tensor<4x4xf32>, tensor<4xf32>
}
func.func @kernel_0(%in: tensor<2x2xf32>, %dest: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = linalg.exp ins(%in : tensor<2x2xf32>) outs(%dest : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
func.func @kernel_1(%in: tensor<4x4xf32>, %dest: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %y = linalg.exp ins(%in : tensor<4x4xf32>) outs(%dest : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

// Two paddings of one value: the first in place, the second by a copy of the interior.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>) -> (tensor<4xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  // CHECK: return %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<6xf32>
  %y = call @kernel_0(%x, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %p = tensor.pad %y low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<2xf32> to tensor<4xf32>
  %q = tensor.pad %y low[2] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<2xf32> to tensor<6xf32>
  return %p, %q : tensor<4xf32>, tensor<6xf32>
}
func.func @kernel_0(%in: tensor<2xf32>, %dest: tensor<2xf32>) -> tensor<2xf32> {
  %y = linalg.exp ins(%in : tensor<2xf32>) outs(%dest : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A concatenation that names one value twice: the second place is a copy.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<2xf32>
  // CHECK: %[[Y:.+]] = call @kernel_0
  // CHECK: %[[ONE:.+]] = call @copy{{.*}}(%[[Y]], %{{.*}})
  // CHECK: %[[TWO:.+]] = call @copy{{.*}}(%[[Y]], %[[ONE]])
  // CHECK: return %[[TWO]]
  %y = call @kernel_0(%x, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %c = tensor.concat dim(0) %y, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
func.func @kernel_0(%in: tensor<2xf32>, %dest: tensor<2xf32>) -> tensor<2xf32> {
  %y = linalg.exp ins(%in : tensor<2xf32>) outs(%dest : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

// A part that is returned is copied out of the whole, dropping a unit axis on the way.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<4x1x2xf32>)
func.func @main(%x: tensor<4x1x2xf32>) -> tensor<2x2xf32> {
  // CHECK: %[[COPY:.+]] = call @copy(%[[X]], %{{.*}}) : (tensor<4x1x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: return %[[COPY]]
  %s = tensor.extract_slice %x[1, 0, 0] [2, 1, 2] [1, 1, 1] : tensor<4x1x2xf32> to tensor<2x2xf32>
  return %s : tensor<2x2xf32>
}

// -----

// Readers before the padding read the interior too.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  // CHECK: %[[BORDER:.+]] = call @border
  // CHECK: %[[WHOLE:.+]] = call @kernel_0(%{{.*}}, %[[BORDER]])
  // CHECK: %[[Z:.+]] = call @kernel_1(%[[WHOLE]], %{{.*}}) : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: return %[[Z]], %[[WHOLE]]
  %y = call @kernel_0(%x, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %z = call @kernel_1(%y, %e) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %p = tensor.pad %y low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<2xf32> to tensor<4xf32>
  return %z, %p : tensor<2xf32>, tensor<4xf32>
}
func.func @kernel_0(%in: tensor<2xf32>, %dest: tensor<2xf32>) -> tensor<2xf32> {
  %y = linalg.exp ins(%in : tensor<2xf32>) outs(%dest : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
func.func @kernel_1(%in: tensor<2xf32>, %dest: tensor<2xf32>) -> tensor<2xf32> {
  %y = linalg.exp ins(%in : tensor<2xf32>) outs(%dest : tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
