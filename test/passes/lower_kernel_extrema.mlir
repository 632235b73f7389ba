// RUN: autotune-opt %s --autotune-lower-kernel | FileCheck %s

// NaN wins as IEEE 754 says; which of two zeros wins is left to the processor, which then needs one instruction.
// CHECK: llvm.intr.maximum{{.*}}{fastmathFlags = #llvm.fastmath<nsz>}
// CHECK: llvm.intr.minimum{{.*}}{fastmathFlags = #llvm.fastmath<nsz, contract>}
func.func @k(%x: tensor<8xf32>, %dest: tensor<8xf32>, %begin: index, %end: index) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%dest : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %low = arith.maximumf %a, %zero : f32
    %high = arith.minimumf %low, %six fastmath<contract> : f32
    linalg.yield %high : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
