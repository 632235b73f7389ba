// A 3x3 convolution with a fused tail that writes the interior of a padded buffer: (n, h, w, o, v | i, kh, kw, c).
#tail = affine_map<(n, h, w, o, v) -> (n, o, h, w, v)>
func.func @kernel(%x: tensor<1x2x10x10x8xf32>, %w: tensor<2x2x3x3x8x8xf32>, %dest: tensor<1x2x10x10x8xf32>) -> tensor<1x2x10x10x8xf32> {
  %zero = arith.constant 0.0 : f32
  %part = tensor.extract_slice %dest[0, 0, 1, 1, 0] [1, 2, 8, 8, 8] [1, 1, 1, 1, 1] : tensor<1x2x10x10x8xf32> to tensor<1x2x8x8x8xf32>
  %e = tensor.empty() : tensor<1x2x8x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x8x8x8xf32>) -> tensor<1x2x8x8x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, h, w, o, v, i, kh, kw, c) -> (n, i, h + kh, w + kw, c)>,
                                        affine_map<(n, h, w, o, v, i, kh, kw, c) -> (o, i, kh, kw, c, v)>,
                                        affine_map<(n, h, w, o, v, i, kh, kw, c) -> (n, o, h, w, v)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
         ins(%x, %w : tensor<1x2x10x10x8xf32>, tensor<2x2x3x3x8x8xf32>) outs(%f : tensor<1x2x8x8x8xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x2x8x8x8xf32>
  %z = linalg.generic {indexing_maps = [#tail, #tail], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
         ins(%y : tensor<1x2x8x8x8xf32>) outs(%part : tensor<1x2x8x8x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %m = arith.maximumf %p, %zero : f32
    linalg.yield %m : f32
  } -> tensor<1x2x8x8x8xf32>
  %r = tensor.insert_slice %z into %dest[0, 0, 1, 1, 0] [1, 2, 8, 8, 8] [1, 1, 1, 1, 1] : tensor<1x2x8x8x8xf32> into tensor<1x2x10x10x8xf32>
  return %r : tensor<1x2x10x10x8xf32>
}
