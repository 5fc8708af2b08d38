// RUN: coll-opt %s --coll-count-loops | FileCheck %s

// The host counts a scan of three iterations, and computes the position of the slice from its own
// counter. A loop whose end the device computes stays.

// CHECK-LABEL: func.func @scan
// CHECK-SAME:    %[[XS:.*]]: tensor<3x8xf32>, %[[INIT:.*]]: tensor<8xf32>
func.func @scan(%xs: tensor<3x8xf32>, %init: tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : index
  // CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : index
  // CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : index
  // CHECK-DAG: %[[LAST:.*]] = arith.constant dense<3> : tensor<i32>
  // CHECK: %[[R:.*]] = scf.for %[[N:.*]] = %[[ZERO]] to %[[THREE]] step %[[ONE]] iter_args(%[[X:.*]] = %[[INIT]])
  // CHECK-NOT: tensor.extract %
  // CHECK: %[[I:.*]] = arith.index_cast %[[N]] : index to i32
  // CHECK: tensor.extract_slice %[[XS]][%{{.*}}, 0] [1, 8] [1, 1]
  // CHECK: scf.yield %{{.*}} : tensor<8xf32>
  // CHECK: return %[[LAST]], %[[R]]
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %three = arith.constant dense<3> : tensor<i32>
  %r:2 = scf.while (%i = %zero, %x = %init) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %more = arith.cmpi slt, %i, %three : tensor<i32>
    %c = tensor.extract %more[] : tensor<i1>
    scf.condition(%c) %i, %x : tensor<i32>, tensor<8xf32>
  } do {
  ^bb0(%i: tensor<i32>, %x: tensor<8xf32>):
    %back = arith.subi %three, %i : tensor<i32>
    %before = arith.subi %back, %one : tensor<i32>
    %at = tensor.extract %before[] : tensor<i32>
    %index = arith.index_cast %at : i32 to index
    %slice = tensor.extract_slice %xs[%index, 0] [1, 8] [1, 1] : tensor<3x8xf32> to tensor<8xf32>
    %sum = arith.addf %x, %slice : tensor<8xf32>
    %next = arith.addi %i, %one : tensor<i32>
    scf.yield %next, %sum : tensor<i32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<8xf32>
}

// CHECK-LABEL: func.func @computed_end
// CHECK: scf.while
// CHECK-NOT: scf.for
func.func @computed_end(%end: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %r = scf.while (%i = %zero) : (tensor<i32>) -> tensor<i32> {
    %more = arith.cmpi slt, %i, %end : tensor<i32>
    %c = tensor.extract %more[] : tensor<i1>
    scf.condition(%c) %i : tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    %next = arith.addi %i, %one : tensor<i32>
    scf.yield %next : tensor<i32>
  }
  return %r : tensor<i32>
}
