// A kernel to try nests on: (m, n | k).
func.func @kernel(%a: tensor<16x8xf32>, %b: tensor<8x24xf32>, %dest: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%dest : tensor<16x24xf32>) -> tensor<16x24xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
         ins(%a, %b : tensor<16x8xf32>, tensor<8x24xf32>) outs(%f : tensor<16x24xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x24xf32>
  return %y : tensor<16x24xf32>
}
