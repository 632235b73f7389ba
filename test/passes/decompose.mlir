// RUN: autotune-opt %s --autotune-decompose --split-input-file | FileCheck %s
// Each idea in its pieces, where no kernel takes it whole.

// CHECK-LABEL: func @softmax
// CHECK: linalg.generic {{.*}}"parallel", "reduction"
// CHECK: arith.maximumf
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}"parallel", "reduction"
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK-NOT: linalg.softmax
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Sums of 16-bit floats are kept in f32.
// CHECK-LABEL: func @softmax_half
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @softmax_half(%x: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %e = tensor.empty() : tensor<4x8xf16>
  %y = linalg.softmax dimension(1) ins(%x : tensor<4x8xf16>) outs(%e : tensor<4x8xf16>) -> tensor<4x8xf16>
  return %y : tensor<4x8xf16>
}

// -----

// Scale and bias come in with the last op; a scale of one value is a number there.
// CHECK-LABEL: func @layer_norm
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf32>, %[[B:.*]]: tensor<8xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]] :
// CHECK: %[[MEAN:.*]] = linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK: %[[CENTERED:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[MEAN]] :
// CHECK: %[[SQUARES:.*]] = linalg.generic {{.*}} ins(%[[CENTERED]] :
// CHECK: %[[INVERSE:.*]] = linalg.generic {{.*}} ins(%[[SQUARES]] :
// CHECK: math.sqrt
// CHECK: linalg.generic {{.*}} ins(%[[CENTERED]], %[[INVERSE]], %[[B]] :
// CHECK: %[[TWO:.*]] = arith.constant 2.000000e+00
// CHECK: %[[NORMAL:.*]] = arith.mulf
// CHECK: arith.mulf %[[NORMAL]], %[[TWO]]
// CHECK: arith.addf
func.func @layer_norm(%x: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<2x8xf32> {
  %s = arith.constant dense<2.0> : tensor<8xf32>
  %y = autotune.layer_norm %x scale(%s : tensor<8xf32>) bias(%b : tensor<8xf32>) axes [1] epsilon 1.0e-5
     : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// CHECK-LABEL: func @rms_norm
// CHECK-NOT: arith.subf
// CHECK: math.sqrt
func.func @rms_norm(%x: tensor<2x8xf32>, %s: tensor<8xf32>) -> tensor<2x8xf32> {
  %y = autotune.layer_norm rms %x scale(%s : tensor<8xf32>) axes [1] epsilon 1.0e-5 : tensor<2x8xf32>
  return %y : tensor<2x8xf32>
}

// -----

// The transposition of the key is composed with the one before it.
// CHECK-LABEL: func @attention
// CHECK-SAME: %[[Q:.*]]: tensor<1x4x2x16xf32>, %[[K:.*]]: tensor<1x8x4x16xf32>, %[[V:.*]]: tensor<1x4x8x16xf32>
// CHECK: linalg.transpose ins(%[[K]] : {{.*}} permutation = [0, 2, 3, 1]
// CHECK: linalg.batch_matmul ins({{.*}} : tensor<4x2x16xf32>, tensor<4x16x8xf32>)
// CHECK: %[[SCALE:.*]] = arith.constant 2.500000e-01
// CHECK: arith.mulf %{{.*}}, %[[SCALE]]
// CHECK: math.exp
// CHECK: linalg.batch_matmul ins({{.*}} : tensor<4x2x8xf32>, tensor<4x8x16xf32>)
func.func @attention(%q: tensor<1x4x2x16xf32>, %k: tensor<1x8x4x16xf32>, %v: tensor<1x4x8x16xf32>)
    -> tensor<1x4x2x16xf32> {
  %e = tensor.empty() : tensor<1x4x8x16xf32>
  %kt = linalg.transpose ins(%k : tensor<1x8x4x16xf32>) outs(%e : tensor<1x4x8x16xf32>) permutation = [0, 2, 1, 3]
  %y = autotune.attention %q, %kt, %v scale 0.25
     : tensor<1x4x2x16xf32>, tensor<1x4x8x16xf32>, tensor<1x4x8x16xf32> -> tensor<1x4x2x16xf32>
  return %y : tensor<1x4x2x16xf32>
}

// -----

// Heads of the query that share one of the key are rows of one matrix; causal rows add 0 or minus infinity.
// CHECK-LABEL: func @shared_heads
// CHECK: linalg.batch_matmul ins({{.*}} : tensor<2x6x4xf32>, tensor<2x4x3xf32>)
// CHECK: arith.constant dense<{{\[\[}}0.000000e+00, 0xFF800000, 0xFF800000], [0.000000e+00, 0.000000e+00, 0xFF800000]
// CHECK: linalg.batch_matmul ins({{.*}} : tensor<2x6x3xf32>, tensor<2x3x5xf32>)
func.func @shared_heads(%q: tensor<1x4x3x4xf32>, %k: tensor<1x2x3x4xf32>, %v: tensor<1x2x3x5xf32>)
    -> tensor<1x4x3x5xf32> {
  %y = autotune.attention %q, %k, %v scale 1.0 causal 0
     : tensor<1x4x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x5xf32> -> tensor<1x4x3x5xf32>
  return %y : tensor<1x4x3x5xf32>
}

// -----

// CHECK-LABEL: func @bool_mask
// CHECK: linalg.matmul ins({{.*}} : tensor<3x4xf32>, tensor<4x6xf32>)
// CHECK: arith.constant -1.000000e+09
// CHECK: arith.select
func.func @bool_mask(%q: tensor<3x4xf32>, %k: tensor<6x4xf32>, %v: tensor<6x4xf32>, %m: tensor<6xi1>)
    -> tensor<3x4xf32> {
  %y = autotune.attention %q, %k, %v mask(%m : tensor<6xi1>) scale 1.0 fill -1.0e9
     : tensor<3x4xf32>, tensor<6x4xf32>, tensor<6x4xf32> -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// Kernels take these whole: f32, rows that fill vectors, enough queries to fill lanes. Transpositions become orders.
// CHECK-LABEL: func @whole
// CHECK-SAME: %[[Q:.*]]: tensor<1x8x4x16xf32>, %[[K:.*]]: tensor<1x4x16x20xf32>, %[[V:.*]]: tensor<1x4x20x16xf32>
// CHECK-NOT: linalg.transpose
// CHECK: %[[Y:.*]] = autotune.attention %[[Q]], %[[K]], %[[V]] scale 2.500000e-01
// CHECK-SAME: key_order = array<i64: 0, 1, 3, 2>, query_order = array<i64: 0, 2, 1, 3>, result_order = array<i64: 0, 2, 1, 3>
// CHECK-SAME: -> tensor<1x8x4x16xf32>
// CHECK: %[[N:.*]] = autotune.layer_norm %[[Y]]
// CHECK: linalg.softmax {{.*}} ins(%[[N]]
func.func @whole(%q: tensor<1x8x4x16xf32>, %k: tensor<1x4x16x20xf32>, %v: tensor<1x4x20x16xf32>)
    -> tensor<1x8x4x16xf32> {
  %e = tensor.empty() : tensor<1x4x8x16xf32>
  %f = tensor.empty() : tensor<1x4x20x16xf32>
  %g = tensor.empty() : tensor<1x8x4x16xf32>
  %qt = linalg.transpose ins(%q : tensor<1x8x4x16xf32>) outs(%e : tensor<1x4x8x16xf32>) permutation = [0, 2, 1, 3]
  %kt = linalg.transpose ins(%k : tensor<1x4x16x20xf32>) outs(%f : tensor<1x4x20x16xf32>) permutation = [0, 1, 3, 2]
  %y = autotune.attention %qt, %kt, %v scale 0.25
     : tensor<1x4x8x16xf32>, tensor<1x4x20x16xf32>, tensor<1x4x20x16xf32> -> tensor<1x4x8x16xf32>
  %t = linalg.transpose ins(%y : tensor<1x4x8x16xf32>) outs(%g : tensor<1x8x4x16xf32>) permutation = [0, 2, 1, 3]
  %n = autotune.layer_norm %t axes [3] epsilon 1.0e-5 : tensor<1x8x4x16xf32>
  %s = linalg.softmax dimension(3) ins(%n : tensor<1x8x4x16xf32>) outs(%g : tensor<1x8x4x16xf32>) -> tensor<1x8x4x16xf32>
  return %s : tensor<1x8x4x16xf32>
}

// -----

// Lanes would run across the memory of this query: its transposition stays.
// CHECK-LABEL: func @columns_of_query
// CHECK: linalg.transpose
// CHECK: autotune.attention
// CHECK-NOT: query_order
func.func @columns_of_query(%q: tensor<16x8xf32>, %k: tensor<20x16xf32>, %v: tensor<20x16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %qt = linalg.transpose ins(%q : tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) permutation = [1, 0]
  %y = autotune.attention %qt, %k, %v scale 0.25 : tensor<8x16xf32>, tensor<20x16xf32>, tensor<20x16xf32> -> tensor<8x16xf32>
  return %y : tensor<8x16xf32>
}
