// RUN: coll-opt %s --verify-diagnostics --split-input-file

// reduce_scatter_c1
func.func @reduce_scatter_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{reduction xor needs integer elements, but has 'f32'}}
  %r = coll.reduce_scatter xor %x dim 0 over [[0, 1]] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

// reduce_scatter_c2
func.func @reduce_scatter_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim 3 is not a dimension of 'tensor<4xf32>'}}
  %r = coll.reduce_scatter sum %x dim 3 over [[0, 1]] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

// reduce_scatter_c3
coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @reduce_scatter_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{a group of 8 does not divide dimension 0 of length 4}}
  %r = coll.reduce_scatter sum %x dim 0 over @m["dp", "tp"] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

coll.mesh @m ["dp" = 4, "tp" = 2]
func.func @reduce_scatter_c3_result(%x: tensor<4xf32>) {
  // expected-error@+1 {{result must be 'tensor<1xf32>', but is 'tensor<4xf32>'}}
  %r = coll.reduce_scatter sum %x dim 0 over @m["dp"] : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// reduce_scatter_c4
func.func @reduce_scatter_c4(%x: tensor<4xi32>) {
  // expected-error@+1 {{combines 'i32' elements in 'f32'}}
  %r = coll.reduce_scatter sum in f32 %x dim 0 over [[0, 1]] : tensor<4xi32> -> tensor<2xi32>
  return
}
