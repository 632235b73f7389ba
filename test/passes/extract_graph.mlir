// Operators are numbered in program order; constants, empty tensors and fills are no operators.
// RUN: autotune-opt %s --autotune-extract-graph | FileCheck %s
// RUN: autotune-opt %s --autotune-extract-graph=remarks=true -verify-diagnostics -o /dev/null

#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
#kept = affine_map<(n, c, h, w) -> (n, c)>

// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<1x16x8x8xf32>) -> tensor<1x16xf32> {
  // CHECK: arith.constant dense{{.*}}
  // CHECK-NOT: autotune.id
  %w = arith.constant dense<1.0> : tensor<16x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  // CHECK: tensor.pad
  // CHECK: } {autotune.id = 0 : i64}
  // expected-remark @+1 {{operator 0: pad "" follows view (t0 f32 [1x16x8x8]) -> t1 f32 [1x16x10x10] 0 flops}}
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x16x8x8xf32> to tensor<1x16x10x10xf32>
  // CHECK: tensor.empty() : tensor<1x16x8x8xf32>
  %e = tensor.empty() : tensor<1x16x8x8xf32>
  // CHECK: linalg.fill ins
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: linalg.conv_2d_nchw_fchw {autotune.id = 1 : i64
  // expected-remark @+1 {{operator 1: conv2d "" anchor root (t1 f32 [1x16x10x10], const t2 f32 [16x16x3x3]) -> t3 f32 [1x16x8x8]}}
  %y = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x16x10x10xf32>, tensor<16x16x3x3xf32>)
         outs(%f : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  // CHECK: linalg.generic
  // CHECK-SAME: attrs = {autotune.id = 2 : i64}
  // expected-remark @+1 {{operator 2: elementwise "" follows elementwise}}
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%y : tensor<1x16x8x8xf32>) outs(%e : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x16x8x8xf32>
  %e2 = tensor.empty() : tensor<1x16xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x16xf32>) -> tensor<1x16xf32>
  // CHECK: linalg.generic
  // CHECK-SAME: attrs = {autotune.id = 3 : i64}
  // expected-remark @+1 {{operator 3: reduction "" follows root}}
  %s = linalg.generic {indexing_maps = [#map, #kept], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
         ins(%r : tensor<1x16x8x8xf32>) outs(%f2 : tensor<1x16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.addf %a, %o : f32
    linalg.yield %m : f32
  } -> tensor<1x16xf32>
  return %s : tensor<1x16xf32>
}
