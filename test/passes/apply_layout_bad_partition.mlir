// Partitions that do not fit the model, or cannot be read.
// RUN: not autotune-opt %s --autotune-apply-layout=partition=%S/Inputs/missing_operator.yaml 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not autotune-opt %s --autotune-apply-layout=partition=%S/Inputs/unknown_key.yaml 2>&1 | FileCheck %s --check-prefix=KEY
// RUN: not autotune-opt %s --autotune-apply-layout=partition=%S/Inputs/absent.yaml 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: not autotune-opt %s --autotune-apply-layout=block=7 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not autotune-opt %s --autotune-apply-layout=isa=sse2 2>&1 | FileCheck %s --check-prefix=ISA

// MISSING: error: {{.*}}operator 1
// KEY: error: partition line 5: found key 'operator', expected a map with the keys channel_block, algorithm, operators
// ABSENT: error: partition '{{.*}}absent.yaml': No such file or directory
// BLOCK: error: {{.*}}7
// ISA: error: expected isa avx2 or avx512, found 'sse2'
#map = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @main(%x: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %e = tensor.empty() : tensor<1x8x4x4xf32>
  %a = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%x : tensor<1x8x4x4xf32>) outs(%e : tensor<1x8x4x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.negf %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x4x4xf32>
  %b = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
         ins(%a : tensor<1x8x4x4xf32>) outs(%e : tensor<1x8x4x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = math.absf %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x4x4xf32>
  return %b : tensor<1x8x4x4xf32>
}
