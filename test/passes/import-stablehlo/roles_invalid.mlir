// RUN: coll-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics --coll-import-stablehlo='state-args=2'

// expected-error @below {{has 1 results, too few to update 2 state arguments: nothing updates 's[1]'}}
func.func @main(%w: tensor<3xf32> loc("s[0]"), %m: tensor<3xf32> loc("s[1]")) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}

// -----

// expected-error @below {{result 1 of type 'tensor<3xf32>' cannot update state argument 's[1]' of type 'tensor<4xf32>'}}
func.func @main(%w: tensor<3xf32> loc("s[0]"), %m: tensor<4xf32> loc("s[1]")) -> (tensor<3xf32>, tensor<3xf32>) {
  return %w, %w : tensor<3xf32>, tensor<3xf32>
}

// -----

// expected-error @below {{has 1 arguments, fewer than the 2 that are to be state}}
func.func @main(%w: tensor<3xf32>) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}

// -----

// expected-error @below {{state argument 'x' comes after batch argument 'y'}}
func.func @main(%y: tensor<3xf32> {coll.role = "batch"} loc("y"), %x: tensor<3xf32> {coll.role = "state"} loc("x")) -> tensor<3xf32> {
  return %y : tensor<3xf32>
}

// -----

// expected-error @below {{needs a public function @main, or exactly one public function, but has 2 without that name}}
module {
  func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
  func.func @g(%x: tensor<3xf32>) -> tensor<3xf32> {
    return %x : tensor<3xf32>
  }
}
