// RUN: coll-opt %s --verify-diagnostics --split-input-file

// scatter_c1
func.func @scatter_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 1 is not a dimension of 'tensor<4xf32>'}}
  %r = coll.scatter %x dim 1 from 0 over [[0, 1]] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

// scatter_c2
func.func @scatter_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{a group of 3 does not divide dimension 0 of length 4}}
  %r = coll.scatter %x dim 0 from 0 over [[0, 1, 2]] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @scatter_c2_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{result must be 'tensor<2xf32>', but is 'tensor<3xf32>'}}
  %r = coll.scatter %x dim 0 from 0 over [[0, 1]] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

// scatter_c3
func.func @scatter_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{root 2 is not within a group of 2}}
  %r = coll.scatter %x dim 0 from 2 over [[0, 1]] : tensor<4xf32> -> tensor<2xf32>
  return
}
