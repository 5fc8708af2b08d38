// RUN: coll-opt %s --allow-unregistered-dialect --coll-import-stablehlo | FileCheck %s

// A linear model's step as JAX prints it, shortened. The argument named `s…` is
// updated by the first result, so it is state; @relu is inlined.

// CHECK: func.func @step(%[[W:.*]]: tensor<3xf32> {coll.name = "s['w']", coll.role = "state"},
// CHECK-SAME: %[[X:.*]]: tensor<4x3xf32> {coll.name = "b['x']", coll.role = "batch"})
// CHECK-SAME: -> (tensor<3xf32>, tensor<f32> {coll.name = "loss"})
// CHECK: %[[DOT:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[W]]
// CHECK: %[[RELU:.*]] = arith.maximumf %[[DOT]], %{{.*}} : tensor<4xf32>
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} iterator_types = ["reduction"]} ins(%[[RELU]]
// CHECK: arith.addf
// CHECK: %[[SPREAD:.*]] = linalg.generic {{.*}} ins(%[[SUM]] : tensor<f32>) outs(%{{.*}} : tensor<3xf32>)
// CHECK: %[[NEXT:.*]] = arith.subf %[[W]], %[[SPREAD]] : tensor<3xf32>
// CHECK: return %[[NEXT]], %[[SUM]]
// CHECK-NOT: func.func
"builtin.module"() <{sym_name = "jit_step"}> ({
  "func.func"() <{function_type = (tensor<3xf32>, tensor<4x3xf32>) -> (tensor<3xf32>, tensor<f32>), sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%w: tensor<3xf32> loc("s['w']"), %x: tensor<4x3xf32> loc("b['x']")):
    %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4xf32>
    %1 = "func.call"(%0) <{callee = @relu}> : (tensor<4xf32>) -> tensor<4xf32>
    %2 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.reduce"(%1, %2) <{dimensions = array<i64: 0>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %6 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%6) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3xf32>
    %5 = "stablehlo.subtract"(%w, %4) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
    "func.return"(%5, %3) : (tensor<3xf32>, tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%x: tensor<4xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4xf32>
    %2 = "stablehlo.maximum"(%x, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"(%2) : (tensor<4xf32>) -> ()
  }) : () -> ()
}) : () -> ()
