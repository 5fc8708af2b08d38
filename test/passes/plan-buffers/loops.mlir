// RUN: coll-opt %s --split-input-file --coll-emit-executable | FileCheck %s

// A row is put into a carried tensor: nothing is copied, before or in the loop.
// CHECK-LABEL: module @put
coll.program @put ranks [0] {
  func.func private @kernel_0(%row: tensor<4xf32> {coll.access = "read"}, %at: index,
      %d: tensor<3x4xf32> {coll.access = "readwrite"}) -> tensor<3x4xf32> {
    %r = tensor.insert_slice %row into %d[%at, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    return %r : tensor<3x4xf32>
  }
  // CHECK: \22arena_bytes\22:0
  // CHECK-LABEL: llvm.func @coll_step
  // CHECK-NOT: llvm.intr.memcpy
  // CHECK: llvm.call @kernel_0(
  // CHECK-NOT: llvm.intr.memcpy
  func.func @step(%t: tensor<3x4xf32> {coll.role = "state"}, %x: tensor<4xf32>) -> tensor<3x4xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %t) -> tensor<3x4xf32> {
      %n = func.call @kernel_0(%x, %i, %c) : (tensor<4xf32>, index, tensor<3x4xf32>) -> tensor<3x4xf32>
      scf.yield %n : tensor<3x4xf32>
    }
    return %r : tensor<3x4xf32>
  }
}

// -----

// What goes round unchanged is not carried; a splat is filled in, not copied.
// CHECK-LABEL: module @pass_through
coll.program @pass_through ranks [0, 1] {
  // CHECK: \22arena_bytes\22:0
  // CHECK-LABEL: llvm.func @coll_step
  // CHECK-NOT: llvm.intr.memcpy
  // CHECK: llvm.intr.memset
  // CHECK-NOT: llvm.intr.memcpy
  func.func @step(%x: tensor<4xf32>) -> tensor<8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant dense<0.0> : tensor<8xf32>
    %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%c = %zero, %w = %x)
        -> (tensor<8xf32>, tensor<4xf32>) {
      %n = coll.all_gather %w dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
      scf.yield %n, %w : tensor<8xf32>, tensor<4xf32>
    }
    return %r#0 : tensor<8xf32>
  }
}
