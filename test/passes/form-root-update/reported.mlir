// RUN: coll-opt %s --coll-form-root-update --split-input-file --verify-diagnostics | FileCheck %s

// Without a root to move to, every rank has the whole gradient: for the update, and to return it
// and what it is sorted to.
// CHECK-LABEL: func.func @step(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<4xf32>
// CHECK: %[[UPDATED:.*]] = coll.root_update grad(%[[G]] : tensor<4xf32>) state(%[[W]] : tensor<4xf32>) forward 1 {
// CHECK: %[[SORTED:.*]] = coll.sort %[[G]]
// CHECK: %[[LOSS:.*]] = arith.addf %[[SORTED]], %[[W]]
// CHECK: return %[[UPDATED]], %[[G]], %[[LOSS]]
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %g: tensor<4xf32> {coll.role = "batch"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %w1 = arith.subf %w, %g : tensor<4xf32>
  %sorted = coll.sort %g dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<4xf32>
  %loss = arith.addf %sorted, %w : tensor<4xf32>
  return %w1, %g, %loss : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// Another state follows from the sorted gradient: its update would have another step's gradient.
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %m: tensor<4xf32> {coll.role = "state"},
                %g: tensor<4xf32> {coll.role = "batch"})
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %w1 = arith.subf %w, %g : tensor<4xf32>
  %loss = arith.addf %w, %g : tensor<4xf32>
  // expected-remark@+2 {{updates state argument 1 not element by element from itself and a gradient}}
  // expected-remark@+1 {{needs the whole gradient of state argument 0 on every rank}}
  %sorted = coll.sort %g dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<4xf32>
  return %w1, %sorted, %loss : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
