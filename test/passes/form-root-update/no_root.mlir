// RUN: coll-opt %s --coll-form-root-update | FileCheck %s

// Without a root to move to, every rank has the whole gradient, for the update and for the sort.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<4xf32>
// CHECK: coll.root_update grad(%[[G]] : tensor<4xf32>) state(%[[W]] : tensor<4xf32>) forward 1 {
// CHECK: coll.sort %[[G]]
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %g: tensor<4xf32> {coll.role = "batch"})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %w1 = arith.subf %w, %g : tensor<4xf32>
  %sorted = coll.sort %g dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<4xf32>
  %n = arith.addf %sorted, %w : tensor<4xf32>
  return %w1, %n : tensor<4xf32>, tensor<4xf32>
}
