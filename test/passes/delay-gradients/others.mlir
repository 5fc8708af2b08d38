// RUN: coll-opt %s --coll-delay-gradients | FileCheck %s

// A norm for the update is that of the older gradient. A key that gradients are computed from, and
// statistics of the batch, go on at once.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[KEY:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[MEAN:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[LATE:[a-z0-9]+]]: tensor<4xf32> {coll.name = "late.0", coll.parts = []
// CHECK: %[[NORM:.+]] = linalg.generic {{.*}} ins(%[[LATE]] :
// CHECK: coll.root_update {{.*}} factor(%[[NORM]]
// CHECK: %[[KEY1:.+]] = arith.addf %[[KEY]], %[[KEY]]
// CHECK: %[[MEAN1:.+]] = arith.addf %[[MEAN]], %{{.+}}
// CHECK: return %{{.+}}#0, %[[KEY1]], %[[MEAN1]],
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %key: tensor<4xf32> {coll.role = "state"},
                %mean: tensor<4xf32> {coll.role = "state"}, %x: tensor<4xf32> {coll.role = "batch"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.mulf %w, %x : tensor<4xf32>
  %g = arith.mulf %0, %key : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %norm = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%g : tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %sum = arith.addf %out, %square : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  %w1 = coll.root_update grad(%g : tensor<4xf32>) state(%w : tensor<4xf32>) factor(%norm : tensor<f32>) forward 1 {
  ^bb0(%ge: f32, %we: f32, %n: f32):
    %step = arith.divf %ge, %n : f32
    %next = arith.subf %we, %step : f32
    coll.yield %next : f32
  }
  %key1 = arith.addf %key, %key : tensor<4xf32>
  %mean1 = arith.addf %mean, %x : tensor<4xf32>
  return %w1, %key1, %mean1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
