// RUN: autotune-opt %s --autotune-lower-kernel | FileCheck %s

// What is read from the destination, in another place than it is stored, is read before anything is stored.
// CHECK-LABEL: llvm.func internal @kernel_body
// CHECK-NOT: llvm.store
// CHECK-COUNT-2: llvm.load {{.+}} -> vector<32xf32>
// CHECK-NOT: llvm.load
// CHECK-COUNT-2: llvm.store {{.+}} : vector<32xf32>
func.func @kernel(%in: tensor<2x32xf32>, %dest: tensor<2x32xf32>, %begin: index, %end: index) -> tensor<2x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %x = vector.transfer_read %dest[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<2x32xf32>, vector<2x32xf32>
  %y = arith.negf %x : vector<2x32xf32>
  %r = vector.transfer_write %y, %dest[%c0, %c0] {in_bounds = [true, true]} : vector<2x32xf32>, tensor<2x32xf32>
  return %r : tensor<2x32xf32>
}
