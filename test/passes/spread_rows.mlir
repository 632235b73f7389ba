// RUN: autotune-opt %s --autotune-spread-rows -split-input-file | FileCheck %s

// Rows of 4 KB fall on the same sets of the cache: the writer and the product get them one line further apart.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x1024xf32>, %w: tensor<1024x8xf32>) -> tensor<16x8xf32> {
  // CHECK: %[[WIDE:.+]] = tensor.empty() : tensor<16x1040xf32>
  // CHECK: %[[Y:.+]] = call @kernel_0(%{{.+}}, %[[WIDE]]) : (tensor<16x1024xf32>, tensor<16x1040xf32>) -> tensor<16x1040xf32>
  // CHECK: call @kernel_1(%[[Y]], %{{.+}}, %{{.+}}) : (tensor<16x1040xf32>, tensor<1024x8xf32>, tensor<16x8xf32>)
  %e = tensor.empty() : tensor<16x1024xf32>
  %f = tensor.empty() : tensor<16x8xf32>
  %y = call @kernel_0(%x, %e) : (tensor<16x1024xf32>, tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %z = call @kernel_1(%y, %w, %f) : (tensor<16x1024xf32>, tensor<1024x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return %z : tensor<16x8xf32>
}
// CHECK: func.func @kernel_0(%{{.+}}: tensor<16x1024xf32>, %[[DEST:.+]]: tensor<16x1040xf32>) -> tensor<16x1040xf32>
// CHECK: %[[PART:.+]] = tensor.extract_slice %[[DEST]][0, 0] [16, 1024] [1, 1]
// CHECK: %[[EXP:.+]] = linalg.exp {{.*}} outs(%[[PART]]
// CHECK: tensor.insert_slice %[[EXP]] into %[[DEST]][0, 0] [16, 1024] [1, 1]
func.func @kernel_0(%in: tensor<16x1024xf32>, %dest: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %y = linalg.exp ins(%in : tensor<16x1024xf32>) outs(%dest : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %y : tensor<16x1024xf32>
}
// CHECK: func.func @kernel_1(%[[A:.+]]: tensor<16x1040xf32>
// CHECK: %[[ROWS:.+]] = tensor.extract_slice %[[A]][0, 0] [16, 1024] [1, 1]
// CHECK: linalg.matmul ins(%[[ROWS]],
func.func @kernel_1(%a: tensor<16x1024xf32>, %b: tensor<1024x8xf32>, %dest: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%dest : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.matmul ins(%a, %b : tensor<16x1024xf32>, tensor<1024x8xf32>) outs(%init : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}

// -----

// Seen in other shapes as well: by whole blocks of each of them.
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<16x8x64xf32>, %w: tensor<512x8xf32>) -> (tensor<16x8xf32>, tensor<1x16x8x64xf32>) {
  // CHECK: %[[WIDE:.+]] = tensor.empty() : tensor<16x9x64xf32>
  // CHECK: %[[Y:.+]] = call @kernel_0(%{{.+}}, %[[WIDE]])
  // CHECK: %[[FLAT:.+]] = tensor.collapse_shape %[[Y]] {{.+}} : tensor<16x9x64xf32> into tensor<16x576xf32>
  // CHECK: %[[HEADS:.+]] = tensor.expand_shape %[[FLAT]] {{.+}} output_shape [1, 16, 9, 64]
  // CHECK: call @kernel_1(%[[FLAT]],
  // CHECK: call @kernel_2(%[[HEADS]], %{{.+}}) : (tensor<1x16x9x64xf32>, tensor<1x16x8x64xf32>) -> tensor<1x16x8x64xf32>
  %e = tensor.empty() : tensor<16x8x64xf32>
  %f = tensor.empty() : tensor<16x8xf32>
  %g = tensor.empty() : tensor<1x16x8x64xf32>
  %y = call @kernel_0(%x, %e) : (tensor<16x8x64xf32>, tensor<16x8x64xf32>) -> tensor<16x8x64xf32>
  %flat = tensor.collapse_shape %y [[0], [1, 2]] : tensor<16x8x64xf32> into tensor<16x512xf32>
  %heads = tensor.expand_shape %flat [[0, 1], [2, 3]] output_shape [1, 16, 8, 64] : tensor<16x512xf32> into tensor<1x16x8x64xf32>
  %z = call @kernel_1(%flat, %w, %f) : (tensor<16x512xf32>, tensor<512x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %u = call @kernel_2(%heads, %g) : (tensor<1x16x8x64xf32>, tensor<1x16x8x64xf32>) -> tensor<1x16x8x64xf32>
  return %z, %u : tensor<16x8xf32>, tensor<1x16x8x64xf32>
}
func.func @kernel_0(%in: tensor<16x8x64xf32>, %dest: tensor<16x8x64xf32>) -> tensor<16x8x64xf32> {
  %y = linalg.exp ins(%in : tensor<16x8x64xf32>) outs(%dest : tensor<16x8x64xf32>) -> tensor<16x8x64xf32>
  return %y : tensor<16x8x64xf32>
}
func.func @kernel_1(%a: tensor<16x512xf32>, %b: tensor<512x8xf32>, %dest: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%dest : tensor<16x8xf32>) -> tensor<16x8xf32>
  %y = linalg.matmul ins(%a, %b : tensor<16x512xf32>, tensor<512x8xf32>) outs(%init : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
func.func @kernel_2(%in: tensor<1x16x8x64xf32>, %dest: tensor<1x16x8x64xf32>) -> tensor<1x16x8x64xf32> {
  %y = linalg.exp ins(%in : tensor<1x16x8x64xf32>) outs(%dest : tensor<1x16x8x64xf32>) -> tensor<1x16x8x64xf32>
  return %y : tensor<1x16x8x64xf32>
}

// -----

// Keys that lie in rows of 4 KB, one head beside the other.
// CHECK-LABEL: func.func @main
// CHECK: call @kernel_0(%{{.+}}, %{{.+}}) : (tensor<1x32x16x64xf32>, tensor<1x32x17x64xf32>) -> tensor<1x32x17x64xf32>
func.func @main(%x: tensor<1x32x16x64xf32>) -> tensor<1x32x16x64xf32> {
  %e = tensor.empty() : tensor<1x32x16x64xf32>
  %f = tensor.empty() : tensor<1x32x16x64xf32>
  %y = call @kernel_0(%x, %e) : (tensor<1x32x16x64xf32>, tensor<1x32x16x64xf32>) -> tensor<1x32x16x64xf32>
  %z = call @kernel_1(%x, %y, %f) : (tensor<1x32x16x64xf32>, tensor<1x32x16x64xf32>, tensor<1x32x16x64xf32>) -> tensor<1x32x16x64xf32>
  return %z : tensor<1x32x16x64xf32>
}
func.func @kernel_0(%in: tensor<1x32x16x64xf32>, %dest: tensor<1x32x16x64xf32>) -> tensor<1x32x16x64xf32> {
  %y = linalg.exp ins(%in : tensor<1x32x16x64xf32>) outs(%dest : tensor<1x32x16x64xf32>) -> tensor<1x32x16x64xf32>
  return %y : tensor<1x32x16x64xf32>
}
// CHECK: func.func @kernel_1
func.func @kernel_1(%q: tensor<1x32x16x64xf32>, %k: tensor<1x32x16x64xf32>, %dest: tensor<1x32x16x64xf32>) -> tensor<1x32x16x64xf32> {
  // CHECK: %[[K:.+]] = tensor.extract_slice {{.+}} [1, 32, 16, 64] [1, 1, 1, 1] : tensor<1x32x17x64xf32>
  // CHECK: autotune.attention %{{.+}}, %[[K]], %[[K]]
  %y = autotune.attention %q, %k, %k scale 1.0
     {query_order = array<i64: 0, 2, 1, 3>, key_order = array<i64: 0, 2, 1, 3>, value_order = array<i64: 0, 2, 1, 3>, result_order = array<i64: 0, 2, 1, 3>}
     : tensor<1x32x16x64xf32>, tensor<1x32x16x64xf32>, tensor<1x32x16x64xf32> -> tensor<1x32x16x64xf32>
  return %y : tensor<1x32x16x64xf32>
}

// -----

// Left alone: rows that are well apart (3 KB), a value that is returned, and an input of the model.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tensor.empty() : tensor<16x{{784|1040}}xf32>
// CHECK: return
func.func @main(%x: tensor<16x768xf32>, %v: tensor<16x1024xf32>, %w: tensor<768x8xf32>, %u: tensor<1024x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x1024xf32>) {
  %e = tensor.empty() : tensor<16x768xf32>
  %f = tensor.empty() : tensor<16x1024xf32>
  %g = tensor.empty() : tensor<16x8xf32>
  %a = call @kernel_0(%x, %e) : (tensor<16x768xf32>, tensor<16x768xf32>) -> tensor<16x768xf32>
  %b = call @kernel_1(%v, %f) : (tensor<16x1024xf32>, tensor<16x1024xf32>) -> tensor<16x1024xf32>
  %c = call @kernel_2(%a, %w, %g) : (tensor<16x768xf32>, tensor<768x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %d = call @kernel_3(%b, %u, %g) : (tensor<16x1024xf32>, tensor<1024x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  %h = call @kernel_4(%v, %u, %g) : (tensor<16x1024xf32>, tensor<1024x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
  return %c, %d, %h, %b : tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<16x1024xf32>
}
func.func @kernel_0(%in: tensor<16x768xf32>, %dest: tensor<16x768xf32>) -> tensor<16x768xf32> {
  %y = linalg.exp ins(%in : tensor<16x768xf32>) outs(%dest : tensor<16x768xf32>) -> tensor<16x768xf32>
  return %y : tensor<16x768xf32>
}
func.func @kernel_1(%in: tensor<16x1024xf32>, %dest: tensor<16x1024xf32>) -> tensor<16x1024xf32> {
  %y = linalg.exp ins(%in : tensor<16x1024xf32>) outs(%dest : tensor<16x1024xf32>) -> tensor<16x1024xf32>
  return %y : tensor<16x1024xf32>
}
func.func @kernel_2(%a: tensor<16x768xf32>, %b: tensor<768x8xf32>, %dest: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<16x768xf32>, tensor<768x8xf32>) outs(%dest : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
func.func @kernel_3(%a: tensor<16x1024xf32>, %b: tensor<1024x8xf32>, %dest: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<16x1024xf32>, tensor<1024x8xf32>) outs(%dest : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
func.func @kernel_4(%a: tensor<16x1024xf32>, %b: tensor<1024x8xf32>, %dest: tensor<16x8xf32>) -> tensor<16x8xf32> {
  %y = linalg.matmul ins(%a, %b : tensor<16x1024xf32>, tensor<1024x8xf32>) outs(%dest : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %y : tensor<16x8xf32>
}
