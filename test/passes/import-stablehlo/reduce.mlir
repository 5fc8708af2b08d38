// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --coll-import-stablehlo | FileCheck %s

// A recognised reduction starts at its identity. Here the initial value is it.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<2x3xf32>
// CHECK: %[[START:.*]] = arith.constant dense<0xFF800000> : tensor<2xf32>
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]] {{.*}} outs(%[[START]]
// CHECK: arith.maximumf
// CHECK: return %[[MAX]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %c = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Any other initial value is combined once, afterwards.
// CHECK-LABEL: @step
// CHECK-SAME: %[[X:.*]]: tensor<2x3xi8> {{.*}}, %[[INIT:.*]]: tensor<i8>
// CHECK: %[[START:.*]] = arith.constant dense<-1> : tensor<3xi8>
// CHECK: %[[MIN:.*]] = linalg.generic {{.*}} iterator_types = ["reduction", "parallel"]} ins(%[[X]] {{.*}} outs(%[[START]]
// CHECK: arith.minui
// CHECK: %[[INITS:.*]] = linalg.generic {{.*}} ins(%[[INIT]]
// CHECK: arith.minui %[[INITS]], %[[MIN]] : tensor<3xi8>
func.func @main(%x: tensor<2x3xui8>, %init: tensor<ui8>) -> tensor<3xui8> {
  %0 = "stablehlo.reduce"(%x, %init) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %1 = "stablehlo.minimum"(%b, %a) : (tensor<ui8>, tensor<ui8>) -> tensor<ui8>
    "stablehlo.return"(%1) : (tensor<ui8>) -> ()
  }) : (tensor<2x3xui8>, tensor<ui8>) -> tensor<3xui8>
  return %0 : tensor<3xui8>
}

// -----

// Any other region starts at the initial values: here the largest and its place.
// CHECK-LABEL: @step
// CHECK-SAME: %{{.*}}, %{{.*}}, %[[V:.*]]: tensor<f32>
// CHECK: %[[VALUES:.*]] = linalg.generic {{.*}} ins(%[[V]]
// CHECK: %[[PLACES:.*]] = arith.constant dense<-1> : tensor<2xi32>
// CHECK: linalg.generic {{.*}} outs(%[[VALUES]], %[[PLACES]] :
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[I:.*]]: i32, %[[BEST:.*]]: f32, %[[BEST_I:.*]]: i32):
// CHECK: %[[KEEPS:.*]] = arith.cmpf oge, %[[BEST]], %[[X]]
// CHECK: %[[VALUE:.*]] = arith.select %[[KEEPS]], %[[BEST]], %[[X]]
// CHECK: %[[PLACE:.*]] = arith.select %[[KEEPS]], %[[BEST_I]], %[[I]]
// CHECK: linalg.yield %[[VALUE]], %[[PLACE]]
func.func @main(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %v: tensor<f32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %c = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.reduce"(%x, %i, %v, %c) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %ai: tensor<i32>, %b: tensor<f32>, %bi: tensor<i32>):
    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = "stablehlo.select"(%1, %a, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = "stablehlo.select"(%1, %ai, %bi) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%2, %3) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
}

// -----

// One generic, no transpose: batch, left, right, then contracted loops.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[RIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
// CHECK-DAG: #[[OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-LABEL: @step
// CHECK: linalg.generic {indexing_maps = [#[[LEFT]], #[[RIGHT]], #[[OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-NOT: linalg.{{transpose|generic}}
// CHECK: return
func.func @main(%x: tensor<5x2x3xf32>, %y: tensor<4x5x3xf32>) -> tensor<5x2x4xf32> {
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (tensor<5x2x3xf32>, tensor<4x5x3xf32>) -> tensor<5x2x4xf32>
  return %0 : tensor<5x2x4xf32>
}

// -----

// 16-bit floats are accumulated in f32.
// CHECK-LABEL: @step
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<f32>)
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.truncf %[[SUM]] : tensor<f32> to tensor<bf16>
func.func @main(%x: tensor<3xbf16>, %y: tensor<3xbf16>) -> tensor<bf16> {
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<3xbf16>, tensor<3xbf16>) -> tensor<bf16>
  return %0 : tensor<bf16>
}
