// Windows that move with a stride, and rows that are reduced inside the tile.
// RUN: autotune-opt %s --autotune-tile-kernel="tiles=0:1,1:1,2:1,3:4 reductions=5:1,6:1" --autotune-vectorize-kernel -split-input-file | FileCheck %s

#in = affine_map<(n, c, h, w, v, kh, kw) -> (n, c, h * 2 + kh, w * 2 + kw, v)>
#window = affine_map<(n, c, h, w, v, kh, kw) -> (kh, kw)>
#weights = affine_map<(n, c, h, w, v, kh, kw) -> (c, kh, kw, v)>
#out = affine_map<(n, c, h, w, v, kh, kw) -> (n, c, h, w, v)>

// Pooling with a stride of two: a maximum of vectors, no scalar loop.
// CHECK-LABEL: func.func @pool
// CHECK-NOT: linalg.generic
// CHECK: scf.for {{.*}} -> (vector<4x8xf32>)
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : vector<4x8xf32>
// CHECK: scf.yield %{{.*}} : vector<4x8xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @pool(%x: tensor<1x2x17x17x8xf32>, %k: tensor<3x3xf32>, %dest: tensor<1x2x8x8x8xf32>) -> tensor<1x2x8x8x8xf32> {
  %low = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%low : f32) outs(%dest : tensor<1x2x8x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  %y = linalg.generic {indexing_maps = [#in, #window, #out],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
         ins(%x, %k : tensor<1x2x17x17x8xf32>, tensor<3x3xf32>) outs(%f : tensor<1x2x8x8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.maximumf %o, %p : f32
    linalg.yield %m : f32
  } -> tensor<1x2x8x8x8xf32>
  return %y : tensor<1x2x8x8x8xf32>
}

// -----

#in = affine_map<(n, c, h, w, v, kh, kw) -> (n, c, h * 2 + kh, w * 2 + kw, v)>
#weights = affine_map<(n, c, h, w, v, kh, kw) -> (c, kh, kw, v)>
#out = affine_map<(n, c, h, w, v, kh, kw) -> (n, c, h, w, v)>

// Depthwise with a stride of two.
// CHECK-LABEL: func.func @depthwise
// CHECK-NOT: linalg.generic
// CHECK: scf.for {{.*}} -> (vector<4x8xf32>)
// CHECK: vector<4x8xf32>
// CHECK: scf.yield %{{.*}} : vector<4x8xf32>
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @depthwise(%x: tensor<1x2x17x17x8xf32>, %k: tensor<2x3x3x8xf32>, %dest: tensor<1x2x8x8x8xf32>) -> tensor<1x2x8x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%dest : tensor<1x2x8x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  %y = linalg.generic {indexing_maps = [#in, #weights, #out],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
         ins(%x, %k : tensor<1x2x17x17x8xf32>, tensor<2x3x3x8xf32>) outs(%f : tensor<1x2x8x8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x2x8x8x8xf32>
  return %y : tensor<1x2x8x8x8xf32>
}
