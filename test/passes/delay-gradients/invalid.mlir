// RUN: coll-opt %s --coll-delay-gradients --verify-diagnostics --split-input-file
// RUN: not coll-opt %s --coll-delay-gradients="steps=65" --split-input-file 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: error: gradients are applied 1 to 64 steps late, not 65

// expected-error@+1 {{has no parameter with an update that coll-form-root-update finds, so that no gradient can be applied late}}
func.func @step() { return }

// -----

// The second parameter's update is not an operation of its own.
func.func @step(%v: tensor<4xf32> {coll.role = "state"}, %w: tensor<4xf32> {coll.role = "state"},
                %x: tensor<4xf32> {coll.role = "batch"}) -> (tensor<4xf32>, tensor<4xf32>) {
  %g = arith.mulf %v, %w : tensor<4xf32>
  %v1 = coll.root_update grad(%g : tensor<4xf32>) state(%v : tensor<4xf32>) forward 1 {
  ^bb0(%ge: f32, %ve: f32):
    %next = arith.subf %ve, %ge : f32
    coll.yield %next : f32
  }
  // expected-error@+1 {{updates state argument 1 from the batch in a way that coll-form-root-update does not find (its remark says why), so that its gradient cannot be applied late; run without staleness}}
  %w1 = arith.subf %w, %x : tensor<4xf32>
  return %v1, %w1 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A root would keep a gradient that every rank needs.
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %x: tensor<4xf32> {coll.role = "batch"})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %g = arith.mulf %w, %x : tensor<4xf32>
  %w1 = coll.root_update grad(%g : tensor<4xf32>) state(%w : tensor<4xf32>) forward 1 root hash route direct {
  ^bb0(%ge: f32, %we: f32):
    %next = arith.subf %we, %ge : f32
    coll.yield %next : f32
  }
  // expected-error@+1 {{needs a whole gradient that only its root keeps until it is applied; run without roots, or without staleness}}
  %sorted = coll.sort %g dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<4xf32>
  return %w1, %sorted : tensor<4xf32>, tensor<4xf32>
}

// -----

// The update's state is not marked as one.
func.func @step(%w: tensor<8xf32>, %g: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{state 0 is not a state argument of @step that result 0 updates; give the argument coll.role = "state", and return the result in its place}}
  %0 = coll.root_update grad(%g : tensor<8xf32>) state(%w : tensor<8xf32>) forward 1 {
  ^bb0(%ge: f32, %we: f32):
    %next = arith.subf %we, %ge : f32
    coll.yield %next : f32
  }
  return %0 : tensor<8xf32>
}

// -----

// The update comes back in another place than its state.
func.func @step(%w: tensor<8xf32> {coll.role = "state"}, %g: tensor<8xf32> {coll.role = "batch"})
    -> (tensor<8xf32>, tensor<8xf32>) {
  // expected-error@+1 {{state 0 is not a state argument of @step that result 0 updates}}
  %0 = coll.root_update grad(%g : tensor<8xf32>) state(%w : tensor<8xf32>) forward 1 {
  ^bb0(%ge: f32, %we: f32):
    %next = arith.subf %we, %ge : f32
    coll.yield %next : f32
  }
  return %w, %0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// The update is not returned at all.
// expected-error@+1 {{takes 1 states, but returns 0 values; return the new value of each state first, in order}}
func.func @step(%w: tensor<8xf32> {coll.role = "state"}, %g: tensor<8xf32> {coll.role = "batch"}) {
  %0 = coll.root_update grad(%g : tensor<8xf32>) state(%w : tensor<8xf32>) forward 1 {
  ^bb0(%ge: f32, %we: f32):
    %next = arith.subf %we, %ge : f32
    coll.yield %next : f32
  }
  return
}
