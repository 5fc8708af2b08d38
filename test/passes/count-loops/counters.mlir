// RUN: coll-opt %s --coll-count-loops --split-input-file | FileCheck %s

// The counter starts at 2 and moves by 3; the device reads it, too, and so it stays.

// CHECK-LABEL: func.func @read_by_the_device
// CHECK-DAG: %[[TRIPS:.*]] = arith.constant 3 : index
// CHECK-DAG: %[[LAST:.*]] = arith.constant dense<11> : tensor<i32>
// CHECK: scf.for {{.*}} to %[[TRIPS]] step {{.*}} iter_args(%[[I:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}) -> (tensor<i32>, tensor<i32>)
// CHECK: arith.addi %[[SUM]], %[[I]]
// CHECK: arith.addi %[[I]], %{{.*}}
// CHECK: return %[[LAST]]
func.func @read_by_the_device() -> (tensor<i32>, tensor<i32>) {
  %two = arith.constant dense<2> : tensor<i32>
  %three = arith.constant dense<3> : tensor<i32>
  %ten = arith.constant dense<10> : tensor<i32>
  %r:2 = scf.while (%i = %two, %s = %two) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %more = arith.cmpi slt, %i, %ten : tensor<i32>
    %c = tensor.extract %more[] : tensor<i1>
    scf.condition(%c) %i, %s : tensor<i32>, tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>, %s: tensor<i32>):
    %t = arith.addi %s, %i : tensor<i32>
    %next = arith.addi %i, %three : tensor<i32>
    scf.yield %next, %t : tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// -----

// A counter that would wrap round, or that does not move, is none.

// CHECK-LABEL: func.func @wraps
// CHECK: scf.while
func.func @wraps() -> tensor<i8> {
  %start = arith.constant dense<0> : tensor<i8>
  %step = arith.constant dense<100> : tensor<i8>
  %end = arith.constant dense<120> : tensor<i8>
  %r = scf.while (%i = %start) : (tensor<i8>) -> tensor<i8> {
    %more = arith.cmpi slt, %i, %end : tensor<i8>
    %c = tensor.extract %more[] : tensor<i1>
    scf.condition(%c) %i : tensor<i8>
  } do {
  ^bb0(%i: tensor<i8>):
    %next = arith.addi %i, %step : tensor<i8>
    scf.yield %next : tensor<i8>
  }
  return %r : tensor<i8>
}

// -----

// CHECK-LABEL: func.func @stands
// CHECK: scf.while
func.func @stands(%limit: tensor<i32>) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %end = arith.constant dense<5> : tensor<i32>
  %r = scf.while (%i = %zero) : (tensor<i32>) -> tensor<i32> {
    %more = arith.cmpi slt, %i, %end : tensor<i32>
    %c = tensor.extract %more[] : tensor<i1>
    scf.condition(%c) %i : tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>):
    %next = arith.addi %i, %limit : tensor<i32>
    scf.yield %next : tensor<i32>
  }
  return %r : tensor<i32>
}
