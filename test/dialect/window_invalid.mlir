// RUN: coll-opt %s --split-input-file --verify-diagnostics

// window_c1
func.func @window_c1(%x: tensor<8xf32>) {
  // expected-error @+1 {{region must take the inputs, ('tensor<8xf32>'), but takes ('tensor<4xf32>')}}
  %r = coll.window %x {
  ^bb0(%input: tensor<4xf32>):
    %n = arith.negf %input : tensor<4xf32>
    coll.yield %n : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

// window_c2
func.func @window_c2(%x: tensor<8xf32>) {
  // expected-error @+1 {{region must yield the results of its last operation, of types ('tensor<8xf32>')}}
  %r = coll.window %x {
  ^bb0(%input: tensor<8xf32>):
    %n = arith.negf %input : tensor<8xf32>
    %m = arith.negf %n : tensor<8xf32>
    coll.yield %n : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

// window_c3
func.func @window_c3(%x: tensor<8xf32>) {
  // expected-error @+1 {{region must be free of side effects}}
  %r = coll.window %x {
  ^bb0(%input: tensor<8xf32>):
    // expected-note @+1 {{'coll.all_reduce' is here}}
    %s = coll.all_reduce sum %input over [[0, 1]] : tensor<8xf32>
    %n = arith.negf %s : tensor<8xf32>
    coll.yield %n : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return
}
