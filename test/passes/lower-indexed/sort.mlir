// RUN: coll-opt %s --coll-lower-indexed | FileCheck %s

// Positions are merged between the halves of one scratch tensor, 3 levels for 5 elements;
// the inputs are only read.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[K:.*]]: tensor<2x5xf32>, %[[V:.*]]: tensor<2x5xi32>
func.func @step(%k: tensor<2x5xf32>, %v: tensor<2x5xi32>) -> (tensor<2x5xf32>, tensor<2x5xi32>) {
  // CHECK: tensor.empty() : tensor<10xindex>
  // CHECK: arith.cmpf ogt
  // CHECK: arith.select
  // CHECK: tensor.extract %[[K]]
  // CHECK: tensor.insert
  // CHECK: tensor.extract %[[V]]
  // CHECK: {coll.kernel}
  // CHECK-NOT: coll.sort
  %s, %t = coll.sort %k, %v dim 1 {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    %before = arith.cmpf ogt, %a, %b : f32
    coll.yield %before : i1
  } : tensor<2x5xf32>, tensor<2x5xi32>
  return %s, %t : tensor<2x5xf32>, tensor<2x5xi32>
}
