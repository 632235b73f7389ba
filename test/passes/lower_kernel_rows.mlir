// RUN: autotune-opt %s --autotune-lower-kernel | FileCheck %s

// A tile of two rows of 64: each half row is read, computed and stored before the next one is looked at.
// CHECK-LABEL: llvm.func internal @kernel_body
// CHECK: llvm.load {{.+}} -> vector<32xf32>
// CHECK-NEXT: llvm.fneg {{.+}} : vector<32xf32>
// CHECK-NEXT: llvm.fmul {{.+}} : vector<32xf32>
// CHECK: llvm.store {{.+}} : vector<32xf32>
// CHECK: llvm.load {{.+}} -> vector<32xf32>
// CHECK-NEXT: llvm.fneg
// CHECK-NEXT: llvm.fmul
// CHECK: llvm.store
// CHECK: llvm.load {{.+}} -> vector<32xf32>
// CHECK-NEXT: llvm.fneg
// CHECK-NEXT: llvm.fmul
// CHECK: llvm.store
// CHECK: llvm.load {{.+}} -> vector<32xf32>
// CHECK-NEXT: llvm.fneg
// CHECK-NEXT: llvm.fmul
// CHECK: llvm.store
// CHECK-NOT: llvm.load {{.+}} -> vector
func.func @kernel(%in: tensor<2x64xf32>, %dest: tensor<2x64xf32>, %begin: index, %end: index) -> tensor<2x64xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %x = vector.transfer_read %in[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<2x64xf32>, vector<2x64xf32>
  %y = arith.negf %x : vector<2x64xf32>
  %z = arith.mulf %y, %x : vector<2x64xf32>
  %r = vector.transfer_write %z, %dest[%c0, %c0] {in_bounds = [true, true]} : vector<2x64xf32>, tensor<2x64xf32>
  return %r : tensor<2x64xf32>
}
