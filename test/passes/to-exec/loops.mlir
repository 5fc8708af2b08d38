// RUN: coll-opt %s --split-input-file --coll-to-exec --coll-verify-exec | FileCheck %s

// A row is put into a carried tensor: nothing is copied, before or in the loop.
// CHECK-LABEL: module @put
// CHECK: exec.function @step({{.*}}) -> tensor<3x4xf32> updates [0] arena 0 {
// CHECK-NOT: exec.copy
// CHECK: exec.rename %arg0 to %[[CARRIED:.+]]
// CHECK: scf.for
// CHECK: exec.rename %[[CARRIED]] to %[[NEXT:.+]]
// CHECK: exec.call @kernel_0(read %arg1, %{{.+}} : index, update %[[NEXT]])
// CHECK-NOT: exec.copy
// CHECK: exec.return
coll.program @put ranks [0] {
  func.func private @kernel_0(%row: tensor<4xf32> {coll.access = "read"}, %at: index,
      %d: tensor<3x4xf32> {coll.access = "readwrite"}) -> tensor<3x4xf32> {
    %r = tensor.insert_slice %row into %d[%at, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<3x4xf32>
    return %r : tensor<3x4xf32>
  }
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
// CHECK: exec.function @step({{.*}}) -> tensor<8xf32> updates [-1] arena 0 {
// CHECK-NOT: exec.copy
// CHECK: exec.fill %{{.+}} with 0.000000e+00 : f32
// CHECK: scf.for
// CHECK: exec.communicate reads(%arg0)
// CHECK-NOT: exec.copy
// CHECK: exec.return
coll.program @pass_through ranks [0, 1] {
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

// -----

// The control flow keeps its scalars. A loop that ends when a value in memory says so reads it.
// CHECK-LABEL: module @class0
// CHECK: exec.function @step
// CHECK: %[[N:.+]] = scf.while (%[[ROUND:.+]] = %{{.+}}) : (index) -> index {
// CHECK: %[[S:.+]] = exec.load %{{.+}}[%{{.+}}] : f32
// CHECK: %[[MORE:.+]] = arith.cmpf olt, %[[S]]
// CHECK: scf.condition(%[[MORE]]) %[[ROUND]] : index
// CHECK: exec.communicate
// CHECK: scf.yield %{{.+}} : index
func.func @step(%x: tensor<1xf32> {coll.role = "state"}) -> tensor<1xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant 8.0 : f32
  %r:2 = scf.while (%v = %x, %n = %c0) : (tensor<1xf32>, index) -> (tensor<1xf32>, index) {
    %s = tensor.extract %v[%c0] : tensor<1xf32>
    %more = arith.cmpf olt, %s, %limit : f32
    scf.condition(%more) %v, %n : tensor<1xf32>, index
  } do {
  ^bb0(%v: tensor<1xf32>, %n: index):
    %next = coll.all_reduce sum %v over [[0]] : tensor<1xf32>
    %m = arith.addi %n, %c1 : index
    scf.yield %next, %m : tensor<1xf32>, index
  }
  return %r#0 : tensor<1xf32>
}
