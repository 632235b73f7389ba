// RUN: autotune-opt %s --autotune-tile-kernel="tiles=1:8" --autotune-vectorize-kernel | FileCheck %s

// A kernel that writes its part of a concatenation, with a rest of the loop: the rest is written into the loop's
// result, and both reach the destination.
#m = affine_map<(a, b, c) -> (a, b, c)>
// CHECK-LABEL: func.func @kernel
// CHECK-SAME: %[[DEST:[a-z0-9]+]]: tensor<1x68x4xf32>, %{{[a-z0-9]+}}: index
// CHECK: %[[LOOP:.+]] = scf.for
// CHECK: vector.transfer_write {{.*}} : vector<8x2xf32>
// CHECK: %[[REST:.+]] = vector.transfer_write %{{.+}}, %[[LOOP]][{{.*}} : vector<4x2xf32>
// CHECK: %[[ALL:.+]] = tensor.insert_slice %[[REST]] into %[[DEST]][0, 0, 2]
// CHECK: return %[[ALL]]
func.func @kernel(%x: tensor<1x68x4xf32>, %d: tensor<1x68x4xf32>) -> tensor<1x68x4xf32> {
  %xs = tensor.extract_slice %x[0, 0, 2] [1, 68, 2] [1, 1, 1] : tensor<1x68x4xf32> to tensor<1x68x2xf32>
  %ds = tensor.extract_slice %d[0, 0, 2] [1, 68, 2] [1, 1, 1] : tensor<1x68x4xf32> to tensor<1x68x2xf32>
  %0 = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%xs : tensor<1x68x2xf32>) outs(%ds : tensor<1x68x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %e = arith.mulf %in, %in : f32
    linalg.yield %e : f32
  } -> tensor<1x68x2xf32>
  %1 = tensor.insert_slice %0 into %d[0, 0, 2] [1, 68, 2] [1, 1, 1] : tensor<1x68x2xf32> into tensor<1x68x4xf32>
  return %1 : tensor<1x68x4xf32>
}
