// RUN: coll-opt %s --coll-form-root-update="root=hash" --verify-diagnostics --split-input-file

// A parameter without state of its own, whose gradient another operation needs whole.
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %g: tensor<4xf32> {coll.role = "batch"})
    -> (tensor<4xf32>, tensor<4xf32>) {
  %w1 = arith.subf %w, %g : tensor<4xf32>
  // expected-remark@+1 {{needs the whole gradient of state argument 0 on every rank, so that this parameter is updated there and not at a root}}
  %sorted = coll.sort %g dim 0 {
  ^bb0(%a: f32, %b: f32):
    %less = arith.cmpf olt, %a, %b : f32
    coll.yield %less : i1
  } : tensor<4xf32>
  %n = arith.addf %sorted, %w : tensor<4xf32>
  return %w1, %n : tensor<4xf32>, tensor<4xf32>
}

// -----

// An update in a branch.
func.func @step(%w: tensor<4xf32> {coll.role = "state"}, %g: tensor<4xf32> {coll.role = "batch"},
                %c: i1 {coll.role = "batch"}) -> tensor<4xf32> {
  // expected-remark@+1 {{updates state argument 0 not element by element from itself and a gradient, so that it is updated on every rank}}
  %w1 = scf.if %c -> tensor<4xf32> {
    %0 = arith.subf %w, %g : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } else {
    scf.yield %w : tensor<4xf32>
  }
  return %w1 : tensor<4xf32>
}
