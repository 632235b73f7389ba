func.func @attention(%q: tensor<2x3x32x8xf32>, %k: tensor<2x3x100x8xf32>, %v: tensor<2x3x100x12xf32>,
                     %dest: tensor<2x3x32x12xf32>) -> tensor<2x3x32x12xf32> {
  %y = autotune.attention %q, %k, %v scale 0.25
     : tensor<2x3x32x8xf32>, tensor<2x3x100x8xf32>, tensor<2x3x100x12xf32> -> tensor<2x3x32x12xf32>
  return %y : tensor<2x3x32x12xf32>
}
