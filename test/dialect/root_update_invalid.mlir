// RUN: coll-opt %s --verify-diagnostics --split-input-file

// root_update_c1
func.func @root_update_c1(%m: tensor<4xf32>) {
  // expected-error@+1 {{needs a gradient and a state}}
  %0 = coll.root_update state(%m : tensor<4xf32>) forward 0 {
  ^bb0(%me: f32):
    coll.yield %me : f32
  }
  return
}

// -----

// root_update_c2
func.func @root_update_c2(%g: tensor<4xf32>, %m: tensor<5xf32>) {
  // expected-error@+1 {{gradients and states must have one shape, but are 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = coll.root_update grad(%g : tensor<4xf32>) state(%m : tensor<5xf32>) forward 0 {
  ^bb0(%ge: f32, %me: f32):
    coll.yield %me : f32
  }
  return
}

// -----

// root_update_c3
func.func @root_update_c3(%g: tensor<4x2xf32>, %m: tensor<4x2xf32>, %f: tensor<2xf32>) {
  // expected-error@+1 {{a factor's shape must be the beginning of the gradient's, but is 'tensor<2xf32>' beside 'tensor<4x2xf32>'}}
  %0 = coll.root_update grad(%g : tensor<4x2xf32>) state(%m : tensor<4x2xf32>) factor(%f : tensor<2xf32>) forward 0 {
  ^bb0(%ge: f32, %me: f32, %fe: f32):
    coll.yield %me : f32
  }
  return
}

// -----

// root_update_c4
func.func @root_update_c4(%g: tensor<4xf32>, %m: tensor<4xf32>) {
  // expected-error@+1 {{forwards 2 states, but has 1}}
  %0 = coll.root_update grad(%g : tensor<4xf32>) state(%m : tensor<4xf32>) forward 2 {
  ^bb0(%ge: f32, %me: f32):
    coll.yield %me : f32
  }
  return
}

// -----

// root_update_c5
func.func @root_update_c5(%g: tensor<4xbf16>, %m: tensor<4xf32>) {
  // expected-error@+1 {{region must take one scalar for each operand, ('bf16', 'f32'), but takes ('f32', 'f32')}}
  %0 = coll.root_update grad(%g : tensor<4xbf16>) state(%m : tensor<4xf32>) forward 0 {
  ^bb0(%ge: f32, %me: f32):
    coll.yield %me : f32
  }
  return
}

// -----

func.func @root_update_c5_yield(%g: tensor<4xbf16>, %m: tensor<4xf32>) {
  // expected-error@+1 {{region must yield one scalar for each state, ('f32')}}
  %0 = coll.root_update grad(%g : tensor<4xbf16>) state(%m : tensor<4xf32>) forward 0 {
  ^bb0(%ge: bf16, %me: f32):
    coll.yield %ge : bf16
  }
  return
}

// -----

func.func private @effect() -> f32

func.func @root_update_c5_effects(%g: tensor<4xf32>, %m: tensor<4xf32>) {
  // expected-error@+1 {{region must be free of side effects}}
  %0 = coll.root_update grad(%g : tensor<4xf32>) state(%m : tensor<4xf32>) forward 0 {
  ^bb0(%ge: f32, %me: f32):
    // expected-note@+1 {{'func.call' is here}}
    %e = func.call @effect() : () -> f32
    coll.yield %e : f32
  }
  return
}
