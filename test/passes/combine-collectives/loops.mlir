// RUN: coll-opt %s --coll-combine-collectives | FileCheck %s

coll.mesh @m ["dp" = 2]

// All ranks go round a loop with a counter equally often.
// CHECK-LABEL: func.func @counted
// CHECK: do
// CHECK: coll.start
// CHECK-COUNT-2: coll.all_reduce sum
// CHECK: coll.await
func.func @counted(%x: tensor<4xf32>, %y: tensor<5xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %end = arith.constant dense<6> : tensor<i32>
  %r:3 = scf.while (%i = %zero, %a = %x, %b = %y) : (tensor<i32>, tensor<4xf32>, tensor<5xf32>)
      -> (tensor<i32>, tensor<4xf32>, tensor<5xf32>) {
    %less = arith.cmpi slt, %i, %end : tensor<i32>
    %more = tensor.extract %less[] : tensor<i1>
    scf.condition(%more) %i, %a, %b : tensor<i32>, tensor<4xf32>, tensor<5xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<5xf32>):
    %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
    %t = coll.all_reduce sum %b over @m["dp"] : tensor<5xf32>
    %n = arith.addi %i, %one : tensor<i32>
    scf.yield %n, %s, %t : tensor<i32>, tensor<4xf32>, tensor<5xf32>
  }
  return %r#1, %r#2 : tensor<4xf32>, tensor<5xf32>
}

// They may not do so where the values of a turn decide.
// CHECK-LABEL: func.func @until
// CHECK-NOT: coll.start
func.func @until(%x: tensor<4xf32>, %y: tensor<5xf32>, %c: tensor<i1>) -> (tensor<4xf32>, tensor<5xf32>) {
  %r:3 = scf.while (%i = %c, %a = %x, %b = %y) : (tensor<i1>, tensor<4xf32>, tensor<5xf32>)
      -> (tensor<i1>, tensor<4xf32>, tensor<5xf32>) {
    %more = tensor.extract %i[] : tensor<i1>
    scf.condition(%more) %i, %a, %b : tensor<i1>, tensor<4xf32>, tensor<5xf32>
  } do {
  ^bb0(%i: tensor<i1>, %a: tensor<4xf32>, %b: tensor<5xf32>):
    %s = coll.all_reduce sum %a over @m["dp"] : tensor<4xf32>
    %t = coll.all_reduce sum %b over @m["dp"] : tensor<5xf32>
    %zero = arith.constant 0 : index
    %first = tensor.extract %s[%zero] : tensor<4xf32>
    %half = arith.constant 0.5 : f32
    %less = arith.cmpf olt, %first, %half : f32
    %n = tensor.from_elements %less : tensor<i1>
    scf.yield %n, %s, %t : tensor<i1>, tensor<4xf32>, tensor<5xf32>
  }
  return %r#1, %r#2 : tensor<4xf32>, tensor<5xf32>
}
