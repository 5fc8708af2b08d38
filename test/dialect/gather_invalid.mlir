// RUN: coll-opt %s --verify-diagnostics --split-input-file

// gather_c1
func.func @gather_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim -1 is not a dimension of 'tensor<4xf32>'}}
  %r = coll.gather %x dim -1 to 0 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
  return
}

// -----

// gather_c2
func.func @gather_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{result must be 'tensor<8xf32>', but is 'tensor<4xf32>'}}
  %r = coll.gather %x dim 0 to 0 over [[0, 1]] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// gather_c3
func.func @gather_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{root 2 is not within a group of 2}}
  %r = coll.gather %x dim 0 to 2 over [[0, 1]] : tensor<4xf32> -> tensor<8xf32>
  return
}
