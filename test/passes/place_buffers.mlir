// RUN: autotune-opt %s --autotune-place-buffers -split-input-file | FileCheck %s

// The halo: the producer writes the interior of its consumer's buffer, another reader reads the interior, and the
// border is stored by a kernel of its own.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<1x4x4xf32>)
func.func @main(%x: tensor<1x4x4xf32>) -> (tensor<1x6x6xf32>, tensor<1x4x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x4xf32>
  %g = tensor.empty() : tensor<1x6x6xf32>
  // CHECK: %[[BORDER:.+]] = call @border(%{{.+}}) : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  // CHECK: %[[WHOLE:.+]] = call @kernel_0(%[[X]], %[[BORDER]]) : (tensor<1x4x4xf32>, tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  // CHECK-NOT: tensor.pad
  %y = call @kernel_0(%x, %e) : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %p = tensor.pad %y low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%n: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x4x4xf32> to tensor<1x6x6xf32>
  // CHECK: call @kernel_1(%[[WHOLE]], %{{.*}})
  %z = call @kernel_1(%p, %g) : (tensor<1x6x6xf32>, tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  // CHECK: call @kernel_2(%[[WHOLE]], %{{.*}}) : (tensor<1x6x6xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %u = call @kernel_2(%y, %e) : (tensor<1x4x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %z, %u : tensor<1x6x6xf32>, tensor<1x4x4xf32>
}
// CHECK: func.func @kernel_0(%[[IN:.+]]: tensor<1x4x4xf32>, %[[DEST:.+]]: tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
// CHECK: %[[PART:.+]] = tensor.extract_slice %[[DEST]][0, 1, 1] [1, 4, 4] [1, 1, 1]
// CHECK: %[[EXP:.+]] = linalg.exp ins(%[[IN]] : {{.*}}) outs(%[[PART]] :
// CHECK: %[[INSERTED:.+]] = tensor.insert_slice %[[EXP]] into %[[DEST]][0, 1, 1] [1, 4, 4] [1, 1, 1]
// CHECK: return %[[INSERTED]]
func.func @kernel_0(%in: tensor<1x4x4xf32>, %dest: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %y = linalg.exp ins(%in : tensor<1x4x4xf32>) outs(%dest : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %y : tensor<1x4x4xf32>
}
// CHECK: func.func @kernel_1(%{{.*}}: tensor<1x6x6xf32>, %{{.*}}: tensor<1x6x6xf32>)
func.func @kernel_1(%in: tensor<1x6x6xf32>, %dest: tensor<1x6x6xf32>) -> tensor<1x6x6xf32> {
  %y = linalg.exp ins(%in : tensor<1x6x6xf32>) outs(%dest : tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  return %y : tensor<1x6x6xf32>
}
// CHECK: func.func @kernel_2(%[[IN:.+]]: tensor<1x6x6xf32>, %{{.*}}: tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
// CHECK: tensor.extract_slice %[[IN]][0, 1, 1] [1, 4, 4] [1, 1, 1]
func.func @kernel_2(%in: tensor<1x4x4xf32>, %dest: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %y = linalg.exp ins(%in : tensor<1x4x4xf32>) outs(%dest : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  return %y : tensor<1x4x4xf32>
}
// No element of the border is stored twice.
// CHECK: func.func @border
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0] [1, 1, 6]
// CHECK: tensor.extract_slice %{{.*}}[0, 5, 0] [1, 1, 6]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 0] [1, 4, 1]
// CHECK: tensor.extract_slice %{{.*}}[0, 1, 5] [1, 4, 1]

// -----

// Each producer writes its own place of a concatenation.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  // CHECK: %[[EMPTY:.+]] = tensor.empty() : tensor<4x4xf32>
  // CHECK: %[[ONE:.+]] = call @kernel_0(%{{.*}}, %[[EMPTY]])
  // CHECK: %[[TWO:.+]] = call @kernel_1(%{{.*}}, %[[ONE]])
  // CHECK-NEXT: return %[[TWO]]
  %y = call @kernel_0(%x, %e) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %z = call @kernel_1(%x, %e) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = tensor.concat dim(0) %z, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %c : tensor<4x4xf32>
}
// CHECK: func.func @kernel_0
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[2, 0] [2, 4] [1, 1]
func.func @kernel_0(%in: tensor<2x4xf32>, %dest: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = linalg.exp ins(%in : tensor<2x4xf32>) outs(%dest : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
// CHECK: func.func @kernel_1
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0, 0] [2, 4] [1, 1]
func.func @kernel_1(%in: tensor<2x4xf32>, %dest: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %y = linalg.log ins(%in : tensor<2x4xf32>) outs(%dest : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// A slice is read in place.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<4x4xf32>)
func.func @main(%x: tensor<4x4xf32>) -> tensor<2x2xf32> {
  %e = tensor.empty() : tensor<2x2xf32>
  // CHECK-NOT: tensor.extract_slice
  // CHECK: call @kernel_0(%[[X]], %{{.*}}) : (tensor<4x4xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = tensor.extract_slice %x[1, 0] [2, 2] [1, 2] : tensor<4x4xf32> to tensor<2x2xf32>
  %y = call @kernel_0(%s, %e) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
// CHECK: func.func @kernel_0(%[[IN:.+]]: tensor<4x4xf32>
// CHECK: tensor.extract_slice %[[IN]][1, 0] [2, 2] [1, 2]
func.func @kernel_0(%in: tensor<2x2xf32>, %dest: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %y = linalg.exp ins(%in : tensor<2x2xf32>) outs(%dest : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
