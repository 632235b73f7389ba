// The graph passes one after the other: two padded convolutions, the first with a tail, in blocks of eight channels.
// RUN: autotune-opt %s --autotune-extract-graph --autotune-apply-layout=partition=%S/Inputs/two_convolutions.yaml --autotune-outline-kernels --autotune-place-buffers | FileCheck %s

#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
// The copy into blocks writes the interior of the first padded buffer, the first convolution with its tail the interior
// of the second; the second convolution is followed by the copy to the plain result. No operator is left in @main.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<1x16x8x8xf32>)
// CHECK-NOT: tensor.pad
// CHECK-NOT: linalg
// CHECK-DAG: %[[WIDE:.+]] = tensor.expand_shape %[[X]]
// CHECK-DAG: %[[BORDER0:.+]] = call @border{{.*}} -> tensor<1x2x10x10x8xf32>
// CHECK: %[[PADDED0:.+]] = call @kernel_[[PACK:.+]](%[[WIDE]], %[[BORDER0]])
// CHECK: %[[BORDER1:.+]] = call @border{{.*}} -> tensor<1x2x10x10x8xf32>
// CHECK: %[[PADDED1:.+]] = call @kernel_[[FIRST:.+]](%[[PADDED0]], %{{.*}}, %[[BORDER1]])
// CHECK: %[[BLOCKED:.+]] = call @kernel_[[SECOND:.+]](%[[PADDED1]], %{{.*}}, %{{.*}}) {{.*}} -> tensor<1x2x8x8x8xf32>
// CHECK: %[[UNPACKED:.+]] = call @kernel_{{.+}}(%[[BLOCKED]],
// CHECK: %[[PLAIN:.+]] = tensor.collapse_shape %[[UNPACKED]]
// CHECK-NEXT: return %[[PLAIN]]
func.func @main(%x: tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> {
  %w = arith.constant dense<1.0> : tensor<16x16x3x3xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x16x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %p0 = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x16x8x8xf32> to tensor<1x16x10x10xf32>
  %y0 = linalg.conv_2d_nchw_fchw ins(%p0, %w : tensor<1x16x10x10xf32>, tensor<16x16x3x3xf32>)
          outs(%f : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%y0 : tensor<1x16x8x8xf32>) outs(%e : tensor<1x16x8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x16x8x8xf32>
  %p1 = tensor.pad %r low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x16x8x8xf32> to tensor<1x16x10x10xf32>
  %y1 = linalg.conv_2d_nchw_fchw ins(%p1, %w : tensor<1x16x10x10xf32>, tensor<16x16x3x3xf32>)
          outs(%f : tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32>
  return %y1 : tensor<1x16x8x8xf32>
}
