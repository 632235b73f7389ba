// RUN: autotune-opt %s --autotune-lower-kernel | FileCheck %s

// Conversions from and to bf16 are integer arithmetic: on machines without such instructions LLVM would call a function
// that no library has.
// CHECK-LABEL: llvm.func internal @kernel_body
// CHECK-NOT: llvm.fptrunc
// CHECK-NOT: llvm.fpext
// CHECK: llvm.trunc
// CHECK: llvm.return
func.func @k(%x: tensor<8xf32>, %y: tensor<8xbf16>, %dest: tensor<8xbf16>, %begin: index, %end: index) -> tensor<8xbf16> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xf32>, tensor<8xbf16>) outs(%dest : tensor<8xbf16>) {
  ^bb0(%a: f32, %b: bf16, %o: bf16):
    %wide = arith.extf %b : bf16 to f32
    %sum = arith.addf %a, %wide : f32
    %narrow = arith.truncf %sum : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<8xbf16>
  return %r : tensor<8xbf16>
}
