// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo | FileCheck %s

// CHECK-LABEL: func @step
func.func @main(%k: tensor<3x8xf32>, %v: tensor<3x8xi32>) -> (tensor<3x8xf32>, tensor<3x8xi32>) {
  // CHECK: coll.sort %{{.*}}, %{{.*}} dim 1 {
  // CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: i32, %{{.*}}: i32):
  // CHECK:   %[[LESS:.*]] = arith.cmpf olt, %[[A]], %[[B]]
  // CHECK:   coll.yield %[[LESS]]
  %0:2 = "stablehlo.sort"(%k, %v) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %less = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%less) : (tensor<i1>) -> ()
  }) : (tensor<3x8xf32>, tensor<3x8xi32>) -> (tensor<3x8xf32>, tensor<3x8xi32>)
  return %0#0, %0#1 : tensor<3x8xf32>, tensor<3x8xi32>
}

// -----

// The greatest first, by their unsigned value; positions are sorted along.
// CHECK-LABEL: func @step
func.func @main(%x: tensor<3x8xui8>) -> (tensor<3x2xui8>, tensor<3x2xi32>) {
  // CHECK: coll.sort %{{.*}}, %{{.*}} dim 1 {
  // CHECK:   arith.cmpi ugt
  // CHECK: tensor.extract_slice {{.*}} tensor<3x8xi8> to tensor<3x2xi8>
  // CHECK: tensor.extract_slice {{.*}} tensor<3x8xi32> to tensor<3x2xi32>
  %0:2 = "chlo.top_k"(%x) <{k = 2 : i64}> : (tensor<3x8xui8>) -> (tensor<3x2xui8>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xui8>, tensor<3x2xi32>
}
