// RUN: coll-opt %s --coll-lower-indexed=gpu | FileCheck %s

// On GPUs a sort of 5 elements is 3 nests, each of which merges runs: of 1, 2 and 4 elements. An
// iteration searches for the element of its place, and writes nothing else.
// CHECK-LABEL: func @step
// CHECK-SAME: %[[K:.*]]: tensor<2x5xf32>, %[[V:.*]]: tensor<2x5xi32>
func.func @step(%k: tensor<2x5xf32>, %v: tensor<2x5xi32>) -> (tensor<2x5xf32>, tensor<2x5xi32>) {
  // CHECK: %[[ONE:.*]]:2 = scf.for %[[ROW:.*]] = {{.*}} iter_args(
  // CHECK: scf.for %[[PLACE:.*]] = {{.*}} iter_args(
  // CHECK: scf.for {{.*}} -> (index, index)
  // CHECK: tensor.extract %[[K]][%[[ROW]],
  // CHECK: arith.cmpf ogt
  // CHECK: tensor.insert {{.*}}[%[[ROW]], %[[PLACE]]] : tensor<2x5xf32>
  // CHECK: tensor.insert {{.*}}[%[[ROW]], %[[PLACE]]] : tensor<2x5xi32>
  // CHECK: {coll.kernel}
  // CHECK: %[[TWO:.*]]:2 = scf.for
  // CHECK: tensor.extract %[[ONE]]#0
  // CHECK: {coll.kernel}
  // CHECK: %[[FOUR:.*]]:2 = scf.for
  // CHECK: tensor.extract %[[TWO]]#0
  // CHECK: {coll.kernel}
  // CHECK-NOT: scf.for
  // CHECK-NOT: coll.sort
  // CHECK: return %[[FOUR]]#0, %[[FOUR]]#1
  %s, %t = coll.sort %k, %v dim 1 {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    %before = arith.cmpf ogt, %a, %b : f32
    coll.yield %before : i1
  } : tensor<2x5xf32>, tensor<2x5xi32>
  return %s, %t : tensor<2x5xf32>, tensor<2x5xi32>
}
